export interface Field {
  /** Name in lower case. */
  readonly key: string
  readonly originalKey: string
  /** Unfolded, not decoded. */
  readonly value: string
  /** Whether the line has a colon. One without is text to some readers. */
  readonly hasColon: boolean
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** Removes spaces and tabs at both ends. Any other space is part of a name, or it would become another one. */
const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** Reads the lines of a header without their line ends. Those that begin with a space or a tab continue the one before. */
export const read = (lines: ReadonlyArray<string>): ReadonlyArray<Field> => {
  const folded: Array<Array<string>> = []
  for (const line of lines) {
    const last = folded.at(-1)
    if (last !== undefined && isSpace(line.charCodeAt(0))) last.push(line)
    else folded.push([line])
  }
  return folded.map((parts) => {
    const line = parts.join("")
    const colon = line.indexOf(":")
    const originalKey = trimmed(colon === -1 ? line : line.slice(0, colon))
    // A CR alone is no line end, and would be one for whoever writes the value.
    const value = colon === -1 ? "" : trimmed(line.slice(colon + 1).replaceAll(/[\r\n]+/gu, " "))
    return { key: originalKey.toLowerCase(), originalKey, value, hasColon: colon !== -1 }
  })
}

/** Returns the value of the first field of a name. */
export const valueOf = (fields: ReadonlyArray<Field>, name: string): string | undefined =>
  fields.find(({ key }) => key === name)?.value
