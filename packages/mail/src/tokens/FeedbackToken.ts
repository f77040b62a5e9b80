import type { Option } from "effect"
import * as MailToken from "./MailToken.ts"

/** Name of the header that comes back with a mail that somebody complains about. */
export const HEADER = "X-Waybill-Id"

/** Separates these tokens from other uses of the same key. */
const PURPOSE = "waybill feedback 2\0"

export const make = (secretKey: Uint8Array, mail: MailToken.OwnedMail): string =>
  MailToken.make(secretKey, PURPOSE, mail)

export const verify = (secretKeys: ReadonlyArray<Uint8Array>, text: string): Option.Option<MailToken.OwnedMail> =>
  MailToken.verify(secretKeys, PURPOSE, text.trim())
