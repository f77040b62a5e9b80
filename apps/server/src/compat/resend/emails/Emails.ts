import type { Acknowledgement } from "@waybill/api/groups/Emails"
import type { EmailRecord, WithContent } from "@waybill/api/schemas/EmailRecord"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect, Schema } from "effect"
import { decodeBody } from "../../decodeBody.ts"
import { NativeApi, type Route } from "../../Door.ts"
import { nativePath } from "../../nativePath.ts"
import * as RemoteFile from "../../RemoteFile.ts"
import * as Draft from "./Draft.ts"
import * as ResendMessage from "./ResendMessage.ts"
import * as Native from "../../Native.ts"
import * as Paging from "../Paging.ts"
import * as Tags from "../../../webhookFormats/ResendTags.ts"

const send: Route = {
  method: "POST",
  path: "/emails",
  endpoint: "emails.send",
  body: ResendMessage.Message,
  bucket: "send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const draft = yield* Draft.make(yield* decodeBody(ResendMessage.Message, body))
    const budget = RemoteFile.budget()
    if (draft.files.length > 0) yield* Draft.check(draft, { ...budget })
    const native = yield* Draft.complete(draft, budget)
    const { call } = yield* NativeApi
    const sent = yield* call({
      method: "POST",
      path: "/v1/email/send",
      body: native,
      headers: Native.idempotency(headers),
    })
    return { status: 200, body: { id: (sent.body as Acknowledgement).id } }
  }),
}

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

const get: Route = {
  method: "GET",
  path: "/emails/:id",
  endpoint: "logs.get",
  handle: Effect.fnUntraced(function* (_, { id }) {
    const { call } = yield* NativeApi
    const found = yield* call({ method: "GET", path: nativePath`/v1/email/logs/${id}` })
    const record = found.body as typeof WithContent.Type
    const { html = null, text = null } = record.content ?? {}
    const tags = Tags.of(record.tags, record.metadata)
    return { status: 200, body: { object: "email", ...fieldsOf(record), html, text, tags } }
  }),
}

const list: Route = {
  method: "GET",
  path: "/emails",
  endpoint: "logs.list",
  query: Paging.NAMES,
  bucket: "logs",
  handle: Effect.fnUntraced(function* ({ query }) {
    const { call } = yield* NativeApi
    const found = yield* call({ method: "GET", path: `/v1/email/logs${Paging.queryOf(query)}` })
    yield* Turn.next
    const { data, has_more } = found.body as { readonly data: ReadonlyArray<EmailRecord>; readonly has_more: boolean }
    return { status: 200, body: { object: "list", has_more, data: data.map(fieldsOf) } }
  }),
}

const Reschedule = Schema.Struct({ scheduled_at: Schema.String })

const update: Route = {
  method: "PATCH",
  path: "/emails/:id",
  endpoint: "emails.reschedule",
  body: Reschedule,
  handle: Effect.fnUntraced(function* ({ body }, { id }) {
    const scheduled_at = yield* ResendMessage.scheduledAt((yield* decodeBody(Reschedule, body)).scheduled_at)
    const { call } = yield* NativeApi
    yield* call({ method: "PATCH", path: nativePath`/v1/email/${id}`, body: { scheduled_at } })
    return { status: 200, body: { object: "email", id } }
  }),
}

const cancel: Route = {
  method: "POST",
  path: "/emails/:id/cancel",
  endpoint: "emails.cancel",
  handle: Effect.fnUntraced(function* ({ headers }, { id }) {
    const { call } = yield* NativeApi
    yield* call({ method: "POST", path: nativePath`/v1/email/${id}/cancel`, headers: Native.idempotency(headers) })
    return { status: 200, body: { object: "email", id } }
  }),
}

/** Clients older than their first major version send to this path. */
const sendAsBefore: Route = { ...send, path: "/email" }

export const routes: ReadonlyArray<Route> = [send, sendAsBefore, list, get, update, cancel]
