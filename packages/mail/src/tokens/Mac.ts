import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto"

/** 80 bits: an attacker gets one guess per RCPT or request, and the text stays short. */
const MAC_BYTES = 10
export const TAG_CHARACTERS = 16

export const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/**
 * Authenticates a text that is sent out and comes back. `purpose` separates uses, so that a tag made for one is never
 * valid for another. All lower case, since systems on the way may fold case.
 */
export const tag = (secretKey: Uint8Array, purpose: string, text: string): string =>
  base32(sum(secretKey, purpose, text).subarray(0, MAC_BYTES))

/** The full MAC as bytes. With the bytes themselves, Node throws and catches an error for each MAC, which takes 11 µs more. */
export const sum = (secretKey: Uint8Array, purpose: string, text: string): Buffer =>
  createHmac("sha256", createSecretKey(secretKey)).update(purpose).update(text).digest()

export const holds = (secretKey: Uint8Array, purpose: string, text: string, received: string): boolean => {
  const [theirs, ours] = [Buffer.from(received, "latin1"), Buffer.from(tag(secretKey, purpose, text), "latin1")]
  return theirs.length === ours.length && timingSafeEqual(theirs, ours)
}

const base32 = (bytes: Uint8Array): string => {
  let out = ""
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += ALPHABET[(buffer >>> bits) & 31]
    }
    buffer &= (1 << bits) - 1
  }
  return out
}
