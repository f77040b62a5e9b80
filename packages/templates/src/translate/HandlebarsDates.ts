import * as Limits from "../language/Limits.ts"

/** Letters of a date's format there, and here. The longest are first. */
const LETTERS: ReadonlyArray<readonly [string, string]> = [
  ["YYYY", "%Y"],
  ["MMMM", "%B"],
  ["dddd", "%A"],
  ["MMM", "%b"],
  ["ddd", "%a"],
  ["YY", "%y"],
  ["MM", "%m"],
  ["DD", "%d"],
  ["HH", "%H"],
  ["hh", "%I"],
  ["mm", "%M"],
  ["ss", "%S"],
  ["ZZ", "%z"],
  ["M", "%-m"],
  ["D", "%-d"],
  ["H", "%-H"],
  ["h", "%-I"],
  ["m", "%-M"],
  ["s", "%-S"],
  ["A", "%p"],
  ["a", "%P"],
]

const MEANINGS: ReadonlyMap<string, string> = new Map(LETTERS)
const KNOWN = LETTERS.map(([letters]) => letters).join("|")
const PIECE = new RegExp(`${KNOWN}|[^]`, "gu")
const PIECE_OR_QUOTED = new RegExp(`${KNOWN}|\\[[^\\]]*\\]|[^]`, "gu")

/** Translates a format such as `MMMM DD, YYYY`; undefined if a letter of it has no meaning here, or it is too long. */
export const format = (text: string): string | undefined => {
  let isKnown = text.length <= Limits.MAX_DATE_FORMAT_CHARS
  const translated = (piece: string): string => {
    isKnown &&= MEANINGS.has(piece) || !/^[A-Za-z]/u.test(piece)
    return MEANINGS.get(piece) ?? piece.replaceAll(/^\[|\]$/gu, "").replaceAll("%", "%%")
  }
  // Behind the last `]` no `[` has an end, and none is looked for.
  const end = text.lastIndexOf("]") + 1
  const made = isKnown
    ? text.slice(0, end).replaceAll(PIECE_OR_QUOTED, translated) + text.slice(end).replaceAll(PIECE, translated)
    : ""
  return isKnown && made.length <= Limits.MAX_DATE_FORMAT_CHARS ? made : undefined
}

/** Translates an offset such as `-0800` to minutes, counted as the filter `date` does. */
export const offset = (text: string): number | undefined => {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/u.exec(text) ?? []
  if (sign === undefined) return undefined
  return (sign === "-" ? 1 : -1) * (Number(hours) * 60 + Number(minutes))
}
