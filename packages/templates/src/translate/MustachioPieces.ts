/** A text, or a tag of a template of Mustachio: `{{`, its words and `}}`. */
export interface MustachioPiece {
  readonly text: string
  readonly isTag: boolean
  readonly offset: number
}

/** Tags of Mustachio hold no braces. */
const TAG = /\{\{\{[^{}]+\}\}\}|\{\{[^{}]+\}\}/gu
/** Sections, their ends and comments write nothing themselves. */
const SILENT = /^\{\{\s*[#^/!]/u

/** Reads a template of Mustachio, without the lines on which nothing but sections, their ends and comments stand. */
export const read = (source: string): ReadonlyArray<MustachioPiece> => {
  const pieces: Array<MustachioPiece> = []
  let line: Array<MustachioPiece> = []
  const endLine = () => {
    const isLeftOut =
      line.some(({ isTag }) => isTag) &&
      line.every(({ isTag, text }) => (isTag ? SILENT.test(text) : text.trim() === ""))
    for (const piece of line) if (piece.isTag || !isLeftOut) pieces.push(piece)
    line = []
  }
  const add = (text: string, offset: number) => {
    const first = text.indexOf("\n") + 1
    const last = text.lastIndexOf("\n") + 1
    if (first > 0) {
      line.push({ text: text.slice(0, first), isTag: false, offset })
      endLine()
      // Lines without a tag stay as they are.
      pieces.push({ text: text.slice(first, last), isTag: false, offset: offset + first })
    }
    line.push({ text: text.slice(last), isTag: false, offset: offset + last })
  }
  let from = 0
  for (const { 0: tag, index } of source.matchAll(TAG)) {
    add(source.slice(from, index), from)
    line.push({ text: tag, isTag: true, offset: index })
    from = index + tag.length
  }
  add(source.slice(from), from)
  endLine()
  return pieces
}
