import type { EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

/** Two characters of base 32; a request has at most some hundred recipients. */
export const RECIPIENT_INDEX_LIMIT = 1024

const PREFIX = "b-"
const ID_PREFIX = "msg_"
const { ALPHABET } = Mac
/** Behind the index where the address stands for all recipients of that one's domain. */
const DOMAIN_MARK = "d"
const LOCAL_PART = new RegExp(
  `^b-([0-7][${ALPHABET}]{25})([${ALPHABET}]{2})(${DOMAIN_MARK}?)-([${ALPHABET}]{${Mac.TAG_CHARACTERS}})$`,
)
/** So that a key which also signs other things never makes a tag that is valid here. */
const PURPOSE = "waybill return path 1\0"

export interface Bounced {
  readonly emailId: EmailId
  /** The place of the recipient in the email's list. */
  readonly recipientIndex: number
  /** Where one transaction carried several recipients of a domain: that recipient stands for those of its domain. */
  readonly scope?: "domain"
}

/** `b-<token>-<mac>@<domain>`, all lower case, for a server on the way may fold the case of a local part. */
export const make = (secretKey: Uint8Array, domain: string, { emailId, recipientIndex, scope }: Bounced): string => {
  if (!Number.isInteger(recipientIndex) || recipientIndex < 0 || recipientIndex >= RECIPIENT_INDEX_LIMIT) {
    throw new RangeError(`a recipient index is 0 to ${RECIPIENT_INDEX_LIMIT - 1}`)
  }
  const index = `${ALPHABET[recipientIndex >> 5]}${ALPHABET[recipientIndex & 31]}`
  const token = emailId.slice(ID_PREFIX.length) + index + (scope === undefined ? "" : DOMAIN_MARK)
  return `${PREFIX}${token}-${Mac.tag(secretKey, PURPOSE, token)}@${domain}`
}

/** What the local part stands for, if it was made with this key; a forged one is nothing. */
export const verify = (secretKey: Uint8Array, localPart: string): Option.Option<Bounced> => {
  const [, id, index, mark, tag] = LOCAL_PART.exec(localPart.toLowerCase()) ?? []
  if (id === undefined || index === undefined || mark === undefined || tag === undefined) return Option.none()
  if (!Mac.holds(secretKey, PURPOSE, id + index + mark, tag)) return Option.none()
  const recipientIndex = ALPHABET.indexOf(index.charAt(0)) * 32 + ALPHABET.indexOf(index.charAt(1))
  const bounced = { emailId: `${ID_PREFIX}${id}` as EmailId, recipientIndex }
  return Option.some(mark === "" ? bounced : { ...bounced, scope: "domain" })
}
