import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import type * as Id from "@waybill/domain/values/Id"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import type { View } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import { Effect, Result } from "effect"
import * as ForwardLoops from "../../../inbound/ForwardLoops.ts"
import * as Forwarding from "../../../inbound/Forwarding.ts"
import { sendOne } from "../emails/sendOne.ts"
import { findMail } from "./findMail.ts"
import type { EndpointCall } from "../../middleware/Handlers.ts"

/** Sends a received mail on, as any email, and records it with the mail in the same commit. */
export const forwardMail = (call: EndpointCall<"inbound", "forward">) => sendOne(call, prepare(call))

const prepare = Effect.fn("forwardMail")(function* ({
  params: { id: inbound_id },
  payload,
}: EndpointCall<"inbound", "forward">) {
  yield* findMail(inbound_id)
  const { account_id } = yield* CurrentKey
  const state = yield* (yield* EventStore).state(Inbound, { account_id, stream_id: inbound_id })
  if (state._tag !== "Received") return yield* new InboundRefusal.InboundNotFound()
  if (Forwarding.isMadeUp(account_id, state.mail)) return yield* new InboundRefusal.MadeUp()
  if (!(yield* InboundContent.isKept(account_id, inbound_id))) return yield* new InboundRefusal.ContentExpired()
  const targets = [...new Set([payload.to].flat())]
  const origins = new Set(state.mail.envelope.to.map((address) => address.toLowerCase()))
  const known = ForwardLoops.nothingKnown()
  for (const address of targets)
    if (yield* ForwardLoops.leadsBack(address, (receiver) => origins.has(receiver.address.toLowerCase()), known))
      return yield* new InboundRefusal.ForwardLoop({ address })
  const domain = yield* Forwarding.senderOf(account_id, state.mail.domain)
  const record = (view: View, email_id: Id.EmailId) =>
    Inbound.forward(view.now, { email_id })(view.state<Inbound.State>(Inbound, inbound_id))
  const source = { aggregate: Inbound, id: inbound_id, record }
  return [Result.succeed({ ...Forwarding.draftOf(state.mail, targets, domain), source })]
})
