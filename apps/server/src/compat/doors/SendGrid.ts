import { type Absence, makeDoor } from "../makeDoor.ts"
import * as Batches from "../sendgrid/Batches.ts"
import { errorOf } from "../sendgrid/errorOf.ts"
import * as MailSend from "../sendgrid/MailSend.ts"
import * as SendGridTemplates from "../sendgrid/templates/SendGridTemplates.ts"

const DESIGNS = "Waybill has no designs. Templates are at /v3/templates."
const LISTS = "Waybill has no contacts or lists. Keep recipients in your own database and send to them."
const UNSUBSCRIBES = "Waybill has suppressions in another form, at /v1/suppressions."

/** Paths that SendGrid's packages call and Waybill has no meaning for. */
const ABSENT: ReadonlyArray<Absence> = [
  ["/v3/designs", DESIGNS],
  ["/v3/marketing", LISTS],
  ["/v3/contactdb", LISTS],
  ["/v3/asm", UNSUBSCRIBES],
  ["/v3/suppression", UNSUBSCRIBES],
  ["/v3/stats", "Waybill has no statistics in this form. They are at GET /v1/stats."],
  ["/v3/messages", "Waybill has its log of emails in another form, at GET /v1/email/logs."],
  ["/v3/api_keys", "Waybill has API keys in another form, at /v1/api-keys."],
  ["/v3/whitelabel", "Waybill has domains in another form, at /v1/domains."],
  ["/v3/verified_senders", "Waybill has no verified senders: add the domain at /v1/domains and send from it."],
  ["/v3/user/webhooks", "Waybill has webhooks in another form, at /v1/webhooks."],
  ["/v3/validations", "Waybill has no validation of addresses."],
]

/** The API of SendGrid that sends, as the npm package `@sendgrid/mail` calls it. */
export const door = makeDoor({
  prefix: "/compat/sendgrid",
  hasUuids: false,
  authorization: ({ authorization }) => authorization,
  routes: [...MailSend.routes, ...Batches.routes, ...SendGridTemplates.routes],
  absent: ABSENT,
  errorOf,
})
