import { CurrentKey } from "@waybill/api/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { TestPayload } from "@waybill/api/groups/Inbound"
import * as InboundState from "@waybill/domain/inbound/InboundState"
import * as Address from "@waybill/domain/values/Address"
import * as Compose from "@waybill/mail/compose/Compose"
import * as ReadInbound from "@waybill/mail/incoming/InboundMail"
import * as Content from "@waybill/store/content/Content"
import { Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as InboundRecords from "../../../inbound/InboundRecords.ts"
import * as InboundReception from "../../../inbound/InboundReception.ts"
import * as NewIds from "../../../process/NewIds.ts"
import * as CallerReach from "../../middleware/CallerReach.ts"

interface Call extends RequestCommit.Call {
  readonly payload: TestPayload
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Records a mail that a test has made up, as if it had come over SMTP. */
export const receiveTest = (call: Call) =>
  RequestCommit.commitPrepared(call, prepare(call.payload, call.request.headers["host"]))

const prepare = Effect.fn("receiveTest")(function* (payload: TestPayload, host: string | undefined) {
  const { account_id } = yield* CurrentKey
  const to = typeof payload.to === "string" ? [payload.to] : payload.to
  for (const address of to) yield* CallerReach.checkDomain(Address.domainOf(address))
  const bytes = yield* bytesOf(payload, to)
  const heading = yield* Effect.mapError(
    ReadInbound.heading(bytes, account_id),
    () => new RequestRefusal.Overloaded({ budget: "parsing" }),
  )
  const envelope = { from: payload.from.address, to, remote_ip: null, helo: null, tls: null }
  const arrived = {
    account_id,
    envelope,
    bytes,
    heading,
    auth: InboundState.NOT_JUDGED,
    days: Content.TEST_CONTENT_DAYS,
  }
  return yield* InboundReception.workOf(arrived, yield* InboundRecords.presenter(account_id, host))
})

const bytesOf = Effect.fnUntraced(function* (payload: TestPayload, to: ReadonlyArray<Address.Address>) {
  const { attachments, from, html, in_reply_to, raw, subject, text } = payload
  if (raw !== null) return Buffer.from(raw, "base64")
  const { at, id } = yield* NewIds.newEmail
  const composed = Compose.compose({
    id,
    createdAt: at,
    from,
    to: to.map((address) => ({ address })),
    subject: subject ?? "",
    html: html ?? undefined,
    text: text ?? undefined,
    headers: in_reply_to === null ? {} : { "In-Reply-To": in_reply_to, References: in_reply_to },
    attachments: (attachments ?? []).map(({ content, content_id, content_type, filename }) => ({
      filename,
      content: Buffer.from(content, "base64"),
      contentType: content_type ?? undefined,
      contentId: content_id ?? undefined,
    })),
  })
  if (Result.isFailure(composed))
    return yield* new RequestRefusal.InvalidRequest({
      reason: "validation_failed",
      details: [{ path: composed.failure.field, message: composed.failure.message }],
    })
  return Buffer.from(composed.success.bytes)
})
