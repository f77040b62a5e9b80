/** Maximum number of values in a body; three times what the largest batch needs. */
export const MAX_VALUES = 100_000
/** Maximum nesting of a body; no request of the API needs more than 6. */
export const MAX_DEPTH = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/**
 * Returns why a body is too complex to parse, if it is: ten megabytes can hold five million numbers, each of which
 * would become a violation. Scans the bytes, which is faster than parsing them.
 */
export const problem = (bytes: Buffer): string | undefined => {
  let depth = 0
  let values = 1
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = endOfString(bytes, i)
        break
      case COMMA:
        values++
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth++
        values++
        if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--
        break
    }
    if (values > MAX_VALUES) return `holds more than ${MAX_VALUES} values`
  }
  return undefined
}

/** A quote is escaped if an odd number of backslashes precedes it. */
const endOfString = (bytes: Buffer, start: number): number => {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
  return bytes.length
}
