import { decodeWords } from "postal-mime"
import * as Charsets from "./Charsets.ts"
import type { Mail } from "./MimeReader.ts"
import type { Part } from "./MimeTree.ts"
import * as PartBody from "./PartBody.ts"

/** A charset or transfer encoding that is not read, by the name that the message gives it. */
export type Unknown = `unknown_charset ${string}` | `unknown_encoding ${string}`

/** Transfer encodings of RFC 2045 that change no bytes, in the spellings in use. */
const UNENCODED = /^(?:[78]-?bits?|binary|none|)$/u
const ENCODED: ReadonlySet<string> = new Set(["base64", "quoted-printable"])

export const isEncoded = ({ encoding }: Part): boolean => ENCODED.has(encoding)

/** Returns the first charset or transfer encoding that would be read wrongly, in texts, names and headers. */
export const findUnknown = ({ files, root }: Mail): Unknown | undefined => {
  const parts = new Set(files.map(({ part }) => part))
  const search = (part: Part): Unknown | undefined => {
    if (part.multipart === undefined) {
      const { encoding } = part
      if (!isEncoded(part) && !UNENCODED.test(encoding)) return `unknown_encoding ${shown(encoding)}`
      const charset = part.type.params.get("charset") ?? ""
      if (!parts.has(part) && !isKnown(charset) && isMisread(charset, contentOf(part)))
        return `unknown_charset ${shown(charset)}`
    }
    for (const { key, value } of part.headers) {
      const charset = misreadWord(value) ?? (key.startsWith("content-") ? misreadParameter(value) : undefined)
      if (charset !== undefined) return `unknown_charset ${shown(charset)}`
    }
    for (const child of part.children) {
      const unknown = search(child)
      if (unknown !== undefined) return unknown
    }
    return undefined
  }
  return search(root)
}

const contentOf = ({ body, encoding }: Part): Uint8Array =>
  PartBody.decode(body, encoding, { dropsLastBreak: false, keepsCrlf: false })

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

/** Whether text in an unknown charset would be read wrongly as Windows-1252. */
const isMisread = (charset: string, bytes: Uint8Array): boolean =>
  HIDES_LETTERS.test(charset) || bytes.some((byte) => byte > MAX_ASCII)

/** Charsets whose bytes look like ASCII and are not. */
const HIDES_LETTERS = /utf-?7|^hz|^iso-?2022|utf-?32|ucs-?4|ebcdic|^(?:cp|ibm)-?0/iu
const MAX_ASCII = 0x7f

const isKnown = (charset: string): boolean => Charsets.find(charset) !== undefined
