import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as ReadModel from "./ReadModel.ts"
import { Sql } from "../postgres/Sql.ts"

export const readModel = ReadModel.make({
  name: "suppressions",
  stream: Suppression.stream,
  key: ["account_id", "address"],
  changes: ["version", "id", "reason", "active", "record"],
  rows: ({ account_id, stream_id, version }, state: Suppression.State) => {
    const key = { account_id, address: stream_id, version }
    if (state._tag === "Absent") return [{ ...key, id: "", reason: "", active: false, record: {} }]
    const record = recordOf(state)
    return [{ ...key, id: record.id, reason: record.reason, active: true, record }]
  },
})

export const recordOf = (state: Exclude<Suppression.State, { readonly _tag: "Absent" }>) => {
  const { address, created_at, email_id, reason, suppression_id } = state
  return { object: "suppression" as const, id: suppression_id, email: address, reason, email_id, created_at }
}

export type SuppressionRecord = ReturnType<typeof recordOf>

export interface ListQuery {
  readonly account_id: string
  readonly limit: number
  /** Id of the last entry of the previous page. Ids sort by time, newest first. */
  readonly after?: string
  /** Part of the address, in any case. */
  readonly q?: string
  readonly reason?: Suppression.Reason
  /** Whether a message caused it, or a request. */
  readonly source?: "email" | "request"
  readonly created_after?: Timestamp.Timestamp
  readonly created_before?: Timestamp.Timestamp
}

/** Maximum number of suppressions that one page examines; a page of a rare filter ends early, with a cursor. */
export const MAX_EXAMINED = 10_000

interface ListedRow {
  readonly examined: number
  readonly last: string | null
  readonly id: string | null
  readonly record: SuppressionRecord
}

export const list = Effect.fn("Suppressions.list")(function* (query: ListQuery) {
  const sql = yield* Sql
  const rows = yield* listStatement(sql, query)
  const found = rows.flatMap(({ id, record }) => (id === null ? [] : [{ id, record }]))
  const data = found.slice(0, query.limit)
  const { examined = 0, last = null } = rows[0] ?? {}
  const stopped = examined === MAX_EXAMINED ? last : null
  const next_cursor = found.length > query.limit ? (data.at(-1)?.id ?? null) : stopped
  return { data: data.map(({ record }) => record), has_more: next_cursor !== null, next_cursor }
})

export const listStatement = (
  sql: Sql,
  { account_id, after, created_after, created_before, limit, q, reason, source }: ListQuery,
) => sql<ListedRow>`
  WITH newest AS MATERIALIZED (
    SELECT id, address, reason, record FROM suppressions WHERE account_id = ${account_id} AND active
      ${after === undefined ? sql.literal("") : sql`AND id < ${after}`}
      ${created_after === undefined ? sql.literal("") : sql`AND id >= ${lowest(created_after)}`}
      ${created_before === undefined ? sql.literal("") : sql`AND id < ${lowest(created_before)}`}
    ORDER BY id DESC
    LIMIT ${q === undefined && reason === undefined && source === undefined ? limit + 1 : MAX_EXAMINED}::int)
  SELECT span.examined, span.last, found.id, found.record
  FROM (SELECT count(*)::int AS examined, min(id) AS last FROM newest) AS span
  LEFT JOIN LATERAL (
    SELECT id, record FROM newest WHERE true
      ${q === undefined ? sql.literal("") : sql`AND strpos(address, ${q.toLowerCase()}) > 0`}
      ${reason === undefined ? sql.literal("") : sql`AND reason = ${reason}`}
      ${source === undefined ? sql.literal("") : sql`AND (record ->> 'email_id' IS NULL) = ${source === "request"}::bool`}
    ORDER BY id DESC LIMIT ${limit + 1}::int) AS found ON true
  ORDER BY found.id DESC`

/** Ids begin with the time of the request that made them. */
const lowest = (time: Timestamp.Timestamp): string => Id.lowest("SuppressionId", Date.parse(time))

export const find = Effect.fn("Suppressions.find")(function* (account_id: string, address: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: SuppressionRecord }>`
    SELECT record FROM suppressions WHERE account_id = ${account_id} AND address = ${address} AND active`
  return Option.fromUndefinedOr(rows[0]?.record)
})
