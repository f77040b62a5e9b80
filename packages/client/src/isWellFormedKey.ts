const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const CHECKSUM_CHARS = 6

/** Whether a text has the format and checksum of an API key. Detects mistyped keys without a request. */
export const isWellFormedKey = (text: string): boolean => {
  const match = /^wb_(?:test_)?([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(text)
  return match !== null && checksum(match[1] ?? "") === match[2]
}

/** CRC-32 (IEEE 802.3) in base 62. */
const checksum = (body: string): string => {
  let crc = 0xffffffff
  for (let i = 0; i < body.length; i++) {
    crc ^= body.charCodeAt(i) & 0xff
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let digits = ""
  for (; rest > 0; rest = Math.floor(rest / 62)) digits = (DIGITS[rest % 62] ?? "") + digits
  return digits.padStart(CHECKSUM_CHARS, "0")
}
