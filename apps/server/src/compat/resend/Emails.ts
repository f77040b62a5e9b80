import type { Acknowledgement } from "@waybill/api/groups/Emails"
import type { BatchAnswer } from "@waybill/api/schemas/Batch"
import type { EmailRecord, WithContent } from "@waybill/api/schemas/EmailRecord"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect, Result, Schema } from "effect"
import { decodeBody } from "../decodeBody.ts"
import { NativeApi, NativeError, type PlainSend } from "../Door.ts"
import { nativePath } from "../nativePath.ts"
import * as RemoteFile from "../RemoteFile.ts"
import type { Route } from "../Routes.ts"
import * as Message from "./Message.ts"
import * as Native from "../Native.ts"
import * as Paging from "./Paging.ts"
import * as Tags from "./Tags.ts"

const send: Route = {
  method: "POST",
  path: "/emails",
  bucket: "send",
  scope: "email:send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const native = yield* Message.toNative(yield* decodeBody(Message.Message, body), RemoteFile.budget())
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

export const plainSend: PlainSend = {
  path: "/compat/resend/emails",
  translate: (sent) => {
    const body = Message.plainToNative(sent)
    return body === undefined ? undefined : { body, answerOf: ({ id }) => ({ status: 200, body: { id } }) }
  },
}

/** Takes a bare array. In permissive mode the emails that were refused are listed by index. */
const batch: Route = {
  method: "POST",
  path: "/emails/batch",
  bucket: "send",
  scope: "email:send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const mode = yield* validationOf(headers["x-batch-validation"])
    const budget = RemoteFile.budget()
    const translated = yield* Effect.forEach(yield* decodeBody(Schema.Array(Schema.Unknown), body), (message, index) =>
      decodeBody(Message.Message, message).pipe(
        Effect.flatMap((decoded) => Message.toNative(decoded, budget)),
        Effect.map((email) => ({ email, index })),
        Effect.mapError(({ details }) => ({ index, refusal: inBatch(index, details) })),
        Effect.result,
      ),
    )
    const emails = translated.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))
    const failures = translated.flatMap((each) => (Result.isFailure(each) ? [each.failure] : []))
    if (mode === "all_or_nothing" && failures.length > 0) {
      const details = failures.flatMap(({ refusal }) => refusal.details)
      return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
    }
    const refused = failures.map(({ index, refusal }) => ({ index, message: refusal.message }))
    const { call } = yield* NativeApi
    const answers =
      emails.length === 0 && refused.length > 0
        ? []
        : yield* call({
            method: "POST",
            path: "/v1/email/send/batch",
            body: { emails: emails.map(({ email }) => email), mode },
            headers: Native.idempotency(headers),
          }).pipe(
            Effect.mapError(asBareArray),
            Effect.map((sent) => (sent.body as BatchAnswer).data),
          )
    const data = answers.flatMap(({ id }) => (id === null ? [] : [{ id }]))
    const errors = answers.flatMap(({ error, index }) =>
      error === null ? [] : [{ index: emails[index]?.index ?? index, message: error.message }],
    )
    const all = [...refused, ...errors].sort((a, b) => a.index - b.index)
    return { status: 200, body: mode === "permissive" ? { data, errors: all } : { data } }
  }),
}

const inBatch = (index: number, details: RequestRefusal.InvalidRequest["details"]) =>
  new RequestRefusal.InvalidRequest({
    reason: "validation_failed",
    details: details.map(({ message, path }) => ({ path: `[${index}]${path === "" ? "" : `.${path}`}`, message })),
  })

/** Our own batch has its emails in a field. */
const asBareArray = ({ error, headers, status }: NativeError): NativeError => {
  const details = error.details.map(({ message, path }) => ({ path: path.replace(/^emails(?=\[)/u, ""), message }))
  return new NativeError({ status, error: { ...error, details }, headers })
}

const Validation = Schema.Literals(["strict", "permissive"])

const validationOf = (header: string | undefined) =>
  Effect.map(
    decodeBody(Schema.Struct({ "x-batch-validation": Validation }), { "x-batch-validation": header ?? "strict" }),
    (decoded) => (decoded["x-batch-validation"] === "strict" ? "all_or_nothing" : "permissive"),
  )

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
  handle: Effect.fnUntraced(function* (_, { id }) {
    const { call } = yield* NativeApi
    const found = yield* call({ method: "GET", path: nativePath`/v1/email/logs/${id}` })
    const record = found.body as typeof WithContent.Type
    const { html = null, text = null } = record.content ?? {}
    const tags = record.tags.map(Tags.pairOf)
    return { status: 200, body: { object: "email", ...fieldsOf(record), html, text, tags } }
  }),
}

const list: Route = {
  method: "GET",
  path: "/emails",
  query: Paging.NAMES,
  bucket: "logs",
  handle: Effect.fnUntraced(function* ({ query }) {
    const { call } = yield* NativeApi
    const found = yield* call({ method: "GET", path: `/v1/email/logs${Paging.queryOf(query)}` })
    const { data, has_more } = found.body as { readonly data: ReadonlyArray<EmailRecord>; readonly has_more: boolean }
    return { status: 200, body: { object: "list", has_more, data: data.map(fieldsOf) } }
  }),
}

const Reschedule = Schema.Struct({ scheduled_at: Schema.String })

const update: Route = {
  method: "PATCH",
  path: "/emails/:id",
  scope: "email:send",
  handle: Effect.fnUntraced(function* ({ body }, { id }) {
    const scheduled_at = yield* Message.scheduledAt((yield* decodeBody(Reschedule, body)).scheduled_at)
    const { call } = yield* NativeApi
    yield* call({ method: "PATCH", path: nativePath`/v1/email/${id}`, body: { scheduled_at } })
    return { status: 200, body: { object: "email", id } }
  }),
}

const cancel: Route = {
  method: "POST",
  path: "/emails/:id/cancel",
  scope: "email:send",
  handle: Effect.fnUntraced(function* ({ headers }, { id }) {
    const { call } = yield* NativeApi
    yield* call({ method: "POST", path: nativePath`/v1/email/${id}/cancel`, headers: Native.idempotency(headers) })
    return { status: 200, body: { object: "email", id } }
  }),
}

export const routes: ReadonlyArray<Route> = [send, batch, list, get, update, cancel]
