import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import { encode } from "@waybill/store/commit/RecordedEvents"
import { randomBytes } from "node:crypto"
import { queued } from "../../support/history.ts"

const ID_BYTES = 10
const PAGE_BYTES = 4096

export interface Message {
  readonly id: Id.EmailId
  readonly event: Email.Event
  /** The event's fields as JSON keeps them, for those who bring no schema. */
  readonly data: Readonly<Record<string, unknown>>
}

// Drawn by the page: the call costs more than the bytes.
let page = new Uint8Array(0)
let drawn = 0
const random = (): Uint8Array => {
  if (drawn + ID_BYTES > page.length) {
    page = randomBytes(PAGE_BYTES)
    drawn = 0
  }
  drawn += ID_BYTES
  return page.subarray(drawn - ID_BYTES, drawn)
}

const template = queued(Id.make("EmailId", 0, randomBytes(10)))
const templateData = encode(Email, template)

/** Another message, at next to no cost: making them is not what is measured. */
export const message = (): Message => {
  const id = Id.make("EmailId", Date.now(), random())
  const own = { email_id: id, message_id: `<${id}@acme.test>` }
  return { id, event: { ...template, ...own }, data: { ...templateData, ...own } }
}
