import { hash } from "node:crypto"

/**
 * The first 8 bytes of the SHA-256 of a search term, as a number: what rows of the log hold instead of the term. Two terms
 * may share a key, so that a search compares the terms of what it finds. `0001_waybill.sql` has the same function in SQL,
 * `term_key`.
 */
export type TermKey = bigint

export const of = (term: string): TermKey => {
  // The hash as text costs a third of what it does as bytes.
  const bytes = hash("sha256", term, "binary")
  halves[HIGH_HALF] = wordOf(bytes, 0)
  halves[1 - HIGH_HALF] = wordOf(bytes, 4)
  return whole[0] ?? 0n
}

/** A number, and its two halves in the order of the machine. */
const whole = new BigInt64Array(1)
const halves = new Int32Array(whole.buffer)
const HIGH_HALF = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0

const wordOf = (bytes: string, at: number): number =>
  (bytes.charCodeAt(at) << 24) |
  (bytes.charCodeAt(at + 1) << 16) |
  (bytes.charCodeAt(at + 2) << 8) |
  bytes.charCodeAt(at + 3)

/** Returns the first 4 bytes, for terms of which an account has few. */
export const shortOf = (term: string): number => Number(of(term) >> 32n)

/** Returns the lowest key of some values, undefined if there are none. */
export const lowestOf = <A>(values: Iterable<A>, keyOf: (value: A) => TermKey): TermKey | undefined => {
  let found: TermKey | undefined
  for (const value of values) {
    const key = keyOf(value)
    if (found === undefined || key < found) found = key
  }
  return found
}
