import { hash } from "node:crypto"

/**
 * Number of terms whose keys a process remembers: senders, domains and tags are few, and come with each message. A term has
 * one place, where it replaces another, because any order would cost more than it saves: a recipient is one of many.
 */
const REMEMBERED = 4_096

/**
 * The first 8 bytes of the SHA-256 of a search term, as a number: what rows of the log hold instead of the term. Two terms
 * may share a key, so that a search compares the terms of what it finds. `0001_waybill.sql` has the same function in SQL,
 * `term_key`.
 */
export type TermKey = bigint

export const of = (term: string): TermKey => {
  const place = placeOf(term)
  if (terms[place] !== term) {
    keys[place] = compute(term)
    terms[place] = term
  }
  return keys[place] ?? 0n
}
const terms: Array<string | undefined> = Array.from({ length: REMEMBERED })
const keys = new BigInt64Array(REMEMBERED)

const placeOf = (term: string): number => {
  let place = Math.imul(term.length, 31) + term.charCodeAt(0)
  for (let at = term.length - 1; at >= 0 && at >= term.length - PLACED_CHARS; at--)
    place = (Math.imul(place, 31) + term.charCodeAt(at)) | 0
  return place & (REMEMBERED - 1)
}
const PLACED_CHARS = 12

const compute = (term: string): TermKey => {
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

/** Remembers the last result: many messages after one another have the same sender and domain. */
export const remembering = <A extends string, Key extends TermKey | number>(
  keyOf: (text: A) => Key,
): ((text: A) => Key) => {
  let last: { readonly text: A; readonly key: Key } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, key: keyOf(text) }
    return last.key
  }
}
