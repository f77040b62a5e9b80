import { Array, Result } from "effect"
import type * as Aggregate from "../values/Aggregate.ts"
import type * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import * as InboundRefusal from "./InboundRefusal.ts"
import type { Event, InboundRoute, RouteSettings, State } from "./RouteState.ts"

export { Event, evolve, initial, type State } from "./RouteState.ts"

/** One stream per route of an account. */
export const stream = "inbound_route" as const

export const MAX_SUBJECT_CHARS = 320
export const MAX_MESSAGE_CHARS = 200
export const MAX_POSITION = 1_000_000
/** Reply to the server of a mail that a route refuses, if the route has none. */
export const DEFAULT_MESSAGE = "This address does not accept the message"

type Decide<Error> = Aggregate.Decide<State, Event, Error>

/** Creates a route. `others` is the number of routes in the account. */
export const create =
  (
    now: Timestamp.Timestamp,
    route_id: Id.InboundRouteId,
    settings: RouteSettings,
    others: number,
  ): Decide<InboundRefusal.TooManyRoutes | NothingNew> =>
  (state) => {
    if (state._tag !== "NotCreated") return Result.fail(new NothingNew())
    return others >= InboundRefusal.MAX_ROUTES
      ? Result.fail(new InboundRefusal.TooManyRoutes())
      : Result.succeed(Array.of<Event>({ _tag: "InboundRouteCreated", route_id, ...settings, at: now }))
  }

/** Changes the settings that are given. `match` and `action` are replaced as a whole. */
export const update =
  (now: Timestamp.Timestamp, change: Partial<RouteSettings>): Decide<InboundRefusal.RouteNotFound | NothingNew> =>
  (state) => {
    if (state._tag !== "Route") return Result.fail(new InboundRefusal.RouteNotFound())
    const before = settingsOf(state)
    const after: RouteSettings = { ...before, ...change }
    return JSON.stringify(before) === JSON.stringify(after)
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "InboundRouteChanged", ...after, at: now }))
  }

const settingsOf = ({ action, enabled, match, position, stop }: InboundRoute): RouteSettings => ({
  match,
  action,
  position,
  enabled,
  stop,
})

export const remove =
  (now: Timestamp.Timestamp): Decide<InboundRefusal.RouteNotFound> =>
  (state) =>
    state._tag === "Route"
      ? Result.succeed(Array.of<Event>({ _tag: "InboundRouteDeleted", at: now }))
      : Result.fail(new InboundRefusal.RouteNotFound())
