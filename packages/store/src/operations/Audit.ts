import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import type { Stored } from "../commit/RecordedEvents.ts"

export interface Query {
  readonly account_id: string
  readonly limit: number
  /** Only entries before this position. */
  readonly before?: bigint
}

export type Entry = Omit<Stored, "data" | "account_id" | "version">

/**
 * Lists changes by keys, users and operators, newest first. Mail is excluded, because its log shows it, and so is what
 * the service does by itself.
 */
export const list = Effect.fn("Audit.list")(function* (query: Query) {
  const sql = yield* PgClient.PgClient
  return yield* Effect.orDie(statement(sql, query))
})

/** The condition is exactly that of the index `events_audit`. */
export const statement = (sql: PgClient.PgClient, { account_id, before, limit }: Query) => sql<Entry>`
  SELECT position, event_id, stream, stream_id, type, meta, ${Iso.iso(sql, "recorded_at")} AS recorded_at
  FROM events
  WHERE account_id = ${account_id} AND stream <> 'email' AND meta -> 'actor' ->> 'type' <> 'system'
    ${before === undefined ? sql.literal("") : sql`AND position < ${before}::bigint`}
  ORDER BY position DESC LIMIT ${limit}::int`
