/** Maximum nesting of elements; a report has six levels. */
export const MAX_DEPTH = 20
/** Maximum length of an element's text, behind which it is cut: no field of a report needs more. */
export const MAX_TEXT_CHARS = 2_000

export interface Handler {
  /** Called with the element's name without a namespace prefix. */
  readonly open: (name: string) => void
  /** Called with the element's own text, without white space around it. */
  readonly close: (name: string, text: string) => void
}

class Malformed extends Error {}

const fail = (): never => {
  throw new Malformed()
}

/**
 * Reads a document strictly, in time linear in its length. A document type is refused whatever it declares, and there
 * are no entities beside the five of XML, so that nothing can be expanded or fetched. Attributes are checked and
 * skipped. Returns false for a document that is not well formed.
 */
export const read = (text: string, handler: Handler): boolean => {
  try {
    readDocument(text, handler)
    return true
  } catch (error) {
    if (error instanceof Malformed) return false
    throw error
  }
}

interface Element {
  readonly name: string
  readonly qualified: string
  text: string
}

const readDocument = (text: string, handler: Handler): void => {
  const open: Array<Element> = []
  let at = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
  let hasRoot = false
  while (at < text.length) {
    const tag = text.indexOf("<", at)
    const end = tag === -1 ? text.length : tag
    addText(open.at(-1), text, at, end)
    if (tag === -1) break
    if (text.startsWith("<!--", tag)) at = after(text, "-->", tag + 4)
    else if (text.startsWith("<![CDATA[", tag)) at = addCharacterData(open.at(-1), text, tag)
    else if (text.startsWith("<?", tag)) at = after(text, "?>", tag + 2)
    else if (text.startsWith("</", tag)) at = closeTag(open, text, tag, handler)
    else {
      // Only one element may stand at the top, and `<!` begins a declaration here.
      if ((open.length === 0 && hasRoot) || open.length >= MAX_DEPTH) fail()
      hasRoot = true
      at = openTag(open, text, tag, handler)
    }
  }
  if (open.length > 0 || !hasRoot) fail()
}

const BYTE_ORDER_MARK = 0xfeff

const after = (text: string, mark: string, from: number): number => {
  const found = text.indexOf(mark, from)
  return found === -1 ? fail() : found + mark.length
}

const addText = (element: Element | undefined, text: string, from: number, to: number): void => {
  if (element === undefined) {
    for (let at = from; at < to; at++) if (!isSpace(text.charCodeAt(at))) fail()
    return
  }
  if (element.text.length > MAX_TEXT_CHARS || isBlank(text, from, to)) return
  const cut = from + MAX_TEXT_CHARS + 1
  element.text += decoded(to <= cut ? text.slice(from, to) : text.slice(from, cut).replace(HALF_REFERENCE, ""))
}

/** A reference that the cut of a long text may have halved. */
const HALF_REFERENCE = /&[^;&]{0,10}$/u

const addCharacterData = (element: Element | undefined, text: string, tag: number): number => {
  const from = tag + "<![CDATA[".length
  const end = after(text, "]]>", from)
  if (element === undefined) return fail()
  if (element.text.length <= MAX_TEXT_CHARS) element.text += text.slice(from, Math.min(end - 3, from + MAX_TEXT_CHARS))
  return end
}

/** Whether a text is white space; most of a report is. Long ones are read like any other. */
const isBlank = (text: string, from: number, to: number): boolean => {
  if (to - from > MAX_INDENT) return false
  let at = from
  while (at < to && isSpace(text.charCodeAt(at))) at++
  return at === to
}
const MAX_INDENT = 100

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const decoded = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|([a-z]{1,5}));|&/gu, (_, decimal, hexadecimal, name) => {
        if (name !== undefined) return ENTITIES[name as string] ?? fail()
        if (decimal === undefined && hexadecimal === undefined) return fail()
        const point = decimal === undefined ? Number.parseInt(hexadecimal as string, 16) : Number(decimal)
        const isCharacter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
        return isCharacter ? String.fromCodePoint(point) : fail()
      })
    : text

const NAME = /[A-Za-z_][\w.-]{0,99}(?::[A-Za-z_][\w.-]{0,99})?/uy
const ATTRIBUTES = /(?:\s+[A-Za-z_][\w.:-]{0,99}\s*=\s*(?:"[^"<]*"|'[^'<]*')){0,50}\s*(\/?)>/uy

const nameAt = (text: string, at: number): string => {
  NAME.lastIndex = at
  return NAME.exec(text)?.[0] ?? fail()
}

const localName = (qualified: string): string => qualified.slice(qualified.indexOf(":") + 1)

const openTag = (open: Array<Element>, text: string, tag: number, handler: Handler): number => {
  const qualified = nameAt(text, tag + 1)
  const behind = tag + 1 + qualified.length
  if (text[behind] === ">") {
    const name = localName(qualified)
    handler.open(name)
    open.push({ name, qualified, text: "" })
    return behind + 1
  }
  ATTRIBUTES.lastIndex = behind
  const attributes = ATTRIBUTES.exec(text) ?? fail()
  const name = localName(qualified)
  handler.open(name)
  if (attributes[1] === "/") handler.close(name, "")
  else open.push({ name, qualified, text: "" })
  return ATTRIBUTES.lastIndex
}

const closeTag = (open: Array<Element>, text: string, tag: number, handler: Handler): number => {
  const element = open.pop()
  if (element === undefined || !text.startsWith(element.qualified, tag + 2)) return fail()
  let end = tag + 2 + element.qualified.length
  while (isSpace(text.charCodeAt(end))) end++
  if (text[end] !== ">") fail()
  handler.close(element.name, element.text.slice(0, MAX_TEXT_CHARS).trim())
  return end + 1
}
