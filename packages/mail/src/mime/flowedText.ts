/**
 * Joins the lines of a text in `format=flowed` (RFC 3676) that end in a space with those behind them, except the line
 * that separates a signature. With `delsp`, that space goes.
 */
export const flowedText = (text: string, hasDelSp: boolean): string => {
  const pieces: Array<string> = []
  /** Where the unfinished line begins among the pieces, and its length. */
  let start = 0
  let length = 0
  /** Quote marks before the unfinished line. */
  let depth = 0
  for (const [nth, raw] of text.split(/\r?\n/u).entries()) {
    let line = raw.startsWith(" ") ? raw.slice(1) : raw
    const marks = marksOf(line)
    if (nth > 0) {
      const last = pieces.at(-1) ?? ""
      const isSignature = length === SIGNATURE.length && pieces.slice(start).join("") === SIGNATURE
      if (!last.endsWith(" ") || isSignature || marks !== depth) {
        pieces.push("\n")
        start = pieces.length
        length = 0
      } else {
        if (hasDelSp) {
          pieces.pop()
          if (last.length > 1) pieces.push(last.slice(0, -1))
          length--
        }
        // The marks of a quote stand before the whole of a joined line.
        if (marks > 0) line = line.slice(marks).replace(/^ /u, "")
      }
    }
    depth = marks
    if (line === "") continue
    pieces.push(line)
    length += line.length
  }
  return pieces.join("")
}

const SIGNATURE = "-- "

const marksOf = (line: string): number => {
  let marks = 0
  while (line[marks] === ">") marks++
  return marks
}
