import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Outbox from "./Outbox.ts"
import type { OutboxRow } from "./OutboxRow.ts"
import * as WakeUps from "./WakeUps.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Maximum number of due rows that one statement marks as ready. */
export const MAX_MARKED = 1_000

export interface MarkedRows {
  readonly rows: number
  /** Time until the next row is due; undefined if no row waits. */
  readonly next_ms: number | undefined
}

/** Arms rows, and wakes workers for those that are due. */
export const arm = Effect.fnUntraced(function* (sql: Sql, rows: ReadonlyArray<OutboxRow>, now: string) {
  yield* sql`WITH armed AS (${Outbox.arm(sql, { rows, now })}) SELECT 1 AS armed`
  const kinds = WakeUps.due(rows, now)
  if (kinds.length > 0) yield* WakeUps.wake(sql, kinds)
})

/** Marks due rows as ready and wakes the workers of their kinds. */
export const markReady = Effect.fn("DueRows.markReady")(function* (): Effect.fn.Return<
  MarkedRows,
  StoreUnavailable,
  PgClient.PgClient
> {
  const sql = yield* Sql
  const next_ms = yield* nextDue(sql)
  if (next_ms === undefined || next_ms > 0) return { rows: 0, next_ms }
  const marked = yield* armWaiting(sql, due(sql))
  return { rows: marked.length, next_ms: yield* nextDue(sql) }
})

/** Returns the time until the next row is due; undefined if no row waits. */
const nextDue = (sql: Sql) =>
  Effect.map(
    sql<{ readonly ms: number }>`
      SELECT (extract(epoch FROM available_at - now()) * 1000)::float8 AS ms FROM outbox
      WHERE NOT ready AND lease_token IS NULL ORDER BY available_at LIMIT 1`,
    ([next]) => next?.ms,
  )

/** Query of the due rows, which are ready from now on. */
export const due = (sql: Sql) => sql`
  SELECT o.id, o.available_at, true AS ready FROM outbox o
  WHERE NOT o.ready AND o.lease_token IS NULL AND o.available_at <= now()
  ORDER BY o.available_at LIMIT ${MAX_MARKED}::int FOR UPDATE SKIP LOCKED`

/** Arms rows that wait already, and wakes the workers of their kinds. */
export const armWaiting = (sql: Sql, waiting: ReturnType<typeof due>) =>
  sql.withTransaction(
    Effect.tap(Outbox.arm(sql, { waiting }), (rows) =>
      rows.length === 0 ? Effect.void : WakeUps.wake(sql, [...new Set(rows.map(({ kind }) => kind))]),
    ),
  )
