import * as Route from "@waybill/domain/inbound/Route"
import type * as RouteState from "@waybill/domain/inbound/RouteState"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import * as ReadModel from "./ReadModel.ts"
import { Sql } from "../postgres/Sql.ts"

/** A route as the log has it. */
export type RouteRecord = Omit<RouteState.InboundRoute, "_tag">

export const readModel = ReadModel.make({
  name: "inbound_routes",
  stream: Route.stream,
  key: ["account_id", "id"],
  changes: ["version", "removed", "record"],
  rows: ({ account_id, stream_id: id, version }, state: Route.State) => {
    if (state._tag === "NotCreated") return []
    const { _tag, ...record } = state
    const removed = _tag === "Deleted"
    return [{ account_id, id, version, removed, record: removed ? null : record }]
  },
})

/** Returns the routes of an account in the order in which they are tried. Test mail passes those of the live account. */
export const list = Effect.fn("InboundRoutes.list")(function* (account_id: AccountId) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: RouteRecord }>`
    SELECT record FROM inbound_routes WHERE account_id = ${Livemode.liveAccountOf(account_id)} AND NOT removed
    ORDER BY (record -> 'position')::int, id`
  return rows.map(({ record }) => record)
})

export const find = Effect.fn("InboundRoutes.find")(function* (account_id: AccountId, id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: RouteRecord }>`
    SELECT record FROM inbound_routes WHERE account_id = ${account_id} AND id = ${id} AND NOT removed`
  return Option.fromUndefinedOr(rows[0]?.record)
})
