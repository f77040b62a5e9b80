import type { Acknowledgement } from "@waybill/api/groups/Emails"
import type { EmailRecord, WithContent } from "@waybill/api/schemas/EmailRecord"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Schema } from "effect"
import type { DoorRequest, Route } from "../../Door.ts"
import * as RemoteFile from "../../RemoteFile.ts"
import * as Draft from "./Draft.ts"
import * as ResendMessage from "./ResendMessage.ts"
import * as Native from "../../Native.ts"
import { route } from "../../route.ts"
import * as Paging from "../Paging.ts"
import * as Tags from "../../../webhookFormats/ResendTags.ts"

const SEND = { endpoint: "emails.send", body: ResendMessage.Message } as const

const sending = function* ({ body, headers }: DoorRequest & { readonly body: ResendMessage.Message }) {
  const draft = yield* Draft.make(body)
  const budget = RemoteFile.budget()
  if (draft.files.length > 0) yield* Draft.check(draft, { ...budget })
  const { id } = yield* Native.post<Acknowledgement>("/v1/email/send", headers, yield* Draft.complete(draft, budget))
  return Native.ok({ id })
}
const send = route("POST /emails", SEND, sending)
/** Clients older than their first major version send to this path. */
const sendAsBefore = route("POST /email", SEND, sending)

/** Returns the word of Resend for what last happened to an email. */
const lastEvent = ({ clicks, opens, scheduled_at, status }: EmailRecord): string => {
  if (status === "queued") return scheduled_at === null ? "queued" : "scheduled"
  if (status === "deferred") return "delivery_delayed"
  if (status !== "delivered") return status
  return clicks > 0 ? "clicked" : opens > 0 ? "opened" : "delivered"
}

const orNull = (addresses: ReadonlyArray<string>) => (addresses.length === 0 ? null : addresses)

const fieldsOf = (record: EmailRecord) => ({
  id: record.id,
  message_id: record.message_id,
  from: record.from,
  to: record.to,
  cc: orNull(record.cc),
  bcc: orNull(record.bcc),
  reply_to: orNull(record.reply_to),
  subject: record.subject,
  created_at: record.created_at,
  scheduled_at: record.scheduled_at,
  last_event: lastEvent(record),
})

const get = route("GET /emails/:id", "logs.get", function* (_, { id }) {
  const record = yield* Native.get<typeof WithContent.Type>(Native.path`/v1/email/logs/${id}`)
  const { html = null, text = null } = record.content ?? {}
  return Native.ok({ object: "email", ...fieldsOf(record), html, text, tags: Tags.of(record.tags, record.metadata) })
})

const list = route("GET /emails", { endpoint: "logs.list", query: Paging.NAMES }, function* ({ query }) {
  const { data, has_more } = yield* Native.get<Native.List<EmailRecord>>(`/v1/email/logs${Paging.queryOf(query)}`)
  yield* Turn.next
  return Paging.listOf(data.map(fieldsOf), has_more)
})

const Reschedule = Schema.Struct({ scheduled_at: Schema.String })

const update = route(
  "PATCH /emails/:id",
  { endpoint: "emails.reschedule", body: Reschedule },
  function* ({ body }, { id }) {
    const scheduled_at = yield* ResendMessage.scheduledAt(body.scheduled_at)
    yield* Native.patch(Native.path`/v1/email/${id}`, { scheduled_at })
    return Native.ok({ object: "email", id })
  },
)

const cancel = route("POST /emails/:id/cancel", "emails.cancel", function* ({ headers }, { id }) {
  yield* Native.post(Native.path`/v1/email/${id}/cancel`, headers)
  return Native.ok({ object: "email", id })
})

export const routes: ReadonlyArray<Route> = [send, sendAsBefore, list, get, update, cancel]
