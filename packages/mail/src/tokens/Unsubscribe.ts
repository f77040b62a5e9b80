import type { Option } from "effect"
import * as MailToken from "./MailToken.ts"

/** Path of one-click unsubscribe links. */
export const PATH = "/unsubscribe/"

const PURPOSE = "waybill unsubscribe 2\0"

/** Token of an email to one recipient; its holder can unsubscribe that recipient, and no other. */
export const token = (secretKey: Uint8Array, mail: MailToken.OwnedMail): string =>
  MailToken.make(secretKey, PURPOSE, mail)

/** Returns the email of a token made under any of these keys; none for a forged one. */
export const verify = (secretKeys: ReadonlyArray<Uint8Array>, text: string): Option.Option<MailToken.OwnedMail> =>
  MailToken.verify(secretKeys, PURPOSE, text)
