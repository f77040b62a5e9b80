import type { EmailId } from "@waybill/domain/Id"
import { Option } from "effect"
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto"

/**
 * 80 bits: a forger gets one guess a RCPT, and the local part stays far under the 64 octets of RFC 5321 §4.5.3.1.1.
 */
const MAC_BYTES = 10
/** Two characters of base 32; a request has at most some hundred recipients. */
export const RECIPIENT_INDEX_LIMIT = 1024

const PREFIX = "b-"
const ID_PREFIX = "msg_"
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const LOCAL_PART = new RegExp(`^b-([0-7][${ALPHABET}]{25})([${ALPHABET}]{2})-([${ALPHABET}]{16})$`)
/** So that a key which also signs other things never makes a tag that is valid here. */
const PURPOSE = "waybill return path 1\0"

export interface Bounced {
  readonly emailId: EmailId
  /** The place of the recipient in the email's list. */
  readonly recipientIndex: number
}

/** `b-<token>-<mac>@<domain>`, all lower case, for a server on the way may fold the case of a local part. */
export const make = (secretKey: Uint8Array, domain: string, { emailId, recipientIndex }: Bounced): string => {
  if (!Number.isInteger(recipientIndex) || recipientIndex < 0 || recipientIndex >= RECIPIENT_INDEX_LIMIT) {
    throw new RangeError(`a recipient index is 0 to ${RECIPIENT_INDEX_LIMIT - 1}`)
  }
  const index = `${ALPHABET[recipientIndex >> 5]}${ALPHABET[recipientIndex & 31]}`
  const token = emailId.slice(ID_PREFIX.length) + index
  return `${PREFIX}${token}-${base32(mac(secretKey, token))}@${domain}`
}

/** What the local part stands for, if it was made with this key; a forged one is nothing. */
export const verify = (secretKey: Uint8Array, localPart: string): Option.Option<Bounced> => {
  const [, id, index, tag] = LOCAL_PART.exec(localPart.toLowerCase()) ?? []
  if (id === undefined || index === undefined || tag === undefined) return Option.none()
  const expected = base32(mac(secretKey, id + index))
  if (!timingSafeEqual(Buffer.from(tag, "latin1"), Buffer.from(expected, "latin1"))) return Option.none()
  const recipientIndex = ALPHABET.indexOf(index.charAt(0)) * 32 + ALPHABET.indexOf(index.charAt(1))
  return Option.some({ emailId: `${ID_PREFIX}${id}` as EmailId, recipientIndex })
}

const mac = (secretKey: Uint8Array, token: string): Uint8Array =>
  createHmac("sha256", prepared(secretKey)).update(PURPOSE).update(token).digest().subarray(0, MAC_BYTES)

const keys = new WeakMap<Uint8Array, KeyObject>()

/** Bytes would be made into a key anew at each use, which costs three times the MAC itself. */
const prepared = (secretKey: Uint8Array): KeyObject => {
  const known = keys.get(secretKey)
  if (known !== undefined) return known
  const key = createSecretKey(secretKey)
  keys.set(secretKey, key)
  return key
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
