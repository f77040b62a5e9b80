import { Chunk } from "@codemirror/merge"
import { Text } from "@codemirror/state"

/** A line that is in both texts, or in one of them. */
export interface DifferentLine {
  readonly sign: " " | "-" | "+"
  readonly text: string
}

/** Lines that are shown around a change. */
const CONTEXT = 3
/** Steps after which a comparison is coarse, so that it takes some milliseconds. */
const SCAN_LIMIT = 2_000

const linesOf = (text: Text, from: number, to: number): ReadonlyArray<string> =>
  from >= to ? [] : text.sliceString(from, Math.min(to, text.length)).replace(/\n$/u, "").split("\n")

/** Returns the lines of two texts in order; `null` stands for equal lines that are left out. */
export const lineDifference = (before: string, after: string): ReadonlyArray<DifferentLine | null> => {
  // A text that is not there has no line, not an empty one.
  if (before === "" || after === "") {
    const sign = before === "" ? "+" : "-"
    return (before + after).split(/\r?\n/u).map((text) => ({ sign, text }))
  }
  const [a, b] = [Text.of(before.split(/\r?\n/u)), Text.of(after.split(/\r?\n/u))]
  const all: Array<DifferentLine> = []
  const add = (sign: DifferentLine["sign"], lines: ReadonlyArray<string>) => {
    for (const text of lines) all.push({ sign, text })
  }
  let end = 0
  for (const chunk of Chunk.build(a, b, { scanLimit: SCAN_LIMIT })) {
    add(" ", linesOf(a, end, chunk.fromA))
    add("-", linesOf(a, chunk.fromA, chunk.toA))
    add("+", linesOf(b, chunk.fromB, chunk.toB))
    end = chunk.toA
  }
  add(" ", linesOf(a, end, a.length + 1))
  return shortened(all)
}

const shortened = (lines: ReadonlyArray<DifferentLine>): ReadonlyArray<DifferentLine | null> => {
  const near = new Set<number>()
  for (const [at, { sign }] of lines.entries())
    if (sign !== " ") for (let each = at - CONTEXT; each <= at + CONTEXT; each++) near.add(each)
  return lines.flatMap((line, at) => (near.has(at) ? [line] : near.has(at - 1) || at === 0 ? [null] : []))
}
