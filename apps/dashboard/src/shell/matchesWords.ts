/** Shortest word that may have a mistyped letter. */
const MIN_MISTYPED_CHARS = 4

/** Whether the words of a query are in a name, the longer ones with up to one edited letter: "webhok" finds "Webhooks". */
export const matchesWords = (name: string, query: string): boolean => {
  const words = wordsOf(name)
  return wordsOf(query).every(
    (part) => name.toLowerCase().includes(part) || words.some((word) => resembles(word, part)),
  )
}

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "")

/** Whether a word begins as the part does, but for one letter. */
const resembles = (word: string, part: string): boolean =>
  part.length >= MIN_MISTYPED_CHARS && [-1, 0, 1].some((more) => isNear(part, word.slice(0, part.length + more)))

/** Whether one edited letter, or two that are swapped, make one word of the other. */
const isNear = (one: string, other: string): boolean => {
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  const most = Math.min(one.length, other.length) - start
  let end = 0
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end++
  const [ours, theirs] = [one.slice(start, one.length - end), other.slice(start, other.length - end)]
  return (ours.length <= 1 && theirs.length <= 1) || (ours.length === 2 && theirs === `${ours[1]}${ours[0]}`)
}
