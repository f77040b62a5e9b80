import { decodeWords } from "postal-mime"
import type { MailTree, Node } from "./MimeReader.ts"

/** A charset or transfer encoding that is not read, by the name that the message gives it. */
export type Unknown = `unknown_charset ${string}` | `unknown_encoding ${string}`

/** Transfer encodings of RFC 2045 that change no bytes, in the spellings in use. */
const UNENCODED = /^(?:[78]-?bits?|binary|none|)$/u
const ENCODED: ReadonlySet<string> = new Set(["base64", "quoted-printable"])

export const isEncoded = ({ contentTransferEncoding }: Node): boolean => ENCODED.has(contentTransferEncoding.encoding)

/** Returns the first charset or transfer encoding that would be read wrongly, in texts, names and headers. */
export const findUnknown = (mail: MailTree): Unknown | undefined => {
  const files = new Set(mail.nodes.values())
  const search = (part: Node): Unknown | undefined => {
    if (part.contentType.multipart === false) {
      const { encoding } = part.contentTransferEncoding
      if (!isEncoded(part) && !UNENCODED.test(encoding)) return `unknown_encoding ${shown(encoding)}`
      const charset = part.contentType.parsed.params["charset"] ?? ""
      const bytes = part.content instanceof ArrayBuffer ? new Uint8Array(part.content) : new Uint8Array()
      if (!files.has(part) && isMisread(charset, bytes)) return `unknown_charset ${shown(charset)}`
    }
    for (const { key, value } of part.headers) {
      const charset = misreadWord(value) ?? (key.startsWith("content-") ? misreadParameter(value) : undefined)
      if (charset !== undefined) return `unknown_charset ${shown(charset)}`
    }
    for (const child of part.childNodes) {
      const unknown = search(child)
      if (unknown !== undefined) return unknown
    }
    return undefined
  }
  return search(mail.root)
}

/** Names in replies are short and have no space. */
const shown = (name: string): string => name.replaceAll(/[^\w.:+-]+/gu, "?").slice(0, 40)

/** An encoded word (RFC 2047). */
const WORD = /=\?([^?*\s]{1,80})(?:\*[^?\s]{0,80})?\?[BQ]\?[^?]*\?=/giu
/** The beginning of an extended parameter (RFC 2231), such as a file's name. */
const PARAMETER = /\*0?\*?=([^'\s;]{1,80})'[^'\s;]{0,80}'/gu

const misreadWord = (value: string): string | undefined => {
  if (!value.includes("=?")) return undefined
  for (const [word, charset = ""] of value.matchAll(WORD))
    if (!isKnown(charset) && isMisread(charset, Buffer.from(decodeWords(word)))) return charset
  return undefined
}

const misreadParameter = (value: string): string | undefined => {
  if (!value.includes("'")) return undefined
  for (const [, charset = ""] of value.matchAll(PARAMETER)) if (!isKnown(charset)) return charset
  return undefined
}

/** Whether text would be read as Windows-1252, although it is in another charset. */
const isMisread = (charset: string, bytes: Uint8Array): boolean =>
  !isKnown(charset) && (HIDES_LETTERS.test(charset) || bytes.some((byte) => byte > MAX_ASCII))

/** Charsets whose bytes look like ASCII and are not. */
const HIDES_LETTERS = /utf-?7|^hz|^iso-?2022|utf-?32|ucs-?4|ebcdic|^(?:cp|ibm)-?0/iu
const MAX_ASCII = 0x7f

/**
 * Whether the parser reads this charset. It reads an unknown one as Windows-1252, which shows in letters that hardly
 * another charset has in these places.
 */
const isKnown = (charset: string): boolean => {
  const label = charset.trim().toLowerCase()
  if (label === "" || label === "utf-8" || label === "utf8") return true
  if (!/^[\w.:+-]+$/u.test(label)) return false
  const known = KNOWN.get(label)
  if (known !== undefined) return known
  const found = hasDecoder(label) || decodeWords(`=?${label}?Q?=98=81?=`) !== AS_WINDOWS
  if (KNOWN.size < MAX_KNOWN) KNOWN.set(label, found)
  return found
}

const AS_WINDOWS = decodeWords("=?windows-1252?Q?=98=81?=")
const KNOWN = new Map<string, boolean>()
const MAX_KNOWN = 500

const hasDecoder = (label: string): boolean => {
  try {
    return new TextDecoder(label).encoding !== ""
  } catch {
    return false
  }
}
