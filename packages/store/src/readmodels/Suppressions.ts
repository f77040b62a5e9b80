import { PgClient } from "@effect/sql-pg"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import { Effect, Option } from "effect"
import * as ReadModel from "./ReadModel.ts"

export const readModel = ReadModel.make({
  name: "suppressions",
  stream: Suppression.stream,
  key: ["account_id", "address"],
  changes: ["version", "id", "reason", "active", "record"],
  rows: ({ account_id, stream_id, version }, state: Suppression.State) => {
    const key = { account_id, address: stream_id, version }
    if (state._tag === "Absent") return [{ ...key, id: "", reason: "", active: false, record: {} }]
    const { address, created_at, email_id, reason, suppression_id } = state
    return [
      {
        ...key,
        id: suppression_id,
        reason,
        active: true,
        record: { object: "suppression", id: suppression_id, email: address, reason, email_id, created_at },
      },
    ]
  },
})

export interface ListQuery {
  readonly account_id: string
  readonly limit: number
  /** Id of the last entry of the previous page. Ids sort by time, newest first. */
  readonly after?: string
}

export const list = Effect.fn("Suppressions.list")(function* (query: ListQuery) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly record: unknown }>`
    SELECT record FROM suppressions WHERE account_id = ${query.account_id} AND active
      ${query.after === undefined ? sql.literal("") : sql`AND id < ${query.after}`}
    ORDER BY id DESC LIMIT ${query.limit}::int`)
  return rows.map((each) => each.record)
})

export const find = Effect.fn("Suppressions.find")(function* (account_id: string, address: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly record: unknown }>`
    SELECT record FROM suppressions WHERE account_id = ${account_id} AND address = ${address} AND active`)
  return Option.fromUndefinedOr(rows[0]?.record)
})
