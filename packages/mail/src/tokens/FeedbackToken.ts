import type { EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

/** Name of the header that comes back with a mail that somebody complains about. */
export const HEADER = "X-Waybill-Id"

const ID_PREFIX = "msg_"
const FORM = new RegExp(`^([0-7][${Mac.ALPHABET}]{25})-([${Mac.ALPHABET}]{${Mac.TAG_CHARACTERS}})$`)
/** Separates these tags from other uses of the same key. */
const PURPOSE = "waybill feedback 1\0"

/** `<id>-<mac>`, all lower case, since systems on the way may fold the case. */
export const make = (secretKey: Uint8Array, emailId: EmailId): string => {
  const token = emailId.slice(ID_PREFIX.length)
  return `${token}-${Mac.tag(secretKey, PURPOSE, token)}`
}

/** Returns the email of a token that was made with this key; none for a forged one. */
export const verify = (secretKey: Uint8Array, text: string): Option.Option<EmailId> => {
  const [, id, tag] = FORM.exec(text.trim().toLowerCase()) ?? []
  return id !== undefined && tag !== undefined && Mac.holds(secretKey, PURPOSE, id, tag)
    ? Option.some(`${ID_PREFIX}${id}` as EmailId)
    : Option.none()
}
