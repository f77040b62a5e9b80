import type { ForwardingPayload } from "@waybill/api/groups/Inbound"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import type * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import { Effect, Result } from "effect"
import * as AcceptCommit from "../../../accept/AcceptCommit.ts"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as ForwardLoops from "../../../inbound/ForwardLoops.ts"
import * as Forwarding from "../../../inbound/Forwarding.ts"
import * as NewIds from "../../../process/NewIds.ts"
import { findMail } from "./findMail.ts"

interface Call extends RequestCommit.Call {
  readonly params: { readonly id: Id.InboundId }
  readonly payload: ForwardingPayload
}

/** Sends a received mail on, as any email, and records it with the mail in the same commit. */
export const forwardMail = (call: Call) => RequestCommit.commit(call, prepare(call))

const prepare = Effect.fn("forwardMail")(function* ({ params: { id: inbound_id }, payload }: Call) {
  yield* findMail(inbound_id)
  const sender = yield* AcceptCommit.currentSender
  const { account_id } = sender
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
  const { at, id } = yield* NewIds.newEmail
  const domain = yield* Forwarding.senderOf(account_id, state.mail.domain)
  const draft = Forwarding.draftOf(state.mail, targets, domain)
  const accepting = AcceptCommit.acceptDraft(sender, id, draft, at, AcceptCommit.queued)
  return {
    ...accepting,
    streams: [...accepting.streams, { aggregate: Inbound, id: inbound_id }],
    decide: (view) =>
      Result.flatMap(accepting.decide(view), (accepted) =>
        Result.map(
          Inbound.forward(view.now as Timestamp.Timestamp, { email_id: id })(
            view.state<Inbound.State>(Inbound, inbound_id),
          ),
          (events) => ({ ...accepted, append: [...accepted.append, { aggregate: Inbound, id: inbound_id, events }] }),
        ),
      ),
  } satisfies typeof accepting extends RequestCommit.Work<infer A, infer E>
    ? RequestCommit.Work<A, E | InboundRefusal.InboundNotFound>
    : never
})
