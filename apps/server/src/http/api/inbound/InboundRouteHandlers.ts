import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type { ActionPayload, MatchPayload, RouteRecord, TrialPayload } from "@waybill/api/groups/InboundRoutes"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Route from "@waybill/domain/inbound/Route"
import type * as RouteState from "@waybill/domain/inbound/RouteState"
import * as Routing from "@waybill/domain/inbound/Routing"
import type { AccountId } from "@waybill/domain/values/Id"
import * as InboundRoutes from "@waybill/store/readmodels/InboundRoutes"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as ForwardLoops from "../../../inbound/ForwardLoops.ts"
import * as NewIds from "../../../process/NewIds.ts"
import * as Records from "../../../web/Records.ts"
import { found } from "../../../web/found.ts"
import * as Handlers from "../../middleware/Handlers.ts"

export const InboundRouteHandlers = HttpApiBuilder.group(Api, "inboundRoutes", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }) {
      return Records.completeList((yield* InboundRoutes.list(account_id)).map(recordOf))
    }),
    get: Handlers.withKey(function* ({ account_id }, { params }) {
      const route = InboundRoutes.find(account_id, params.id)
      return recordOf(yield* found(route, () => new InboundRefusal.RouteNotFound()))
    }),
    create: Handlers.commits(function* ({ account_id }, call) {
      const { action, enabled, match, position, stop } = call.payload
      const id = yield* NewIds.newId("InboundRouteId")
      const settings: RouteState.RouteSettings = {
        match: matchOf(match),
        action: yield* actionOf(account_id, action),
        position: position ?? (yield* nextPosition(account_id)),
        enabled: enabled ?? true,
        stop: stop ?? false,
      }
      yield* refuseLoop(account_id, settings)
      return workOnStream(
        Route,
        id,
        (now, { facts }) => Route.create(now, id, settings, facts.countOf(account_id, "inbound_route")),
        present,
        { isNew: true, needs: { countOf: "inbound_route" } },
      )
    }),
    update: Handlers.withKey(function* ({ account_id }, { params, payload: { action, match, ...others } }) {
      const change: Partial<RouteState.RouteSettings> = {
        ...others,
        ...(match === null ? {} : { match: matchOf(match) }),
        ...(action === undefined ? {} : { action: yield* actionOf(account_id, action) }),
      }
      const before = yield* InboundRoutes.find(account_id, params.id)
      if (Option.isSome(before)) yield* refuseLoop(account_id, { ...before.value, ...change })
      return yield* RequestCommit.commitRepeatable(
        workOnStream(Route, params.id, (now) => Route.update(now, change), present),
      )
    }),
    remove: ({ params }) => Handlers.remove("inbound_route", Route, params.id, Route.remove),
    test: (call) => RequestCommit.commitRows(call, tryWith(call.payload)),
  }),
)

/** Says which routes apply to a mail that is only described. */
const tryWith = Effect.fnUntraced(function* ({ from, subject, to, verdict }: TrialPayload) {
  const { account_id } = yield* CurrentKey
  const routes = yield* InboundRoutes.list(account_id)
  const facts: Routing.Facts = { to: [to].flat(), from, subject: subject ?? "", verdict: verdict ?? "none" }
  return {
    object: "inbound_route_test" as const,
    status: Routing.plan(routes, facts).status,
    routes: Routing.choose(routes, facts).map(({ applies, reason, route }) => ({
      id: route.route_id,
      action: route.action.type,
      applies,
      reason,
    })),
  }
})

const matchOf = (match: MatchPayload | null): RouteState.Match => {
  const { from, subject, to, verdict } = match ?? { from: null, subject: null, to: null, verdict: null }
  return {
    ...(to === null ? {} : { to }),
    ...(from === null ? {} : { from }),
    ...(subject === null ? {} : { subject }),
    ...(verdict === null ? {} : { verdict }),
  }
}

const actionOf = Effect.fnUntraced(function* (account_id: AccountId, action: ActionPayload) {
  if (action.type === "reject") return { type: action.type, message: action.message ?? Route.DEFAULT_MESSAGE } as const
  if (action.type !== "webhook" || action.webhook_id === null) return action
  const webhook = yield* Webhooks.find(account_id, action.webhook_id)
  return Option.isNone(webhook) ? yield* new InboundRefusal.RouteWithoutWebhook() : action
})

/** Refuses a route whose mail would come back to it, whatever its other conditions. */
const refuseLoop = Effect.fnUntraced(function* (
  account_id: AccountId,
  route: Pick<RouteState.RouteSettings, "action" | "enabled" | "match">,
) {
  if (route.action.type !== "forward") return
  const known = ForwardLoops.nothingKnown()
  for (const address of route.action.to)
    if (
      yield* ForwardLoops.leadsBack(
        address,
        (receiver) => receiver.account_id === account_id && ForwardLoops.isFor(route, receiver.address),
        known,
      )
    )
      return yield* new InboundRefusal.ForwardLoop({ address })
})

const nextPosition = Effect.fnUntraced(function* (account_id: AccountId) {
  const last = (yield* InboundRoutes.list(account_id)).at(-1)
  return last === undefined ? 0 : Math.min(last.position + 1, Route.MAX_POSITION)
})

const present = (state: Route.State): RouteRecord => {
  if (state._tag !== "Route") throw new Error("decided about a route that does not exist")
  const { _tag, ...route } = state
  return recordOf(route)
}

const recordOf = ({ action, match, route_id, ...record }: InboundRoutes.RouteRecord): RouteRecord => ({
  object: "inbound_route",
  id: route_id,
  match: {
    to: match.to ?? null,
    from: match.from ?? null,
    subject: match.subject ?? null,
    verdict: match.verdict ?? null,
  },
  action: {
    type: action.type,
    webhook_id: action.type === "webhook" ? action.webhook_id : null,
    to: action.type === "forward" ? action.to : null,
    message: action.type === "reject" ? action.message : null,
  },
  ...record,
})
