import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as RecordedEvents from "@waybill/store/log/RecordedEvents"
import { randomBytes } from "node:crypto"
import { queued } from "../../support/history.ts"

const ID_BYTES = 10
const PAGE_BYTES = 4096

export interface Message {
  readonly id: Id.EmailId
  readonly event: Email.Event
  /** Fields of the event as JSON, for contenders without a schema. */
  readonly data: Readonly<Record<string, unknown>>
}

// Random bytes are drawn in pages, because a call costs more than the bytes.
let randomPage = new Uint8Array(0)
let offset = 0
const random = (): Uint8Array => {
  if (offset + ID_BYTES > randomPage.length) {
    randomPage = randomBytes(PAGE_BYTES)
    offset = 0
  }
  offset += ID_BYTES
  return randomPage.subarray(offset - ID_BYTES, offset)
}

const template = queued(Id.make("EmailId", 0, randomBytes(10)))
const templateData = RecordedEvents.encode(Email, template)

/** Returns another message at little cost, because making messages is not measured. */
export const message = (): Message => {
  const id = Id.make("EmailId", Date.now(), random())
  const own = { email_id: id, message_id: `<${id}@acme.test>` }
  return { id, event: { ...template, ...own }, data: { ...templateData, ...own } }
}
