/** Lines around a change that are shown. */
const CONTEXT = 2
/** Steps of the comparison; texts that differ in more are shown as replaced. */
const MAX_CELLS = 4_000_000

type Edit = readonly [sign: " " | "-" | "+", line: string]

/** Returns the lines that differ, with some around them. Nothing for equal texts. */
export const lineDiff = (before: string, after: string): ReadonlyArray<string> => {
  const edits = editsOf(before === "" ? [] : before.split("\n"), after === "" ? [] : after.split("\n"))
  const isNear = edits.map((_, nth) =>
    edits.slice(Math.max(0, nth - CONTEXT), nth + CONTEXT + 1).some(([sign]) => sign !== " "),
  )
  const lines: Array<string> = []
  for (const [nth, [sign, line]] of edits.entries()) {
    if (isNear[nth] !== true) continue
    if (nth > 0 && isNear[nth - 1] !== true && lines.length > 0) lines.push("  …")
    lines.push(`${sign} ${line}`)
  }
  return lines
}

const editsOf = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Edit> => {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const same = (line: string): Edit => [" ", line]
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** Compares by the longest common subsequence. */
const middle = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Edit> => {
  const removed = (line: string): Edit => ["-", line]
  const added = (line: string): Edit => ["+", line]
  const width = after.length + 1
  if (before.length === 0 || after.length === 0 || before.length * after.length > MAX_CELLS)
    return [...before.map(removed), ...after.map(added)]
  const lengths = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const edits: Array<Edit> = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old = "", next = ""] = [before[i], after[j]]
    if (i < before.length && j < after.length && old === next) {
      edits.push([" ", old])
      i++
      j++
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      edits.push(removed(old))
      i++
    } else {
      edits.push(added(next))
      j++
    }
  }
  return edits
}
