import { Schema } from "effect"
import * as Address from "../values/Address.ts"
import * as Id from "../values/Id.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as InboundState from "./InboundState.ts"
import { RoutePattern } from "./RoutePattern.ts"

/** Conditions on a mail. All that are there must hold; without any, the route is for every mail. */
export const Match = Schema.Struct({
  /** Any recipient of the mail. */
  to: Schema.optionalKey(RoutePattern),
  from: Schema.optionalKey(RoutePattern),
  /** Part of the subject, in any case. */
  subject: Schema.optionalKey(Text.Stored),
  verdict: Schema.optionalKey(InboundState.SenderVerdict),
})
export type Match = typeof Match.Type

/** Effect of a route on a mail. */
export const Action = Schema.Union([
  /** Calls one webhook, or all that subscribe to `email.received`. */
  Schema.Struct({ type: Schema.Literal("webhook"), webhook_id: Schema.NullOr(Id.WebhookId) }),
  /** Sends the mail on, as it is. */
  Schema.Struct({ type: Schema.Literal("forward"), to: Schema.Array(Address.Address) }),
  /** Refuses the mail while its server waits. */
  Schema.Struct({ type: Schema.Literal("reject"), message: Text.Stored }),
  /** Accepts and records the mail, and nothing else. */
  Schema.Struct({ type: Schema.Literal("drop") }),
  Schema.Struct({ type: Schema.Literal("store") }),
])
export type Action = typeof Action.Type

const at = Timestamp.Timestamp
const settings = {
  match: Match,
  action: Action,
  /** Routes are tried in the order of their positions. */
  position: Schema.Natural,
  enabled: Schema.Boolean,
  /** Whether no later route is tried after this one applied. */
  stop: Schema.Boolean,
}

export const Event = Schema.TaggedUnion({
  InboundRouteCreated: { route_id: Id.InboundRouteId, ...settings, at },
  InboundRouteChanged: { ...settings, at },
  InboundRouteDeleted: { at },
})
export type Event = typeof Event.Type

export interface RouteSettings {
  readonly match: Match
  readonly action: Action
  readonly position: number
  readonly enabled: boolean
  readonly stop: boolean
}

export interface InboundRoute extends RouteSettings {
  readonly _tag: "Route"
  readonly route_id: Id.InboundRouteId
  readonly created_at: Timestamp.Timestamp
  readonly updated_at: Timestamp.Timestamp
}

export type State = { readonly _tag: "NotCreated" } | InboundRoute | { readonly _tag: "Deleted" }

export const initial: State = { _tag: "NotCreated" }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "InboundRouteCreated") {
    if (state._tag !== "NotCreated") return state
    const { _tag, at, ...route } = event
    return { _tag: "Route", ...route, created_at: at, updated_at: at }
  }
  if (state._tag !== "Route") return state
  if (event._tag === "InboundRouteDeleted") return { _tag: "Deleted" }
  const { _tag, at, ...changed } = event
  return { ...state, ...changed, updated_at: at }
}
