import { valueOr } from "@waybill/runtime/flow/valueOr"

/** Names in mail that TextDecoder does not know, without prefixes and separators, and the charset that they mean. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["iso88598i", "iso-8859-8"],
  ["iso88598e", "iso-8859-8"],
  ["shiftjis", "shift_jis"],
  ["windows31j", "shift_jis"],
  ["mskanji", "shift_jis"],
  ["eucjp", "euc-jp"],
  ["iso2022jp", "iso-2022-jp"],
  ["iso2022jp1", "iso-2022-jp"],
  ["iso2022jp2", "iso-2022-jp"],
  ["junet", "iso-2022-jp"],
  ["euckr", "euc-kr"],
  ["uhc", "euc-kr"],
  ["tis620", "windows-874"],
])

/** Code pages of Windows and IBM, which names write as `cp932`, `ms932` or `ibm932`. */
const CODE_PAGES: ReadonlyMap<string, string> = new Map([
  ["932", "shift_jis"],
  ["936", "gbk"],
  ["949", "euc-kr"],
  ["950", "big5"],
  ["874", "windows-874"],
  ["51932", "euc-jp"],
  ["50220", "iso-2022-jp"],
  ["50221", "iso-2022-jp"],
  ["50222", "iso-2022-jp"],
])

/** Longest name that is looked up. */
const MAX_NAME_CHARS = 40
/** Maximum number of names that are remembered, because each message can make up more. */
const MAX_DECODERS = 500
const decoders = new Map<string, TextDecoder | undefined>()

const make = (label: string): TextDecoder | undefined => valueOr(() => new TextDecoder(label), undefined)

const search = (label: string): TextDecoder | undefined => {
  const exact = make(label)
  if (exact !== undefined) return exact
  const short = label.replace(/^(?:x-ms-|x-|cs)/u, "").replaceAll(/[\s._-]+/gu, "")
  const page = /^(?:cp|windows|ms|ibm)(\d+)$/u.exec(short)?.[1] ?? ""
  return make(CODE_PAGES.get(page) ?? OTHER_NAMES.get(short) ?? short)
}

/** Returns the decoder of a charset by a name in use; an empty name means UTF-8. Undefined for an unknown charset. */
export const find = (name: string): TextDecoder | undefined => {
  const label = name.trim().toLowerCase() || "utf-8"
  if (label.length > MAX_NAME_CHARS) return undefined
  if (decoders.has(label)) return decoders.get(label)
  const found = search(label)
  if (decoders.size < MAX_DECODERS) decoders.set(label, found)
  return found
}

const WINDOWS = new TextDecoder("windows-1252")
const UTF8 = new TextDecoder("utf-8", { fatal: true })
/** Names of ASCII, which programs give to text in any charset. */
const ASCII = /ascii|ansi_x3|iso-?646/iu

/**
 * Decodes text. What says that it is ASCII, or in a charset that nobody knows, is UTF-8 if it can be, or Windows-1252, which has
 * a character for almost every byte.
 */
export const decode = (bytes: Uint8Array, name: string): string => {
  const known = find(name)
  return known === undefined || ASCII.test(name.slice(0, MAX_NAME_CHARS)) ? guessed(bytes) : known.decode(bytes)
}

const guessed = (bytes: Uint8Array): string => {
  try {
    return UTF8.decode(bytes)
  } catch {
    return WINDOWS.decode(bytes)
  }
}
