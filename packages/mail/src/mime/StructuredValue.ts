import * as Charsets from "./Charsets.ts"

/** The value of a header such as Content-Type. */
export interface StructuredValue {
  /** In lower case. */
  readonly value: string
  /** Parameters by names in lower case. The first of several with one name counts. */
  readonly params: ReadonlyMap<string, string>
}

export const parse = (source: string): StructuredValue => {
  const text = withoutComments(source)
  const params = new Map<string, string>()
  const add = (name: string, value: string) => {
    if (!params.has(name)) params.set(name, value)
  }
  let at = 0
  const first = readValue(text, at)
  at = first.end
  while (at < text.length) {
    // A name without a value ends at the next semicolon.
    const end = endOfName(text, at)
    const name = text.slice(at, end).trim().toLowerCase()
    at = end + 1
    if (text[end] !== "=") {
      if (name !== "") add(name, "")
      continue
    }
    const { end: next, value } = readValue(text, at)
    add(name, value)
    at = next
  }
  return { value: first.value.toLowerCase(), params: withoutContinuations(params) }
}

const endOfName = (text: string, from: number): number => {
  let at = from
  while (at < text.length && text[at] !== "=" && text[at] !== ";") at++
  return at
}

const isSpace = (character: string | undefined): boolean => character === " " || character === "\t"

/**
 * Reads a token or a quoted string up to the semicolon, and returns where the next parameter begins. Spaces around it
 * are dropped, those inside are kept. What follows a quoted string is no part of it.
 */
const readValue = (text: string, from: number): { readonly value: string; readonly end: number } => {
  let value = ""
  let spaces = ""
  let isQuoted = false
  let hasClosed = false
  let at = from
  for (; at < text.length; at++) {
    const character = text[at] ?? ""
    if (isQuoted && character === '"') {
      isQuoted = false
      hasClosed = true
    } else if (!isQuoted && character === ";") break
    else if (!isQuoted && character === '"') {
      // Spaces between a token and a quote are content, those before the first one are not.
      if (value !== "") value += spaces
      spaces = ""
      isQuoted = true
    } else if (!isQuoted && isSpace(character)) spaces += character
    else {
      // A backslash escapes inside quotes only: a name outside of them may be a path of Windows.
      if (isQuoted && character === "\\") at++
      if (hasClosed) continue
      if (value !== "") value += spaces
      spaces = ""
      value += text[at] ?? ""
    }
  }
  return { value, end: at + 1 }
}

/**
 * Removes comments (RFC 5322 §3.2.2). A parenthesis that goes on with a value, as in `filename=Invoice(1).pdf`, opens none.
 * If one is never closed, nothing is removed, because parameters such as the boundary may stand behind it.
 */
export const withoutComments = (text: string): string => {
  if (!text.includes("(")) return text
  let kept = ""
  let last = ""
  let depth = 0
  let start = 0
  let isQuoted = false
  let isInValue = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ""
    if (character === "\\") {
      at++
      if (depth > 0) continue
      last = text[at] ?? ""
      kept += character + last
      continue
    }
    if (character === '"' && depth === 0) isQuoted = !isQuoted
    else if (!isQuoted && character === "(" && (depth > 0 || !isInValue || isSpace(last))) {
      if (depth++ === 0) start = at
      continue
    } else if (!isQuoted && character === ")" && depth > 0) {
      depth--
      continue
    } else if (!isQuoted && depth === 0) isInValue = character === "=" || (isInValue && character !== ";")
    if (depth > 0) continue
    last = character
    kept += character
  }
  return depth === 0 || !text.includes(";", start) ? kept : text
}

interface Section {
  readonly nth: number
  readonly text: string
  /** Whether it has octets as `%41`. */
  readonly isEncoded: boolean
}

/** Joins the sections of a parameter (RFC 2231 §3), and decodes those that are encoded (§4). */
const withoutContinuations = (params: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const joined = new Map<string, string>()
  const split = new Map<string, { charset: string; readonly sections: Array<Section> }>()
  for (const [name, value] of params) {
    const end = /\*(?:(\d+)\*?)?$/u.exec(name)
    if (end === null) {
      joined.set(name, value)
      continue
    }
    const key = name.slice(0, end.index)
    const found = split.get(key) ?? { charset: "", sections: [] }
    split.set(key, found)
    const nth = Number(end[1] ?? 0)
    const isEncoded = name.endsWith("*")
    const [, charset, text] = nth === 0 && isEncoded ? (/^([^']*)'[^']*'(.*)$/su.exec(value) ?? []) : []
    if (charset !== undefined) found.charset = charset
    found.sections.push({ nth, text: text ?? value, isEncoded })
  }
  for (const [name, { charset, sections }] of split) joined.set(name, joinedText(charset, sections))
  return joined
}

const joinedText = (charset: string, sections: Array<Section>): string => {
  let text = ""
  // A character of several octets may be in two sections.
  let encoded = ""
  const flush = () => {
    if (encoded !== "") text += Charsets.decode(octetsOf(encoded), charset)
    encoded = ""
  }
  for (const section of sections.toSorted((a, b) => a.nth - b.nth)) {
    if (section.isEncoded) encoded += section.text
    else {
      flush()
      text += section.text
    }
  }
  flush()
  return text
}

const PERCENT = 0x25

const octetsOf = (text: string): Uint8Array => {
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const hex = bytes[at] === PERCENT ? bytes.toString("latin1", at + 1, at + 3) : ""
    const isOctet = /^[\dA-F]{2}$/iu.test(hex)
    bytes[length++] = isOctet ? Number.parseInt(hex, 16) : (bytes[at] ?? 0)
    if (isOctet) at += 2
  }
  return bytes.subarray(0, length)
}
