import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Outbox from "./Outbox.ts"

/** Maximum number of due rows that one statement marks as ready. */
export const MAX_MARKED = 1_000

export interface MarkedRows {
  readonly rows: number
  /** Time until the next row is due; undefined if no row waits. */
  readonly next_ms: number | undefined
}

/** Marks due rows as ready and wakes the workers of their kinds. */
export const markReady = Effect.fn("DueRows.markReady")(function* (): Effect.fn.Return<
  MarkedRows,
  never,
  PgClient.PgClient
> {
  const sql = yield* PgClient.PgClient
  const marked = yield* Effect.orDie(sql<{ readonly rows: bigint }>`
    WITH marked AS (${statement(sql)}),
    counted AS (SELECT kind, count(*) AS rows FROM marked GROUP BY kind)
    SELECT counted.rows, job.id FROM counted
    JOIN unnest(${Object.keys(Outbox.TASKS)}::text[], ${Object.values(Outbox.TASKS)}::text[]) AS task(kind, name) USING (kind)
    CROSS JOIN LATERAL graphile_worker.add_job(task.name) AS job`)
  const [next] = yield* Effect.orDie(sql<{ readonly ms: number }>`
    SELECT (extract(epoch FROM available_at - now()) * 1000)::float8 AS ms FROM outbox
    WHERE NOT ready AND lease_token IS NULL ORDER BY available_at LIMIT 1`)
  return { rows: marked.reduce((sum, { rows }) => sum + Number(rows), 0), next_ms: next?.ms }
})

export const statement = (sql: PgClient.PgClient) => sql`
  UPDATE outbox SET ready = true WHERE id = ANY(ARRAY(
    SELECT o.id FROM outbox o WHERE NOT o.ready AND o.lease_token IS NULL AND o.available_at <= now()
    ORDER BY o.available_at LIMIT ${MAX_MARKED}::int FOR UPDATE SKIP LOCKED))
  RETURNING kind`
