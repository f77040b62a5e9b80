import type { EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

const ID_PREFIX = "msg_"
const PURPOSE = "waybill reply 1\0"
const LOCAL_PART = new RegExp(`^r-([0-7][${Mac.ALPHABET}]{25})-([${Mac.ALPHABET}]{${Mac.TAG_CHARACTERS}})$`, "u")

/** Local part of the address that answers to an email go to, all lower case, since servers on the way may fold the case. */
export const make = (secretKey: Uint8Array, emailId: EmailId): string => {
  const id = emailId.slice(ID_PREFIX.length)
  return `r-${id}-${Mac.tag(secretKey, PURPOSE, id)}`
}

/** Returns the email whose answers go to a local part that was made under any of these keys; none for a forged one. */
export const verify = (secretKeys: ReadonlyArray<Uint8Array>, localPart: string): Option.Option<EmailId> => {
  const [, id, tag] = LOCAL_PART.exec(localPart.toLowerCase()) ?? []
  if (id === undefined || tag === undefined) return Option.none()
  return secretKeys.some((key) => Mac.holds(key, PURPOSE, id, tag))
    ? Option.some(`${ID_PREFIX}${id}` as EmailId)
    : Option.none()
}
