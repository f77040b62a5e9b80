import * as Id from "@waybill/domain/values/Id"

/**
 * The UUID in an id, as 32 hexadecimal digits: what tables with a row or more for each message hold instead of the id's 30
 * letters. Keys have the order of their ids. `0001_waybill.sql` has the same functions in SQL, `id_key` and `id_of`.
 */
export type IdKey = string

/** Lower than the key of any id, and higher than that of any. No id has them, because a UUID says its version. */
export const LOWEST: IdKey = "0".repeat(32)
export const HIGHEST: IdKey = "f".repeat(32)

const LENGTH = 32
const BITS_PER_LETTER = 5
/** Three letters and a separator are before the UUID, whose first letter has two bits less. */
const PREFIX_CHARS = 4
/** Highest number of the first two letters. */
const MOST_FIRST = 255
const [LOWEST_LETTER, HIGHEST_LETTER, SEPARATOR] = [0x61, 0x7a, 0x5f]
const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
/** Value of each letter, by its code; -1 for what is no letter. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => LETTERS.indexOf(String.fromCharCode(code)))
/** Bytes of the key in the making. */
const bytes = Buffer.alloc(16)

/** Returns the key of an id. Throws for any other text, because callers pass ids that a border has decoded. */
export const of = (id: string): IdKey => {
  write(id, bytes, 0)
  return bytes.toString("hex")
}

/** Writes the UUID in an id as 16 bytes. Throws for any other text. */
export const write = (id: string, to: Uint8Array, at: number): void => {
  const first = lettersOf(id, PREFIX_CHARS, 2)
  let all = first | (MOST_FIRST - first)
  to[at] = first
  // After two letters, which are a byte, eight letters are five bytes.
  let next = at + 1
  for (let letter = PREFIX_CHARS + 2; letter < ID_LENGTH; letter += 8) {
    const high = lettersOf(id, letter, 4)
    const low = lettersOf(id, letter + 4, 4)
    all |= high | low
    to[next] = high >> 12
    to[next + 1] = high >> 4
    to[next + 2] = (high << 4) | (low >> 16)
    to[next + 3] = low >> 8
    to[next + 4] = low
    next += 5
  }
  if (all < 0 || !hasPrefix(id)) throw new Error(`${JSON.stringify(id)} is not an id`)
}

/** Length of an id. */
export const ID_LENGTH = PREFIX_CHARS + Id.ENCODED_LENGTH

const hasPrefix = (id: string): boolean => {
  if (id.length !== ID_LENGTH || id.charCodeAt(PREFIX_CHARS - 1) !== SEPARATOR) return false
  for (let at = 0; at < PREFIX_CHARS - 1; at++) {
    const code = id.charCodeAt(at)
    if (code < LOWEST_LETTER || code > HIGHEST_LETTER) return false
  }
  return true
}

/** Returns the number that some letters are; a negative number if one of them is no letter. */
const lettersOf = (id: string, begin: number, count: number): number => {
  let value = 0
  for (let at = begin; at < begin + count; at++) value = (value << BITS_PER_LETTER) | (VALUES[id.charCodeAt(at)] ?? -1)
  return value
}

/** Returns the key as Postgres writes it, without its hyphens. */
export const fromUuid = (uuid: string): IdKey => (uuid.length === LENGTH ? uuid : uuid.replaceAll("-", ""))

/** Returns the id with this key. */
export const idOf = (name: keyof typeof Id.PREFIXES, key: IdKey): string =>
  `${Id.PREFIXES[name]}_${Id.base32(Buffer.from(fromUuid(key), "hex"))}`

/** Returns the next lower or higher key. */
export const beside = (key: IdKey, direction: -1 | 1): IdKey =>
  (BigInt(`0x${key}`) + BigInt(direction)).toString(16).padStart(LENGTH, "0")
