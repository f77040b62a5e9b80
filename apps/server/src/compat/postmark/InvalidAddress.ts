import { MAX_COPIES } from "@waybill/api/schemas/EmailMessage"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as AddressList from "./AddressList.ts"
import type * as PostmarkMessage from "./PostmarkMessage.ts"

const PLACE = /^(From|To|Cc|Bcc)(?:\[(\d{1,3})\])?$/u

/** Maximum characters of an address that a message repeats. */
const MAX_CHARS = 320

type Field = "Bcc" | "Cc" | "From" | "To"

/** Tells wrong addresses in Postmark's words, from which its clients read the address and the field. Each list is read once. */
export const told = (message: Pick<PostmarkMessage.Message, Field>, details: ReadonlyArray<Detail>) => {
  const lists = new Map<string, ReadonlyArray<string>>()
  const addressesOf = (name: Field): ReadonlyArray<string> => {
    const list = message[name] ?? ""
    const addresses = lists.get(name) ?? (name === "From" ? [list] : AddressList.split(list, MAX_COPIES))
    lists.set(name, addresses)
    return addresses
  }
  return details.map((detail): Detail => {
    const [, name, index] = PLACE.exec(detail.path) ?? []
    if (name === undefined) return detail
    const addresses = addressesOf(name as Field)
    // Without an index, a list of several is refused as a whole.
    if (index === undefined && addresses.length !== 1) return detail
    const address = addresses[Number(index ?? 0)] ?? ""
    const sentence = `Invalid '${name}' address: '${address.slice(0, MAX_CHARS)}'. \`${detail.path}\` ${detail.message}`
    return { ...detail, sentence }
  })
}
