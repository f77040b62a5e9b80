import { hash } from "node:crypto"

/**
 * Terms whose keys a process remembers before it begins anew: senders, domains and tags are few, and come with each message.
 * A recipient is one of many, so that the order of use would cost more than it saves.
 */
const MAX_REMEMBERED = 4_096

/**
 * The first 8 bytes of the SHA-256 of a search term, as a decimal number: what rows of the log hold instead of the term.
 * Two terms may share a key, so that a search compares the terms of what it finds. Migration 0068 has the same function in
 * SQL, `term_key`.
 */
export type TermKey = string

export const of = (term: string): TermKey => {
  const known = remembered.get(term)
  if (known !== undefined) return known
  // The hash as text costs half of what it does as bytes.
  const key = BigInt.asIntN(64, BigInt(`0x${hash("sha256", term, "hex").slice(0, 16)}`)).toString()
  if (remembered.size === MAX_REMEMBERED) remembered.clear()
  remembered.set(term, key)
  return key
}
const remembered = new Map<string, TermKey>()

/** Returns the first 4 bytes, for terms of which an account has few. */
export const shortOf = (term: string): number => Number(BigInt(of(term)) >> 32n)

/** Returns the lowest of some keys, undefined if there are none. */
export const lowest = (keys: Iterable<TermKey>): TermKey | undefined => {
  let found: TermKey | undefined
  for (const key of keys) if (found === undefined || BigInt(key) < BigInt(found)) found = key
  return found
}
