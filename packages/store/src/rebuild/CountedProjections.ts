import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Effect } from "effect"
import type { Counts } from "../feed/Counts.ts"
import * as Feed from "../feed/Feed.ts"
import * as RetentionCutoff from "../feed/RetentionCutoff.ts"
import * as Fill from "./fill/Fill.ts"
import * as Versions from "./versions/Versions.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import type { Replay } from "./versions/Replay.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Events counted in one transaction, and so the most that an interrupted rebuild repeats. */
export const PAGE_EVENTS = 2_000

/**
 * Returns the position up to which the live table has counted. A rebuilt table counts exactly as far. For tables that
 * commits write, this is the end of the log, which is exact within one snapshot or under the table's lock.
 */
export const livePosition = (sql: Sql, { by, name }: Counts): Effect.Effect<bigint, StoreUnavailable> =>
  Effect.map(
    by === "follower"
      ? sql<{ readonly position: bigint }>`SELECT position FROM followers WHERE name = ${name}`
      : sql<{ readonly position: bigint }>`SELECT position FROM events ORDER BY position DESC LIMIT 1`,
    ([row]) => row?.position ?? 0n,
  )

/** Counts one page of events up to the watermark. */
const count = Effect.fnUntraced(function* (
  sql: Sql,
  counts: Counts,
  table: string,
  after: bigint,
  upTo: bigint,
  limit = PAGE_EVENTS,
) {
  const rows = yield* sql<PackedEvent.Row>`
    SELECT ${Feed.columns(sql)} FROM events
    WHERE position > ${after}::bigint AND position <= ${upTo}::bigint AND type = ANY(${counts.types}::text[])
    ORDER BY position LIMIT ${limit}::int`
  const events = rows.map(PackedEvent.open)
  if (events.length > 0) yield* counts.count(sql, events, table)
  const last = events.at(-1)
  return { events: events.length, position: events.length < limit || last === undefined ? upTo : last.position }
})

/** Counts up to the live table's position, in the transaction that compares or swaps the two tables. */
export const apply = Effect.fnUntraced(function* (sql: Sql, counts: Counts, table: string, after: bigint) {
  const upTo = yield* livePosition(sql, counts)
  for (let position = after; position < upTo;) ({ position } = yield* count(sql, counts, table, position, upTo))
  yield* counts.inherit(sql, table, yield* RetentionCutoff.all(sql))
})

interface Pace extends Pick<Fill.Pace, "throttle"> {
  readonly report?: (events: number) => Effect.Effect<void>
}

/**
 * Counts page by page up to the live table's position, resuming where an earlier run stopped, and returns that
 * position.
 */
export const catchUp = Effect.fnUntraced(function* (
  { log, sql }: Pick<Replay["Service"], "log" | "sql">,
  counts: Counts,
  version: Versions.Version,
  pace: Pace = {},
) {
  const { report, throttle } = pace
  const limit = Fill.sliceSize(pace, PAGE_EVENTS)
  const table = Versions.tableOf(version)
  const began = yield* MonotonicClock.millis
  let events = 0
  while (true) {
    const { counted, upTo } = yield* sql.withTransaction(
      Effect.gen(function* () {
        // Commits continue meanwhile, so their counts reach the watermark; a follower's own position is
        // there already.
        const upTo = yield* counts.by === "commits" ? Feed.watermark(log) : livePosition(sql, counts)
        const after = yield* Versions.lockPosition(sql, version)
        if (after >= upTo) return { counted: { events: 0, position: after }, upTo }
        const counted = yield* count(sql, counts, table, after, upTo, limit)
        yield* Versions.moveTo(sql, version, counted.position, counted.events)
        return { counted, upTo }
      }),
    )
    if (counted.position >= upTo) {
      // A table that commits write is ahead by now, and its newer counts would be added twice.
      if (counts.by === "follower")
        yield* Effect.flatMap(RetentionCutoff.all(sql), (cutoffs) => counts.inherit(sql, table, cutoffs))
      return counted.position
    }
    events += counted.events
    yield* report?.(counted.events) ?? Effect.void
    if (throttle === undefined) continue
    const earliest = began + (events * 1000) / throttle
    yield* Effect.sleep(`${Math.max(0, earliest - (yield* MonotonicClock.millis))} millis`)
  }
})
