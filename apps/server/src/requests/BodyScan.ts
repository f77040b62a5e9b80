import { isUtf8 } from "node:buffer"

/** Maximum number of values in a body; three times what the largest batch needs. */
export const MAX_VALUES = 100_000
/** Maximum nesting of a body; no request of the API needs more than 6. */
export const MAX_DEPTH = 32
/** Maximum fields of an object of a body; ten times what the largest one needs. */
export const MAX_FIELDS = 1_000
/** Size and problem of a body, found before it is parsed. */
export interface Scan {
  readonly values: number
  /** Why the body must not be parsed, if there is a reason. */
  readonly problem: Problem | undefined
}

export interface Problem {
  readonly reason: "malformed_json" | "payload_too_large"
  readonly message: string
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/**
 * Counts the values of a body, and finds out whether it is too complex to parse: ten megabytes can hold five million
 * numbers, each of which would become a violation, and an object of many names takes long to build. Scans the bytes, which
 * is faster than parsing them.
 */
export const scan = (bytes: Buffer): Scan => {
  if (!isUtf8(bytes)) return { values: 0, problem: { reason: "malformed_json", message: "is not UTF-8" } }
  let depth = 0
  let values = 1
  /** Number of fields of each open object. */
  const fields = new Uint32Array(MAX_DEPTH + 2)
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = endOfString(bytes, i)
        break
      case COMMA:
        values++
        break
      case COLON: {
        const count = (fields[depth] ?? 0) + 1
        if (count > MAX_FIELDS) return { values, problem: tooLarge(`has an object of more than ${MAX_FIELDS} fields`) }
        fields[depth] = count
        break
      }
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        fields[++depth] = 0
        values++
        if (depth > MAX_DEPTH) return { values, problem: tooLarge(`is nested deeper than ${MAX_DEPTH} levels`) }
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        // The parser refuses it there, without reading further.
        if (depth === 0) return { values, problem: undefined }
        depth--
        break
    }
    if (values > MAX_VALUES) return { values, problem: tooLarge(`holds more than ${MAX_VALUES} values`) }
  }
  return { values, problem: undefined }
}

const tooLarge = (message: string): Problem => ({ reason: "payload_too_large", message })

/** Bytes of a string that are read one by one, because a call for each quote of many short strings takes longer. */
const NEAR_BYTES = 64

/** Returns the place of the quote that ends a string. A quote is escaped if an odd number of backslashes precedes it. */
export const endOfString = (bytes: Buffer, start: number): number => {
  let at = start + 1
  while (at < bytes.length) {
    const near = Math.min(at + NEAR_BYTES, bytes.length)
    while (at < near) {
      if (bytes[at] === QUOTE) return at
      at += bytes[at] === BACKSLASH ? 2 : 1
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return bytes.length
    let slashes = 0
    while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote
    at = quote + 1
  }
  return bytes.length
}
