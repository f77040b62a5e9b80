import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import * as Mac from "./Mac.ts"

/** An email, and the account that it is of: with it, its database is known. */
export interface OwnedMail {
  readonly account_id: AccountId
  readonly email_id: EmailId
}

const ID = `[0-7][${Mac.ALPHABET}]{25}`
const FORM = new RegExp(`^(${ID})(${ID})-([${Mac.ALPHABET}]{${Mac.TAG_CHARACTERS}})$`)

/** `<ids>-<mac>`, all lower case, since systems on the way may fold the case. */
export const make = (secretKey: Uint8Array, purpose: string, { account_id, email_id }: OwnedMail): string => {
  const ids = `${email_id.slice("msg_".length)}${account_id.slice("acc_".length)}`
  return `${ids}-${Mac.tag(secretKey, purpose, ids)}`
}

/** Returns the email of a token made under any of these keys; none for a forged one. */
export const verify = (
  secretKeys: ReadonlyArray<Uint8Array>,
  purpose: string,
  text: string,
): Option.Option<OwnedMail> => {
  const [, email, account, tag] = FORM.exec(text.toLowerCase()) ?? []
  if (email === undefined || account === undefined || tag === undefined) return Option.none()
  return secretKeys.some((key) => Mac.holds(key, purpose, email + account, tag))
    ? Option.some({ email_id: `msg_${email}` as EmailId, account_id: `acc_${account}` as AccountId })
    : Option.none()
}
