import type { EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

/** Two characters of base 32; a request has at most some hundred recipients. */
export const RECIPIENT_INDEX_LIMIT = 1024

const PREFIX = "b-"
const ID_PREFIX = "msg_"
const ACCOUNT_PREFIX = "acc_"
/** Characters of the account's id: as many as a local part of 64 has space for. Few accounts begin alike. */
const START_CHARACTERS = 15
const { ALPHABET } = Mac
/** Marks an index whose address stands for all recipients of that recipient's domain. */
const DOMAIN_MARK = "d"
const LOCAL_PART = new RegExp(
  `^b-([0-7][${ALPHABET}]{25})([${ALPHABET}]{2})(${DOMAIN_MARK}?)([${ALPHABET}]{${START_CHARACTERS}})-([${ALPHABET}]{${Mac.TAG_CHARACTERS}})$`,
)
/** Separates these tags from other uses of the same key. */
const PURPOSE = "waybill return path 2\0"

export interface Bounced {
  /** How the id of the email's account begins, so that its database can be found. */
  readonly accountStart: string
  readonly emailId: EmailId
  /** Index of the recipient in the email's list. */
  readonly recipientIndex: number
  /** Set when one transaction carried several recipients of a domain: the index then stands for all of them. */
  readonly scope?: "domain"
}

/** An email to some of its recipients. */
interface Returning extends Omit<Bounced, "accountStart"> {
  readonly account_id: string
}

export const startOf = (account_id: string): string => account_id.slice(0, ACCOUNT_PREFIX.length + START_CHARACTERS)

/** `b-<token>-<mac>@<domain>`, all lower case, since servers on the way may fold the case of a local part. */
export const make = (
  secretKey: Uint8Array,
  domain: string,
  { account_id, emailId, recipientIndex, scope }: Returning,
): string => {
  if (!Number.isInteger(recipientIndex) || recipientIndex < 0 || recipientIndex >= RECIPIENT_INDEX_LIMIT) {
    throw new RangeError(`a recipient index is 0 to ${RECIPIENT_INDEX_LIMIT - 1}`)
  }
  const index = `${ALPHABET[recipientIndex >> 5]}${ALPHABET[recipientIndex & 31]}`
  const mark = scope === undefined ? "" : DOMAIN_MARK
  const token = emailId.slice(ID_PREFIX.length) + index + mark + startOf(account_id).slice(ACCOUNT_PREFIX.length)
  return `${PREFIX}${token}-${Mac.tag(secretKey, PURPOSE, token)}@${domain}`
}

/** Returns the recipient of a local part that was made with this key; none for a forged one. */
export const verify = (secretKey: Uint8Array, localPart: string): Option.Option<Bounced> => {
  const [, id, index, mark, start, tag] = LOCAL_PART.exec(localPart.toLowerCase()) ?? []
  if (id === undefined || index === undefined || mark === undefined || start === undefined || tag === undefined)
    return Option.none()
  if (!Mac.holds(secretKey, PURPOSE, id + index + mark + start, tag)) return Option.none()
  const recipientIndex = ALPHABET.indexOf(index.charAt(0)) * 32 + ALPHABET.indexOf(index.charAt(1))
  const bounced = { accountStart: `${ACCOUNT_PREFIX}${start}`, emailId: `${ID_PREFIX}${id}` as EmailId, recipientIndex }
  return Option.some(mark === "" ? bounced : { ...bounced, scope: "domain" })
}
