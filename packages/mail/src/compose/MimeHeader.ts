import * as Header from "@waybill/domain/email/Header"
import * as Address from "@waybill/domain/values/Address"

/** RFC 5322 §2.1.1 recommends lines of at most 78; encoded words may fill a line of 76 (RFC 2047 §2). */
const LINE_LENGTH = 76
/** RFC 2047 §2: an encoded word has at most 75 characters, 12 of them its frame `=?UTF-8?B?…?=`. */
const ENCODED_WORD_LENGTH = 75
const ENCODED_WORD_FRAME = 12
/** With less space than this on the first line a word starts on the next one. */
const ENCODED_WORD_MIN_SPACE = 24
/** Longer phrases are encoded: a quoted string must not be folded inside, an encoded one may be. */
const QUOTED_LENGTH_LIMIT = 60
/** Characters of each piece of an RFC 2231 parameter. */
const PARAMETER_PIECE_LENGTH = 55

const UTF8 = new TextEncoder()
const PRINTABLE_ASCII = /^[\x20-\x7e\t]*$/
const PHRASE_OF_ATOMS = /^[\w!#$%&'*+\-/=?^`{|}~]+(?: [\w!#$%&'*+\-/=?^`{|}~]+)*$/
/** RFC 2047 §5 (3): characters that may stand bare in a Q word anywhere, phrases included. */
const Q_SAFE = /^[A-Za-z0-9!*+\-/]$/

/** CR and LF would begin another header or the body; NUL is forbidden everywhere by RFC 5322 §4. */
export const breaksLine = (value: string): boolean => /[\r\n\0]/.test(value)

/** Printable ASCII that no reader takes for an encoded word. */
const isPlain = (value: string): boolean => PRINTABLE_ASCII.test(value) && !value.includes("=?")

/**
 * Writes a subject so that the reader sees the given text: text that only looks like an encoded word, outer white space
 * and runs that cannot be folded are encoded too.
 */
export const text = (name: string, value: string): string =>
  isPlain(value) && value === value.trim() && Header.tooLongRun(value) === undefined
    ? fold(name, value)
    : `${name}: ${encodeWords(value, name.length + 2)}`

/**
 * Writes a customer's own header. ASCII is written as given, encoded words included, since its inner grammar (a
 * List-Id, a References) is the customer's; only text that SMTP cannot carry is encoded.
 */
export const custom = (name: string, value: string): string => {
  const trimmed = value.trim()
  return PRINTABLE_ASCII.test(trimmed) ? fold(name, trimmed) : `${name}: ${encodeWords(trimmed, name.length + 2)}`
}

/** Folds before white space and keeps it, so unfolding returns the same value (RFC 5322 §2.2.3). */
export const fold = (name: string, value: string): string => {
  if (value === "") return `${name}:`
  const line = `${name}: ${value}`
  if (line.length <= LINE_LENGTH) return line
  let out = `${name}:`
  let column = out.length
  let first = true
  for (const token of ` ${value}`.match(/[ \t]*[^ \t]+/g) ?? []) {
    if (!first && column + token.length > LINE_LENGTH) {
      out += "\r\n"
      column = 0
    }
    out += token
    column += token.length
    first = false
  }
  return out
}

interface Mailbox {
  readonly address: string
  readonly name?: string | undefined
}

/** Writes `Name <a@b.c>, …`, folded between mailboxes. The addresses are already checked. */
export const mailboxes = (name: string, list: ReadonlyArray<Mailbox>): string => {
  let out = `${name}:`
  let column = out.length
  for (const [index, mailbox] of list.entries()) {
    const separator = index === 0 ? " " : ", "
    let formatted = formatMailbox(mailbox, column + separator.length)
    if (index > 0 && column + separator.length + firstLine(formatted) > LINE_LENGTH) {
      out += ",\r\n "
      column = 1
      formatted = formatMailbox(mailbox, column)
    } else {
      out += separator
      column += separator.length
    }
    out += formatted
    const lineBreak = formatted.lastIndexOf("\n")
    column = lineBreak === -1 ? column + formatted.length : formatted.length - lineBreak - 1
  }
  return out
}

const firstLine = (value: string): number => {
  const end = value.indexOf("\r")
  return end === -1 ? value.length : end
}

const formatMailbox = ({ address: held, name }: Mailbox, column: number): string => {
  const address = Address.quote(held)
  if (name === undefined || name === "") return address
  const phrase = formatPhrase(name, column)
  const used = phrase.includes("\n") ? phrase.length - phrase.lastIndexOf("\n") - 1 : column + phrase.length
  return `${phrase}${used + address.length + 3 > LINE_LENGTH ? "\r\n" : ""} <${address}>`
}

const formatPhrase = (name: string, column: number): string => {
  if (!isPlain(name) || name.length > QUOTED_LENGTH_LIMIT || name.includes("\t")) return encodeWords(name, column)
  return PHRASE_OF_ATOMS.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`
}

/**
 * Writes RFC 2047 encoded words. Words are cut between code points, as §5 requires; the whole value uses the shorter of
 * Q and B.
 */
export const encodeWords = (value: string, column: number): string => {
  const wellFormed = value.toWellFormed()
  const bytes = Buffer.byteLength(wellFormed)
  let quoted = 0
  for (const char of wellFormed) quoted += qLength(char)
  const useQ = quoted <= Math.ceil(bytes / 3) * 4

  const words: Array<string> = []
  let out = ""
  let space = LINE_LENGTH - column
  if (space < ENCODED_WORD_MIN_SPACE) {
    out = "\r\n "
    space = ENCODED_WORD_LENGTH
  }
  let current = ""
  let used = 0
  const capacity = () => {
    const characters = Math.min(space, ENCODED_WORD_LENGTH) - ENCODED_WORD_FRAME
    return useQ ? characters : Math.floor(characters / 4) * 3
  }
  const flush = () => {
    words.push(useQ ? `=?UTF-8?Q?${qEncode(current)}?=` : `=?UTF-8?B?${Buffer.from(current).toString("base64")}?=`)
    current = ""
    used = 0
    space = ENCODED_WORD_LENGTH
  }
  for (const char of wellFormed) {
    const cost = useQ ? qLength(char) : Buffer.byteLength(char)
    if (used + cost > capacity() && current !== "") flush()
    current += char
    used += cost
  }
  if (current !== "" || words.length === 0) flush()
  return out + words.join("\r\n ")
}

const qLength = (char: string): number => (char === " " || Q_SAFE.test(char) ? 1 : 3 * Buffer.byteLength(char))

const qEncode = (value: string): string => {
  let out = ""
  for (const char of value) {
    if (char === " ") out += "_"
    else if (Q_SAFE.test(char)) out += char
    else for (const byte of UTF8.encode(char)) out += `=${hex(byte)}`
  }
  return out
}

const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, "0")

/** Writes one `; name="value"` of a Content-* header: quoted if possible, else in RFC 2231 form with continuations. */
export const parameter = (name: string, value: string): string => {
  if (isPlainParameter(value)) return `;\r\n ${name}="${value.replace(/["\\]/g, "\\$&")}"`
  const pieces: Array<string> = []
  let current = ""
  for (const char of value.toWellFormed()) {
    const encoded = percentEncode(char)
    if (current.length + encoded.length > PARAMETER_PIECE_LENGTH) {
      pieces.push(current)
      current = ""
    }
    current += encoded
  }
  pieces.push(current)
  const only = pieces.length === 1
  return pieces
    .map((piece, index) => `;\r\n ${name}${only ? "*" : `*${index}*`}=${index === 0 ? "UTF-8''" : ""}${piece}`)
    .join("")
}

/** Encodes the `name` of a Content-Type for readers older than RFC 2231, which understand encoded words there. */
export const legacyName = (value: string): string =>
  isPlainParameter(value) ? parameter("name", value) : `;\r\n name="${encodeWords(value, 7)}"`

const isPlainParameter = (value: string): boolean =>
  isPlain(value) && value.length <= QUOTED_LENGTH_LIMIT && value === value.trim() && !value.includes("\t")

const percentEncode = (char: string): string => {
  if (/^[\w.-]$/.test(char)) return char
  let out = ""
  for (const byte of UTF8.encode(char)) out += `%${hex(byte)}`
  return out
}
