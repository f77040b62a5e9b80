/** A tag or an output of Liquid in a text, as its library finds them. */
export interface Piece {
  /** Name of a tag; `undefined` for an output. */
  readonly tag: string | undefined
  readonly begin: number
  /** Offset after the piece; that of the end of the text for one that does not end. */
  readonly end: number
  /** Whether it stands in a comment, where it does nothing. */
  readonly isComment: boolean
}

const BEGIN = /\{\{|\{%/gu
const TAG_NAME = /\{%-?[\s\u180e]*(#|[\w?-]*?)(?=-?%\}|[^\w?-])/uy
/** The library knows no `{%-` here. */
const RAW_END = /\{%\s*endraw(?![\w?-])(?:(?!\{%)[^])*?%\}/gu

/** Returns the pieces of a text in order. Nothing in `{% raw %}` is one; what ends it is. */
export const read = (text: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let isComment = false
  for (let begin = next(BEGIN, text, 0); begin !== undefined;) {
    const isTag = text[begin + 1] === "%"
    const tag = isTag ? nameAt(text, begin) : undefined
    if (tag === "endcomment") isComment = false
    const end = isTag ? endOf(text, begin) : outputEnd(text, begin)
    pieces.push({ tag, begin, end, isComment })
    if (tag === "comment") isComment = true
    begin = tag === "raw" ? next(RAW_END, text, end) : next(BEGIN, text, end)
  }
  return pieces
}

const LOOP = /\{%-?\s*for\s+(\w+)\s+in\s+([\w.]+)/gu

/** Returns the path of the list that each loop goes through, by the variable of the loop. */
export const loopsIn = (text: string): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(Array.from(text.matchAll(LOOP), ([, name = "", list = ""]) => [name, list.split(".")]))

const next = (pattern: RegExp, text: string, from: number): number | undefined => {
  pattern.lastIndex = from
  return pattern.exec(text)?.index
}

const nameAt = (text: string, offset: number): string => {
  TAG_NAME.lastIndex = offset
  return TAG_NAME.exec(text)?.[1] ?? ""
}

const endOf = (text: string, offset: number): number => {
  const end = text.indexOf("%}", offset)
  return end === -1 ? text.length : end + 2
}

/** A text in quotes may hold the braces that end an output. */
const outputEnd = (text: string, offset: number): number => {
  let at = offset + 2
  while (at < text.length && !text.startsWith("}}", at)) {
    const character = text[at]
    at = character === '"' || character === "'" ? quoteEnd(text, at, character) : at + 1
  }
  return Math.min(text.length, at + 2)
}

const quoteEnd = (text: string, offset: number, quote: string): number => {
  let at = offset + 1
  while (at < text.length && text[at] !== quote) at += text[at] === "\\" ? 2 : 1
  return at + 1
}
