import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Routing from "@waybill/domain/inbound/Routing"
import type * as Id from "@waybill/domain/values/Id"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as InboundRoutes from "@waybill/store/readmodels/InboundRoutes"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import * as ReceivedCalls from "@waybill/store/webhooks/ReceivedCalls"
import type { Work } from "@waybill/store/commit/Commit"
import { Effect, Result } from "effect"
import * as AcceptCommit from "../../../accept/AcceptCommit.ts"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as Forwarding from "../../../inbound/Forwarding.ts"
import * as InboundReception from "../../../inbound/InboundReception.ts"
import * as InboundRecords from "../../../inbound/InboundRecords.ts"
import * as NewIds from "../../../process/NewIds.ts"
import { findMail } from "./findMail.ts"
import type { EndpointCall } from "../../middleware/Handlers.ts"

const TYPE = "email.received"

/** Applies the routes of now to a mail, and calls its webhooks again. */
export const replayMail = Effect.fnUntraced(function* (call: EndpointCall<"inbound", "replay">) {
  const { account_id } = yield* CurrentKey
  const response = yield* RequestCommit.commit(call, prepare(call))
  if (response.headers["idempotent-replayed"] === undefined) yield* callAgain(account_id, call.params.id)
  return response
})

const prepare = Effect.fn("replayMail")(function* ({ params: { id }, request }: EndpointCall<"inbound", "replay">) {
  const { account_id } = yield* CurrentKey
  const mail = yield* findMail(id)
  const present = yield* InboundRecords.presenter(account_id, request.headers["host"])
  const routes = yield* InboundRoutes.list(account_id)
  const plan = Routing.plan(routes, InboundReception.factsOf(mail))
  const forwarding = yield* forwardsOf(account_id, id, plan)
  return {
    ...forwarding,
    streams: [{ aggregate: Inbound, id }, ...forwarding.streams],
    decide: (view) =>
      Result.flatMap(forwarding.decide(view), ({ answer: forwards, append }) => {
        const byRoute = new Map(plan.forwards.map(({ route_id }, nth) => [route_id, forwards[nth] ?? {}] as const))
        const applied = Routing.withForwards(plan.applied, byRoute)
        const { status } = plan
        return Result.map(
          Inbound.replay(view.now, { status, applied })(view.state<Inbound.State>(Inbound, id)),
          (events) => ({
            append: [{ aggregate: Inbound, id, events }, ...append],
            answer: present({ ...mail, status, routes: applied }),
          }),
        )
      }),
  } satisfies Work<unknown, InboundRefusal.InboundNotFound>
})

/** Forwards of the routes of now. The mail that a route forwarded before is forwarded once more, if it is still kept. */
const forwardsOf = Effect.fnUntraced(function* (account_id: Id.AccountId, id: Id.InboundId, plan: Routing.Plan) {
  const state = yield* (yield* EventStore).state(Inbound, { account_id, stream_id: id })
  if (state._tag !== "Received") return yield* new InboundRefusal.InboundNotFound()
  const isKept = plan.forwards.length === 0 || (yield* InboundContent.isKept(account_id, id))
  return yield* Forwarding.prepare(account_id, state.mail, plan.forwards, {
    sender: yield* AcceptCommit.currentSender,
    refusal: isKept ? undefined : "content_expired",
  })
})

const callAgain = Effect.fnUntraced(function* (account_id: Id.AccountId, id: Id.InboundId) {
  const state = yield* (yield* EventStore).state(Inbound, { account_id, stream_id: id })
  const webhooks = (yield* Webhooks.list(Livemode.liveAccountOf(account_id))).filter(
    ({ enabled, events, format, id: webhook_id }) =>
      enabled &&
      WebhookFormat.has(format, TYPE) &&
      Inbound.calls(state, webhook_id, events.includes("*") || events.includes(TYPE)),
  )
  const again = yield* Effect.forEach(webhooks, ({ id: webhook_id }) =>
    Effect.map(NewIds.newId("WebhookDeliveryId"), (id) => ({ webhook_id, id })),
  )
  yield* ReceivedCalls.repeat(account_id, id, again, yield* NewIds.now)
})
