/** Longest name that is compared. Longer ones resemble no name of the API, and comparing takes quadratic time. */
export const MAX_COMPARED_CHARS = 64
/** Most characters in which a misspelled name may differ from the one it resembles. */
const MAX_EDITS = 3
/** Shortest name that counts as the beginning of a longer one, such as `html` of `html_body`. */
const MIN_PREFIX_CHARS = 4

/**
 * Returns the known name that a mistyped or foreign one probably means; `undefined` if none is near. Names in another case
 * or with other separators come first (`replyTo`, `Bcc`), then those with at most a third of the characters edited
 * (`subjcet`), then those of which one begins with the other (`html_body`), then those that end with it (`bounced`).
 */
export const nearestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  if (name.length > MAX_COMPARED_CHARS) return undefined
  const letters = lettersOf(name)
  let nearest: string | undefined
  let fewest = MAX_EDITS + 1
  for (const candidate of known) {
    const other = lettersOf(candidate)
    const allowed = Math.min(MAX_EDITS, Math.floor(Math.max(letters.length, other.length) / 3))
    if (Math.abs(letters.length - other.length) > allowed) continue
    const edits = distance(letters, other)
    if (edits > allowed || edits >= fewest) continue
    nearest = candidate
    fewest = edits
  }
  return (
    nearest ??
    known.find((candidate) => isPrefix(letters, lettersOf(candidate))) ??
    known.find((candidate) => letters.length >= MIN_PREFIX_CHARS && lettersOf(candidate).endsWith(letters))
  )
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

const isPrefix = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= MIN_PREFIX_CHARS && (one.startsWith(other) || other.startsWith(one))

/** Number of characters to insert, remove, replace or swap with their neighbor (optimal string alignment). */
const distance = (one: string, other: string): number => {
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1])
        edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1)
      current.push(edits)
    }
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}
