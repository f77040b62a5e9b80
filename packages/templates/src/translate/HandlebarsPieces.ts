export interface TextPiece {
  readonly kind: "text"
  readonly text: string
  readonly offset: number
}

/** A tag: `sigil` is what stands before its words. */
export interface TagPiece {
  readonly kind: "tag"
  readonly sigil: "" | "#" | "^" | "/" | ">" | "!" | "wrong"
  readonly body: string
  /** Whether its value is written without escaping. */
  readonly isRaw: boolean
  readonly offset: number
  /** Whether white space before or after it is left out. */
  readonly trimsBefore: boolean
  readonly trimsAfter: boolean
}

export type Piece = TextPiece | TagPiece

/** Characters of one tag. */
const MAX_TAG_CHARS = 4_096
const MAX_COMMENT_CHARS = 64 * 1024
const OPEN = /\\?\{\{/gu
const LONG_COMMENT = /^\{\{~?!--/u

/** Reads a template of Handlebars into texts and tags. */
export const read = (source: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let text = ""
  let textOffset = 0
  const add = (more: string, offset: number) => {
    if (text === "") textOffset = offset
    text += more
  }
  let from = 0
  for (let next = open(source, from); next !== null; next = open(source, from)) {
    const { index } = next
    if (next[0].startsWith("\\") && source[index - 1] !== "\\") {
      add(`${source.slice(from, index)}{{`, from)
      from = index + 3
      continue
    }
    // Two backslashes are one, before a tag.
    const start = next[0].startsWith("\\") ? index + 1 : index
    add(source.slice(from, index), from)
    const { end, tag } = tagAt(source, start)
    if (text !== "") pieces.push({ kind: "text", text, offset: textOffset })
    text = ""
    pieces.push(tag)
    from = end
  }
  add(source.slice(from), from)
  if (text !== "") pieces.push({ kind: "text", text, offset: textOffset })
  return pieces
}

const open = (source: string, from: number): RegExpExecArray | null => {
  OPEN.lastIndex = from
  return OPEN.exec(source)
}

const tagAt = (source: string, offset: number): { readonly tag: TagPiece; readonly end: number } => {
  const start = source.slice(offset, offset + 8)
  if (start.startsWith("{{{{")) return unclosed(source, offset, "{{{{ opens a raw block, which Liquid has as {% raw %}")
  if (LONG_COMMENT.test(start)) return comment(source, offset)
  const isTriple = /^\{\{~?\{/u.test(start)
  const end = endOf(source, offset + 2, isTriple)
  if (end === undefined) return unclosed(source, offset, `{{ is not closed within ${MAX_TAG_CHARS} characters`)
  let inner = source.slice(offset + 2, end - 2)
  const trimsBefore = inner.startsWith("~")
  const trimsAfter = inner.endsWith("~")
  inner = inner.slice(trimsBefore ? 1 : 0, trimsAfter ? -1 : undefined)
  if (isTriple) inner = inner.slice(1, -1)
  const sigil = isTriple ? undefined : (["#", "^", "/", ">", "!"] as const).find((each) => inner.startsWith(each))
  const isRaw = isTriple || inner.startsWith("&")
  const body = (sigil !== undefined || (isRaw && !isTriple) ? inner.slice(1) : inner).trim()
  return { tag: { kind: "tag", sigil: sigil ?? "", body, isRaw, offset, trimsBefore, trimsAfter }, end }
}

/** Returns where a tag ends; a text in quotes may hold the braces that end it. */
const endOf = (source: string, from: number, isTriple: boolean): number | undefined => {
  const close = isTriple ? /^\}~?\}\}/u : /^\}\}/u
  const limit = Math.min(source.length, from + MAX_TAG_CHARS)
  // A comment of one line may have quotes that are not closed.
  const isComment = /^~?!/u.test(source.slice(from, from + 2))
  for (let at = from; at < limit; at++) {
    const character = source[at]
    const found = character === "}" ? close.exec(source.slice(at, at + 4))?.[0] : undefined
    if (found !== undefined) return at + found.length
    if ((character === '"' || character === "'") && !isComment) {
      const length = source.slice(at + 1, limit).indexOf(character)
      if (length === -1) return undefined
      at += length + 1
    }
  }
  return undefined
}

const comment = (source: string, offset: number) => {
  const found = /--~?\}\}/u.exec(source.slice(offset, offset + MAX_COMMENT_CHARS))
  if (found === null) return unclosed(source, offset, "{{!-- is not closed")
  const end = offset + found.index + found[0].length
  const body = source.slice(offset, end).replace(/^\{\{~?!--/u, "")
  const tag: TagPiece = {
    kind: "tag",
    sigil: "!",
    body: body.slice(0, -found[0].length).trim(),
    isRaw: false,
    offset,
    trimsBefore: source[offset + 2] === "~",
    trimsAfter: found[0].includes("~"),
  }
  return { tag, end }
}

/** Leaves out the rest after a tag without an end: each end would be looked for in the whole source. */
const unclosed = (
  source: string,
  offset: number,
  problem: string,
): { readonly tag: TagPiece; readonly end: number } => ({
  tag: {
    kind: "tag",
    sigil: "wrong",
    body: problem,
    isRaw: false,
    offset,
    trimsBefore: false,
    trimsAfter: false,
  },
  end: source.length,
})
