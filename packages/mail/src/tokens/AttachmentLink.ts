import type { AccountId, EmailId, InboundId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

/** Path of the links that download an attachment without a key. */
export const PATH = "/attachments/"

const PURPOSE = "waybill attachment 2\0"
const TOKEN = new RegExp(
  `^((?:inb_)?[0-7][${Mac.ALPHABET}]{25})-([0-7][${Mac.ALPHABET}]{25})-([0-9]{1,4})-([0-9]{1,12})-([${Mac.ALPHABET}]{${Mac.TAG_CHARACTERS}})$`,
  "u",
)

/** The place that stands for the whole of a received mail, as it came. */
export const WHOLE = 9_999

/** One attachment of a sent or received mail, by its place. */
export interface AttachmentPlace {
  readonly account_id: AccountId
  readonly mail_id: EmailId | InboundId
  readonly nth: number
}

/** Token whose holder may download one attachment until a time in milliseconds. */
export const token = (
  secretKey: Uint8Array,
  { account_id, mail_id, nth }: AttachmentPlace,
  expires_ms: number,
): string => {
  const text = `${mail_id.replace(/^msg_/u, "")}-${account_id.slice("acc_".length)}-${nth}-${Math.floor(expires_ms / 1_000)}`
  return `${text}-${Mac.tag(secretKey, PURPOSE, text)}`
}

/** Returns the attachment of a token made under any of these keys; none for a forged or expired one. */
export const verify = (
  secretKeys: ReadonlyArray<Uint8Array>,
  text: string,
  now_ms: number,
): Option.Option<AttachmentPlace> => {
  const [, id, account, nth, seconds, tag] = TOKEN.exec(text) ?? []
  if (id === undefined || tag === undefined || Number(seconds) * 1_000 <= now_ms) return Option.none()
  return secretKeys.some((key) => Mac.holds(key, PURPOSE, `${id}-${account}-${nth}-${seconds}`, tag))
    ? Option.some({
        account_id: `acc_${account}` as AccountId,
        mail_id: (id.startsWith("inb_") ? id : `msg_${id}`) as EmailId | InboundId,
        nth: Number(nth),
      })
    : Option.none()
}
