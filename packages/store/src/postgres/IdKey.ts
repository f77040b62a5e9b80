import * as Id from "@waybill/domain/values/Id"

/**
 * The UUID in an id, as 32 hexadecimal digits: what tables with a row or more for each message hold instead of the id's 30
 * letters. Keys have the order of their ids. Migration 0068 has the same functions in SQL, `id_key` and `id_of`.
 */
export type IdKey = string

/** Lower than the key of any id, and higher than that of any. No id has them, because a UUID says its version. */
export const LOWEST: IdKey = "0".repeat(32)
export const HIGHEST: IdKey = "f".repeat(32)

const LENGTH = 32
const BITS_PER_DIGIT = 4
const BITS_PER_LETTER = 5
const DIGITS = "0123456789abcdef"
const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
const VALUES = new Map(Array.from(LETTERS, (letter, value) => [letter.charCodeAt(0), value]))
const ENCODED = new RegExp(`^[a-z]{3}_${Id.BASE32}$`, "u")

/** Returns the key of an id. Throws for any other text, because callers pass ids that a border has decoded. */
export const of = (id: string): IdKey => {
  if (!ENCODED.test(id)) throw new Error(`${JSON.stringify(id)} is not an id`)
  let key = ""
  let buffer = 0
  // The first letter begins with two zero bits that belong to no digit.
  let bits = -2
  for (let at = id.length - Id.ENCODED_LENGTH; at < id.length; at++) {
    buffer = (buffer << BITS_PER_LETTER) | (VALUES.get(id.charCodeAt(at)) ?? 0)
    bits += BITS_PER_LETTER
    while (bits >= BITS_PER_DIGIT) {
      bits -= BITS_PER_DIGIT
      key += DIGITS[(buffer >>> bits) & 15]
    }
    buffer &= (1 << Math.max(bits, 0)) - 1
  }
  return key
}

/** Returns the key as Postgres writes it, without its hyphens. */
export const fromUuid = (uuid: string): IdKey => (uuid.length === LENGTH ? uuid : uuid.replaceAll("-", ""))

/** Returns the id with this key. */
export const idOf = (name: keyof typeof Id.PREFIXES, key: IdKey): string =>
  `${Id.PREFIXES[name]}_${Id.base32(Buffer.from(fromUuid(key), "hex"))}`

/** Returns the next lower or higher key. */
export const beside = (key: IdKey, direction: -1 | 1): IdKey =>
  (BigInt(`0x${key}`) + BigInt(direction)).toString(16).padStart(LENGTH, "0")
