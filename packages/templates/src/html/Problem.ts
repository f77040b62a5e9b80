/** An error in a source, and its place: line and column count from 1. */
export interface Problem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Returns the place of a character of a source. */
export const at = (source: string, offset: number, message: string): Problem => {
  const before = source.slice(0, offset)
  const start = before.lastIndexOf("\n") + 1
  let line = 1
  for (let from = before.indexOf("\n"); from !== -1; from = before.indexOf("\n", from + 1)) line++
  return { line, column: offset - start + 1, message }
}

/** Returns the character at a line and a column. */
export const offsetOf = (source: string, line: number, column: number): number => {
  let start = 0
  for (let nth = 1; nth < line; nth++) {
    const end = source.indexOf("\n", start)
    if (end === -1) break
    start = end + 1
  }
  return start + column - 1
}
