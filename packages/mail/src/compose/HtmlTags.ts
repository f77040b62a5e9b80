export interface Attribute {
  /** In lower case. */
  readonly name: string
  /** Offset at which the text before the tag ends. */
  readonly after: number
  readonly end: number
  readonly value: { readonly start: number; readonly end: number; readonly isQuoted: boolean } | undefined
}

export interface Tag {
  /** In lower case. */
  readonly name: string
  readonly isClosing: boolean
  readonly start: number
  readonly end: number
  /** Requested attributes, the first of each name: of two, browsers take the first. */
  readonly attributes: ReadonlyArray<Attribute>
}

/**
 * Yields the tags of a document with their offsets, as a browser's tokenizer sees them (HTML §13.2.5); comments,
 * scripts and styles hold none. Linear: anything left open extends to the end of the document, and only the requested
 * attributes of a tag are kept. Returns whether the document ends outside any open construct, where markup could be
 * appended.
 */
export function* tags(html: string, requested: ReadonlySet<string>): Generator<Tag, boolean, void> {
  let at = 0
  let foreignDepth = 0
  while (true) {
    const open = html.indexOf("<", at)
    if (open === -1) return true
    const isClosing = html[open + 1] === "/"
    if (isLetter(html.charCodeAt(open + (isClosing ? 2 : 1)))) {
      const tag = tagAt(html, open, isClosing, requested)
      if (tag === undefined) return false
      yield tag
      if (FOREIGN.has(tag.name)) foreignDepth = Math.max(0, foreignDepth + depth(html, tag))
      at = isClosing || !RAW.has(tag.name) ? tag.end : endOfRaw(html, tag)
    } else if (foreignDepth > 0 && html.startsWith(CDATA, open)) at = after(html, "]]>", open + CDATA.length)
    else if (html.startsWith("<!--", open)) at = endOfComment(html, open + "<!--".length)
    // Text that begins like a tag and is none is a comment up to the next bracket: doctypes, Outlook's conditional
    // comments.
    else if (/[!?/]/u.test(html[open + 1] ?? "")) at = after(html, ">", open + 2)
    else at = open + 1
    if (at === NOT_FOUND) return false
  }
}

/** Elements in which CDATA sections are text. Staying in one too long misses links and changes nothing. */
const FOREIGN: ReadonlySet<string> = new Set(["math", "svg"])
const CDATA = "<![CDATA["

const depth = (html: string, { end, isClosing }: Tag): number => {
  if (isClosing) return -1
  return html.charCodeAt(end - 2) === SLASH ? 0 : 1
}

/** Elements whose content is text up to their own end tag. */
const RAW: ReadonlySet<string> = new Set([
  "iframe",
  "noembed",
  "noframes",
  "plaintext",
  "script",
  "style",
  "textarea",
  "title",
  "xmp",
])

const NOT_FOUND = -1

const after = (html: string, text: string, from: number): number => {
  const found = html.indexOf(text, from)
  return found === -1 ? NOT_FOUND : found + text.length
}

const endOfComment = (html: string, from: number): number => {
  if (html[from] === ">") return from + 1
  if (html.startsWith("->", from)) return from + 2
  for (let at = html.indexOf("--", from); at !== -1; at = html.indexOf("--", at + 1)) {
    if (html[at + 2] === ">") return at + 3
    if (html.startsWith("!>", at + 2)) return at + 4
  }
  return NOT_FOUND
}

const endOfRaw = (html: string, { end, name }: Tag): number => {
  if (name === "plaintext") return NOT_FOUND
  for (let at = html.indexOf("</", end); at !== -1; at = html.indexOf("</", at + 2)) {
    const nameEnd = at + 2 + name.length
    if (html.slice(at + 2, nameEnd).toLowerCase() === name && endsName(html.charCodeAt(nameEnd))) return at
  }
  return NOT_FOUND
}

const TAB = 9
const LF = 10
const FF = 12
const CR = 13
const SPACE = 32
const SLASH = 47
const EQUALS = 61
const RIGHT = 62

const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
const isSpace = (code: number): boolean => code === SPACE || code === LF || code === TAB || code === CR || code === FF
/** Characters that end a name. */
const endsName = (code: number): boolean => isSpace(code) || code === SLASH || code === RIGHT

/** Returns undefined for a tag that never ends, which browsers drop together with the rest of the document. */
const tagAt = (html: string, start: number, isClosing: boolean, requested: ReadonlySet<string>): Tag | undefined => {
  const nameStart = start + (isClosing ? 2 : 1)
  let at = nameStart
  while (at < html.length && !endsName(html.charCodeAt(at))) at++
  const name = html.slice(nameStart, at).toLowerCase()
  const attributes: Array<Attribute> = []
  let after = at
  while (true) {
    while (isSpace(html.charCodeAt(at)) || html.charCodeAt(at) === SLASH) at++
    if (at >= html.length) return undefined
    if (html.charCodeAt(at) === RIGHT) return { name, isClosing, start, end: at + 1, attributes }
    const attribute = attributeAt(html, at, after)
    if (attribute === undefined) return undefined
    const isNew = requested.has(attribute.name) && attributes.every((each) => each.name !== attribute.name)
    if (isNew) attributes.push(attribute)
    at = attribute.end
    after = at
  }
}

const attributeAt = (html: string, start: number, after: number): Attribute | undefined => {
  let at = start + 1
  while (at < html.length && !endsName(html.charCodeAt(at)) && html.charCodeAt(at) !== EQUALS) at++
  const name = html.slice(start, at).toLowerCase()
  const equals = skipSpace(html, at)
  if (html.charCodeAt(equals) !== EQUALS) return { name, after, end: at, value: undefined }
  const valueStart = skipSpace(html, equals + 1)
  const quote = html[valueStart]
  if (quote === `"` || quote === "'") {
    const end = html.indexOf(quote, valueStart + 1)
    return end === -1 ? undefined : { name, after, end: end + 1, value: { start: valueStart + 1, end, isQuoted: true } }
  }
  let end = valueStart
  while (end < html.length && !isSpace(html.charCodeAt(end)) && html.charCodeAt(end) !== RIGHT) end++
  return { name, after, end, value: { start: valueStart, end, isQuoted: false } }
}

const skipSpace = (html: string, from: number): number => {
  let at = from
  while (isSpace(html.charCodeAt(at))) at++
  return at
}
