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

/** Translates a format such as `MMMM DD, YYYY`; undefined if a letter of it has no meaning here. */
export const format = (text: string): string | undefined => {
  let made = ""
  // Behind the last `]` no `[` has an end, and none is looked for.
  const lastEnd = text.lastIndexOf("]")
  for (let at = 0; at < text.length;) {
    const found = LETTERS.find(([letters]) => text.startsWith(letters, at))
    const end = found === undefined && text[at] === "[" && at < lastEnd ? text.indexOf("]", at) + 1 : at + 1
    const literal = found === undefined ? text.slice(at, end) : ""
    if (/^[A-Za-z]/u.test(literal)) return undefined
    made += found?.[1] ?? literal.replaceAll(/^\[|\]$/gu, "").replaceAll("%", "%%")
    at += found?.[0].length ?? literal.length
  }
  return made
}

/** Translates an offset such as `-0800` to minutes, counted as the filter `date` does. */
export const offset = (text: string): number | undefined => {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/u.exec(text) ?? []
  if (sign === undefined) return undefined
  return (sign === "-" ? 1 : -1) * (Number(hours) * 60 + Number(minutes))
}
