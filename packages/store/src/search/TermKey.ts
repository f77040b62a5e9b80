import { hash } from "node:crypto"

/**
 * The first 8 bytes of the SHA-256 of a search term, as a decimal number: what rows of the log hold instead of the term.
 * Two terms may share a key, so that a search compares the terms of what it finds. Migration 0068 has the same function in
 * SQL, `term_key`.
 */
export type TermKey = string

export const of = (term: string): TermKey => hash("sha256", term, "buffer").readBigInt64BE().toString()

/** Returns the first 4 bytes, for terms of which an account has few. */
export const shortOf = (term: string): number => hash("sha256", term, "buffer").readInt32BE()

/** Returns the lowest of some keys, undefined if there are none. */
export const lowest = (keys: Iterable<TermKey>): TermKey | undefined => {
  let found: TermKey | undefined
  for (const key of keys) if (found === undefined || BigInt(key) < BigInt(found)) found = key
  return found
}
