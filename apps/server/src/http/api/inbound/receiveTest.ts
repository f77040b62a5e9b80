import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { TestPayload } from "@waybill/api/groups/Inbound"
import * as InboundState from "@waybill/domain/inbound/InboundState"
import * as Address from "@waybill/domain/values/Address"
import * as Compose from "@waybill/mail/compose/Compose"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import * as Content from "@waybill/store/content/Content"
import { Effect, Result } from "effect"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as InboundRecords from "../../../inbound/InboundRecords.ts"
import * as InboundReception from "../../../inbound/InboundReception.ts"
import * as NewIds from "../../../process/NewIds.ts"
import * as CallerReach from "../../middleware/CallerReach.ts"
import type { EndpointCall } from "../../middleware/Handlers.ts"

/** Records a mail that a test has made up, as if it had come over SMTP. */
export const receiveTest = (call: EndpointCall<"inbound", "test">) =>
  RequestCommit.commit(call, prepare(call.payload, call.request.headers["host"]))

const prepare = Effect.fn("receiveTest")(function* (payload: TestPayload, host: string | undefined) {
  const { account_id } = yield* CurrentKey
  const bytes = payload.raw === null ? yield* compose(payload) : Buffer.from(payload.raw, "base64")
  const { heading, sha256 } = yield* Effect.mapError(
    ReadInbound.arrival(bytes, account_id),
    () => new RequestRefusal.Overloaded({ budget: "parsing" }),
  )
  const to = recipientsOf(payload) ?? namedIn(heading)
  if (to.length === 0) return yield* invalid("to", "is required, because the header of the mail names no recipient")
  for (const address of to) yield* CallerReach.checkDomain(Address.domainOf(address))
  const from = payload.from?.address ?? heading.from?.address ?? ""
  const arrived = {
    account_id,
    envelope: { from, to, remote_ip: null, helo: null, tls: null },
    bytes,
    heading,
    auth: InboundState.NOT_JUDGED,
    sha256,
    days: Content.TEST_CONTENT_DAYS,
  }
  return yield* InboundReception.workOf(arrived, yield* InboundRecords.presenter(account_id, host))
})

const recipientsOf = ({ to }: TestPayload): ReadonlyArray<Address.Address> | undefined =>
  to === undefined ? undefined : [to].flat()

/** Recipients that the header names, each once. */
const namedIn = ({ cc, to }: InboundState.Heading): ReadonlyArray<Address.Address> => {
  const parsed = [...to, ...cc].flatMap(({ address }) => {
    const result = Address.parseAddress(address)
    return Result.isSuccess(result) ? [result.success] : []
  })
  return [...new Set(parsed)]
}

const invalid = (path: string, message: string) =>
  new RequestRefusal.InvalidRequest({ reason: "validation_failed", details: [{ path, message }] })

const compose = Effect.fnUntraced(function* (payload: TestPayload) {
  const { attachments, from, html, in_reply_to, subject, text } = payload
  const to = recipientsOf(payload)
  if (from === undefined) return yield* invalid("from", "is required without `raw`")
  if (to === undefined) return yield* invalid("to", "is required without `raw`")
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
  if (Result.isFailure(composed)) return yield* invalid(composed.failure.field, composed.failure.message)
  return Buffer.from(composed.success.bytes)
})
