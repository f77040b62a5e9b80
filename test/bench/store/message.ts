import * as Email from "@waybill/domain/Email"
import * as Id from "@waybill/domain/Id"
import { encode } from "@waybill/store/Recorded"
import { randomBytes } from "node:crypto"
import { queued } from "../../support/history.ts"

export interface Message {
  readonly id: Id.EmailId
  readonly event: Email.Event
  /** The event's fields as JSON keeps them, for those who bring no schema. */
  readonly data: Readonly<Record<string, unknown>>
}

const template = queued(Id.make("EmailId", 0, randomBytes(10)))
const templateData = encode(Email, template)

/** Another message, at next to no cost: making them is not what is measured. */
export const message = (): Message => {
  const id = Id.make("EmailId", Date.now(), randomBytes(10))
  const own = { email_id: id, message_id: `<${id}@acme.test>` }
  return { id, event: { ...template, ...own }, data: { ...templateData, ...own } }
}
