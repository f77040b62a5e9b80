import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { OutboxRow } from "./OutboxRow.ts"
import * as WakeUps from "./WakeUps.ts"

/** Maximum number of due rows that one statement marks as ready. */
export const MAX_MARKED = 1_000

export interface MarkedRows {
  readonly rows: number
  /** Time until the next row is due; undefined if no row waits. */
  readonly next_ms: number | undefined
}

export interface MarkedRow {
  readonly kind: OutboxRow["kind"]
}

/** Marks due rows as ready and wakes the workers of their kinds. */
export const markReady = Effect.fn("DueRows.markReady")(function* (): Effect.fn.Return<
  MarkedRows,
  never,
  PgClient.PgClient
> {
  const sql = yield* PgClient.PgClient
  const next_ms = yield* nextDue(sql)
  if (next_ms === undefined || next_ms > 0) return { rows: 0, next_ms }
  const marked = yield* Effect.orDie(sql.withTransaction(Effect.tap(statement(sql), (rows) => wakeKindsOf(sql, rows))))
  return { rows: marked.length, next_ms: yield* nextDue(sql) }
})

/** Returns the time until the next row is due; undefined if no row waits. */
const nextDue = (sql: PgClient.PgClient) =>
  Effect.map(
    Effect.orDie(sql<{ readonly ms: number }>`
      SELECT (extract(epoch FROM available_at - now()) * 1000)::float8 AS ms FROM outbox
      WHERE NOT ready AND lease_token IS NULL ORDER BY available_at LIMIT 1`),
    ([next]) => next?.ms,
  )

/** Wakes the workers of the rows' kinds. */
export const wakeKindsOf = (sql: PgClient.PgClient, rows: ReadonlyArray<MarkedRow>) =>
  rows.length === 0 ? Effect.void : Effect.asVoid(WakeUps.wake(sql, [...new Set(rows.map(({ kind }) => kind))]))

export const statement = (sql: PgClient.PgClient) => sql<MarkedRow>`
  UPDATE outbox SET ready = true WHERE id = ANY(ARRAY(
    SELECT o.id FROM outbox o WHERE NOT o.ready AND o.lease_token IS NULL AND o.available_at <= now()
    ORDER BY o.available_at LIMIT ${MAX_MARKED}::int FOR UPDATE SKIP LOCKED))
  RETURNING kind`
