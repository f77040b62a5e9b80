import * as Inbound from "@waybill/domain/inbound/Inbound"
import type * as Id from "@waybill/domain/values/Id"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Reply from "@waybill/domain/inbound/Reply"
import type { View } from "@waybill/store/commit/Commit"
import { Effect, Result } from "effect"
import * as Draft from "../../../accept/Draft.ts"
import { sendOne } from "../emails/sendOne.ts"
import { findMail } from "./findMail.ts"
import type { EndpointCall } from "../../middleware/Handlers.ts"

/** Sends an answer to a received mail, as any email, and records it with the mail in the same commit. */
export const replyTo = Effect.fnUntraced(function* (call: EndpointCall<"inbound", "reply">) {
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
  const record = (view: View, id: Id.EmailId) =>
    Inbound.reply(view.now, id)(view.state<Inbound.State>(Inbound, inbound_id))
  const draft = { ...Draft.fromMessage(message), source: { aggregate: Inbound, id: inbound_id, record } }
  return yield* sendOne(call, [Result.succeed(draft)])
})
