import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Counts } from "../feed/Counts.ts"
import * as Feed from "../feed/Feed.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import { iso } from "../postgres/Iso.ts"
import type { Stored } from "../commit/RecordedEvents.ts"
import { type Pace as FillPace, sliceSize } from "./Fill.ts"
import * as Versions from "./Versions.ts"

/** Events that one transaction counts; a kill makes a rebuild do so many again. */
export const PAGE_EVENTS = 2_000

/**
 * How far the live table has come. Another goes as far and no further, so that both tell of the same events. What commits
 * count themselves is at the end of the log for whoever sees both in one snapshot, or has the table alone.
 */
export const place = (sql: PgClient.PgClient, { by, name }: Counts): Effect.Effect<bigint, SqlError.SqlError> =>
  Effect.map(
    by === "follower"
      ? sql<{ readonly position: bigint }>`SELECT position FROM followers WHERE name = ${name}`
      : sql<{ readonly position: bigint }>`SELECT position FROM events ORDER BY position DESC LIMIT 1`,
    ([found]) => found?.position ?? 0n,
  )

/** One page of what is settled. */
const count = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  counts: Counts,
  table: string,
  after: bigint,
  upTo: bigint,
  limit = PAGE_EVENTS,
): Effect.fn.Return<{ readonly events: number; readonly position: bigint }, SqlError.SqlError> {
  const events = yield* sql<Stored>`
    SELECT position, event_id, account_id, stream_id, stream, version, type, data, meta,
      ${iso(sql, "recorded_at")} AS recorded_at
    FROM events
    WHERE position > ${after}::bigint AND position <= ${upTo}::bigint AND type = ANY(${counts.types}::text[])
    ORDER BY position LIMIT ${limit}::int`
  if (events.length > 0) yield* counts.count(sql, events, table)
  const last = events.at(-1)
  return { events: events.length, position: events.length < limit || last === undefined ? upTo : last.position }
})

/** Brings a table to the live one's place, in the transaction that compares or exchanges the two. */
export const apply = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  counts: Counts,
  table: string,
  after: bigint,
): Effect.fn.Return<number, SqlError.SqlError> {
  const upTo = yield* place(sql, counts)
  let events = 0
  for (let position = after; position < upTo;) {
    const counted = yield* count(sql, counts, table, position, upTo)
    events += counted.events
    position = counted.position
  }
  yield* counts.inherit(sql, table, yield* RetentionCutoff.all(sql))
  return events
})

interface Pace extends Pick<FillPace, "throttle"> {
  readonly report?: (events: number) => Effect.Effect<void>
}

/** Page by page until a table is where the live one is; going on where an earlier run was stopped. Gives its new place. */
export const catchUp = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  counts: Counts,
  version: Versions.Version,
  pace: Pace = {},
): Effect.fn.Return<bigint> {
  const { report, throttle } = pace
  const limit = Math.min(PAGE_EVENTS, sliceSize(pace))
  const table = Versions.tableOf(version)
  const began = yield* SteadyClock.millis
  let events = 0
  while (true) {
    const { counted, upTo } = yield* Effect.orDie(
      sql.withTransaction(
        Effect.gen(function* () {
          // Meanwhile commits go on; a follower has waited for what it has counted.
          const upTo = yield* counts.by === "commits" ? Feed.settled(sql) : place(sql, counts)
          const after = yield* Versions.lockPlace(sql, version)
          if (after >= upTo) return { counted: { events: 0, position: after }, upTo }
          const counted = yield* count(sql, counts, table, after, upTo, limit)
          yield* Versions.moveTo(sql, version, counted.position, counted.events)
          return { counted, upTo }
        }),
      ),
    )
    if (counted.position >= upTo) {
      // Of what commits count the live table is further by now, and what it has more would be counted once more.
      if (counts.by === "follower")
        yield* Effect.orDie(
          Effect.flatMap(RetentionCutoff.all(sql), (horizons) => counts.inherit(sql, table, horizons)),
        )
      return counted.position
    }
    events += counted.events
    yield* report?.(counted.events) ?? Effect.void
    if (throttle === undefined) continue
    const due = began + (events * 1000) / throttle
    yield* Effect.sleep(`${Math.max(0, due - (yield* SteadyClock.millis))} millis`)
  }
})
