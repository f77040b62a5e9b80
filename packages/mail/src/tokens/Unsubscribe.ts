import type { EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

/** Path of one-click unsubscribe links. */
export const PATH = "/unsubscribe/"

const ID_PREFIX = "msg_"
const PURPOSE = "waybill unsubscribe 1\0"
const TOKEN = new RegExp(`^([0-7][${Mac.ALPHABET}]{25})-([${Mac.ALPHABET}]{${Mac.TAG_CHARACTERS}})$`)

/** Token of an email to one recipient; its holder can unsubscribe that recipient, and no other. */
export const token = (secretKey: Uint8Array, emailId: EmailId): string => {
  const id = emailId.slice(ID_PREFIX.length)
  return `${id}-${Mac.tag(secretKey, PURPOSE, id)}`
}

/** Returns the email of a token made under any of these keys; none for a forged one. */
export const verify = (secretKeys: ReadonlyArray<Uint8Array>, text: string): Option.Option<EmailId> => {
  const [, id, tag] = TOKEN.exec(text.toLowerCase()) ?? []
  if (id === undefined || tag === undefined) return Option.none()
  return secretKeys.some((key) => Mac.holds(key, PURPOSE, id, tag))
    ? Option.some(`${ID_PREFIX}${id}` as EmailId)
    : Option.none()
}
