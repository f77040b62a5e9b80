import type { Brand } from "effect"
import type { Mode } from "./Livemode.ts"

/**
 * Format of a key: `wb_`, or `wb_test_` for a test key, 32 random bytes in base62, 6 characters of checksum. The length is fixed: 256 bits need at
 * most 43 digits of base 62 and 32 bits of CRC at most 6, both padded with `0`. The checksum lets a client library
 * reject a mistyped key without a request, and lets a secret scanner recognise keys. CRC-32 suffices, because it only
 * guards against accidents.
 */
export const MARK = "wb_"
export const TEST_MARK = `${MARK}test_`
export const RANDOM_BYTES = 32
export const BODY_CHARS = 43
export const CHECKSUM_CHARS = 6
/** Characters after the mark in the readable prefix, which identifies a key in lists. */
export const PREFIX_BODY_CHARS = 7

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

export type ApiKeySecret = string & Brand.Brand<"ApiKeySecret">

const markOf = (text: string): string => (text.startsWith(TEST_MARK) ? TEST_MARK : MARK)

/** Encodes 32 random bytes, supplied by the caller, as a key. */
export const encode = (random: Uint8Array, mode: Mode = "live"): ApiKeySecret => {
  const body = base62(bigint(random.subarray(0, RANDOM_BYTES)), BODY_CHARS)
  return `${mode === "test" ? TEST_MARK : MARK}${body}${checksum(body)}` as ApiKeySecret
}

/** Whether a text has the mark and the length of a key, as a mistyped one has. */
export const isWhole = (text: string): boolean =>
  text.startsWith(MARK) && text.length === markOf(text).length + BODY_CHARS + CHECKSUM_CHARS

/** Whether a text has the format and checksum of a key. It may still never have been issued. */
export const isWellFormed = (text: string): text is ApiKeySecret => {
  if (!isWhole(text)) return false
  const mark = markOf(text)
  const body = text.slice(mark.length, mark.length + BODY_CHARS)
  return checksum(body) === text.slice(mark.length + BODY_CHARS)
}

/** Matches a key, or the beginning of one, in a text. */
const IN_TEXT = new RegExp(`(${MARK}|${TEST_MARK})[0-9A-Za-z]{${PREFIX_BODY_CHARS + 3},}`, "gu")

/** Hides the keys in a text of a request, so that the response, and a client's log of it, does not contain them. */
export const hideIn = (text: string): string => text.replaceAll(IN_TEXT, "$1…")

export const prefixOf = (secret: ApiKeySecret): string => secret.slice(0, markOf(secret).length + PREFIX_BODY_CHARS)

const bigint = (bytes: Uint8Array): bigint => {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}

const base62 = (value: bigint, width: number): string => {
  let digits = ""
  for (let rest = value; rest > 0n; rest /= 62n) digits = (DIGITS[Number(rest % 62n)] ?? "") + digits
  return digits.padStart(width, "0")
}

const checksum = (body: string): string => {
  let digits = ""
  for (let rest = crc32(body); rest > 0; rest = (rest / 62) >>> 0) digits = (DIGITS[rest % 62] ?? "") + digits
  return digits.padStart(CHECKSUM_CHARS, "0")
}

/** CRC-32 (IEEE 802.3) of each byte. Each request has a key, and bit by bit takes five times as long. */
const CRC_OF_BYTE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

const crc32 = (text: string): number => {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) crc = (crc >>> 8) ^ (CRC_OF_BYTE[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}
