import type { ReplyMessage } from "@waybill/api/schemas/EmailMessage"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Reply from "@waybill/domain/inbound/Reply"
import type * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { View } from "@waybill/store/commit/Commit"
import { Effect, Result } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as AcceptCommit from "../../../accept/AcceptCommit.ts"
import * as Draft from "../../../accept/Draft.ts"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as Warnings from "../../../accept/Warnings.ts"
import * as NewIds from "../../../process/NewIds.ts"
import { findMail } from "./findMail.ts"

interface Call extends RequestCommit.Call {
  readonly params: { readonly id: Id.InboundId }
  readonly payload: ReplyMessage
}

/** Sends an answer to a received mail, as any email, and records it with the mail in the same commit. */
export const replyTo = Effect.fnUntraced(function* (call: Call) {
  const inbound_id = call.params.id
  const mail = yield* findMail(inbound_id)
  const [first, ...others] = Reply.recipientsOf(mail)
  if (first === undefined) return yield* new InboundRefusal.NoReplyAddress()
  const written = Reply.headersOf(mail)
  const names = new Set(Object.keys(written).map((name) => name.toLowerCase()))
  const given = Object.entries(call.payload.headers ?? {}).filter(([name]) => !names.has(name.toLowerCase()))
  const message = {
    ...call.payload,
    to: [first, ...others],
    subject: Reply.subjectOf(mail),
    headers: { ...Object.fromEntries(given), ...written },
  }
  const { at, id } = yield* NewIds.newEmail
  const accepting = AcceptCommit.acceptDraft(
    yield* AcceptCommit.currentSender,
    id,
    Draft.fromMessage(message),
    at,
    AcceptCommit.queued,
  )
  const work = {
    ...accepting,
    streams: [...accepting.streams, { aggregate: Inbound, id: inbound_id }],
    decide: (view: View) =>
      Result.flatMap(accepting.decide(view), (accepted) =>
        Result.map(
          Inbound.reply(view.now as Timestamp.Timestamp, id)(view.state<Inbound.State>(Inbound, inbound_id)),
          (events) => ({ ...accepted, append: [...accepted.append, { aggregate: Inbound, id: inbound_id, events }] }),
        ),
      ),
  }
  const { body, headers } = yield* RequestCommit.commit(call, Effect.succeed(work), RequestCommit.READY)
  return HttpApiSchema.withHeaders({ body, headers: { ...headers, ...Warnings.ofMessage(call.payload) } })
})
