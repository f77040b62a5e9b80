import * as Acceptance from "@waybill/domain/email/Acceptance"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as AddressList from "./AddressList.ts"
import type * as PostmarkMessage from "./PostmarkMessage.ts"

const PLACE = /^(From|To|Cc|Bcc)(?:\[(\d{1,3})\])?$/u

/** Maximum characters of an address that a message repeats. */
const MAX_CHARS = 320

/** Tells a wrong address in Postmark's words, from which its clients read the address and the field. */
export const told = (message: Pick<PostmarkMessage.Message, "Bcc" | "Cc" | "From" | "To">, detail: Detail): Detail => {
  const [, name, index] = PLACE.exec(detail.path) ?? []
  if (name === undefined) return detail
  const list = message[name as "Bcc" | "Cc" | "From" | "To"] ?? ""
  const addresses = name === "From" ? [list] : AddressList.split(list, Acceptance.MAX_TO)
  // Without an index, a list of several is refused as a whole.
  if (index === undefined && addresses.length !== 1) return detail
  const address = addresses[Number(index ?? 0)] ?? ""
  const sentence = `Invalid '${name}' address: '${address.slice(0, MAX_CHARS)}'.`
  return { path: "", message: `${sentence} \`${detail.path}\` ${detail.message}` }
}
