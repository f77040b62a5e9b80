import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type FeedPage, type FeedQuery, MAX_FEED_PAGE } from "../commit/LogStorage.ts"
import type { Stored } from "../commit/RecordedEvents.ts"
import { iso } from "../postgres/Iso.ts"
import * as Watermark from "./Watermark.ts"

/** The last position that a writer has taken so far, committed or not. */
export const allocated = (sql: PgClient.PgClient): Effect.Effect<bigint, SqlError.SqlError> =>
  Effect.map(Watermark.allocated(sql), (rows) => rows[0]?.position ?? 0n)

/**
 * How far the log is quiet: nothing will ever be written at or below this position any more. The order of the two
 * statements is the proof: a writer that this reader does not see among the promises allocates after `hi` was read.
 */
export const quiet = Effect.fnUntraced(function* (sql: PgClient.PgClient): Effect.fn.Return<bigint, SqlError.SqlError> {
  const hi = yield* allocated(sql)
  const lo = (yield* Watermark.lowest(sql))[0]?.position ?? null
  return lo === null || lo > hi ? hi : lo
})

/**
 * How far the log is settled: quiet, and not beyond the last event. What was taken from the sequence without a commit a
 * server forgets when it crashes and gives out again; whoever had gone on to there would miss what comes to stand there.
 */
export const settled = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
): Effect.fn.Return<bigint, SqlError.SqlError> {
  const upTo = yield* quiet(sql)
  const [last] = yield* sql<{ readonly position: bigint }>`
    SELECT position FROM events WHERE position <= ${upTo}::bigint ORDER BY position DESC LIMIT 1`
  return last?.position ?? 0n
})

/** The log in order, never skipping, never repeating, also while others write. */
export const read = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  query: FeedQuery,
): Effect.fn.Return<FeedPage, SqlError.SqlError> {
  const upTo = yield* settled(sql)
  if (upTo <= query.after) return { events: [], upTo: query.after, more: false }
  const limit = Math.min(query.limit ?? MAX_FEED_PAGE, MAX_FEED_PAGE)
  const found = yield* sql<Stored>`
    SELECT position, event_id, account_id, stream_id, stream, version, type, data, meta,
      ${iso(sql, "recorded_at")} AS recorded_at
    FROM events
    WHERE position > ${query.after}::bigint AND position <= ${upTo}::bigint
      ${query.account_id === undefined ? sql.literal("") : sql`AND account_id = ${query.account_id}`}
      ${query.types === undefined ? sql.literal("") : sql`AND type = ANY(${query.types}::text[])`}
    ORDER BY position LIMIT ${limit + 1}::int`
  return page(found, limit, upTo)
})

/** A page out of events of which one more than `limit` was read, to see whether there are more. */
export const page = (found: ReadonlyArray<Stored>, limit: number, upTo: bigint): FeedPage => {
  const events = found.slice(0, limit)
  const last = events.at(-1)
  const more = found.length > limit && last !== undefined
  return { events, upTo: more ? last.position : upTo, more }
}

/** Whose events lie between two places, so that those who wait for others' need not look. */
export const accountsBetween = (sql: PgClient.PgClient, after: bigint, upTo: bigint, limit: number) =>
  sql<{ readonly account_id: string }>`
    SELECT DISTINCT account_id FROM events WHERE position > ${after}::bigint AND position <= ${upTo}::bigint
    LIMIT ${limit}::int`
