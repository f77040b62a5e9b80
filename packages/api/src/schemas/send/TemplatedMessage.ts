import * as Address from "@waybill/domain/values/Address"
import { Schema } from "effect"
import { EmailMessage } from "../EmailMessage.ts"
import { optional } from "../optional.ts"
import { TemplateChoice } from "./TemplateChoice.ts"

const BODY = "cannot be combined with `template`"
const none = Schema.optionalKey(Schema.Null.annotate({ message: BODY }))

/** A message that is made of a template. Its `subject`, `from` and `reply_to` go before those of the template. */
export const TemplatedMessage = Schema.Struct({
  ...EmailMessage.fields,
  from: optional(Address.Mailbox, "That of the template by default"),
  subject: optional(EmailMessage.fields.subject, "That of the template by default"),
  html: none,
  text: none,
  template: TemplateChoice,
}).annotate({ identifier: "TemplatedMessage" })
export type TemplatedMessage = typeof TemplatedMessage.Type
