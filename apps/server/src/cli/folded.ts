import { widthOf } from "./TerminalTable.ts"

// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/gu
/** Columns that a text beside a name has at least; with fewer it begins below the name. */
const MIN_TEXT = 30
const BELOW = 6

const shownWidth = (text: string): number => widthOf(text.replaceAll(COLOURS, ""))

/** Folds lines that are wider than a terminal between words, with what follows below the begin of their last column. */
export const folded = (text: string, columns: number): string =>
  text
    .split("\n")
    .map((line) => (shownWidth(line) <= columns ? line : foldedLine(line, columns)))
    .join("\n")

const foldedLine = (line: string, columns: number): string => {
  const plain = line.replaceAll(COLOURS, "")
  const column = widthOf(/^(?:.*\S)? {2,}(?=\S)/u.exec(plain)?.[0] ?? "")
  const isBelow = columns - column < MIN_TEXT
  const margin = " ".repeat(isBelow ? BELOW : column)
  const lines: Array<string> = []
  let current = ""
  for (const part of line.split(/(?<=\S)( +)(?=\S)/u)) {
    const startsText = isBelow && part.length > 1 && part.trim() === ""
    if (startsText || shownWidth(current + part) > columns) {
      lines.push(current.trimEnd())
      current = margin + part.trimStart()
    } else current += part
  }
  return [...lines, current].join("\n")
}
