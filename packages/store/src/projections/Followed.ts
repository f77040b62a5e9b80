import * as SteadyClock from "@waybill/domain/SteadyClock"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Follower } from "../Follower.ts"
import * as Horizon from "../Horizon.ts"
import { iso } from "../Iso.ts"
import type { Stored } from "../Recorded.ts"
import { type Pace as FillPace, sliceSize } from "./Fill.ts"
import * as Versions from "./Versions.ts"

/** Events that one transaction counts; a kill makes a rebuild do so many again. */
export const PAGE_EVENTS = 2_000

/** How far the live table has come. Another goes as far and no further, so that both tell of the same events. */
export const place = (sql: PgClient.PgClient, { name }: Follower): Effect.Effect<bigint, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly position: bigint }>`SELECT position FROM followers WHERE name = ${name}`,
    ([found]) => found?.position ?? 0n,
  )

/** One page. What lies before the live table's place is settled: whoever counted it had waited for that. */
const count = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  follower: Follower,
  table: string,
  after: bigint,
  upTo: bigint,
  limit = PAGE_EVENTS,
): Effect.fn.Return<{ readonly events: number; readonly position: bigint }, SqlError.SqlError> {
  const events = yield* sql<Stored>`
    SELECT position, event_id, account_id, stream_id, stream, version, type, data, meta,
      ${iso(sql, "recorded_at")} AS recorded_at
    FROM events
    WHERE position > ${after}::bigint AND position <= ${upTo}::bigint AND type = ANY(${follower.types}::text[])
    ORDER BY position LIMIT ${limit}::int`
  if (events.length > 0) yield* follower.count(sql, events, table)
  const last = events.at(-1)
  return { events: events.length, position: events.length < limit || last === undefined ? upTo : last.position }
})

/** Brings a table to the live one's place, in the transaction that compares or exchanges the two. */
export const apply = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  follower: Follower,
  table: string,
  after: bigint,
): Effect.fn.Return<number, SqlError.SqlError> {
  const upTo = yield* place(sql, follower)
  let events = 0
  for (let position = after; position < upTo;) {
    const counted = yield* count(sql, follower, table, position, upTo)
    events += counted.events
    position = counted.position
  }
  yield* follower.inherit(sql, table, yield* Horizon.all(sql))
  return events
})

interface Pace extends Pick<FillPace, "throttle"> {
  readonly report?: (events: number) => Effect.Effect<void>
}

/** Page by page until a table is where the live one is; going on where an earlier run was stopped. Gives its new place. */
export const catchUp = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  follower: Follower,
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
          const upTo = yield* place(sql, follower)
          const after = yield* Versions.lockPlace(sql, version)
          if (after >= upTo) return { counted: { events: 0, position: after }, upTo }
          const counted = yield* count(sql, follower, table, after, upTo, limit)
          yield* Versions.moveTo(sql, version, counted.position, counted.events)
          return { counted, upTo }
        }),
      ),
    )
    if (counted.position >= upTo) {
      yield* Effect.orDie(Effect.flatMap(Horizon.all(sql), (horizons) => follower.inherit(sql, table, horizons)))
      return counted.position
    }
    events += counted.events
    yield* report?.(counted.events) ?? Effect.void
    if (throttle === undefined) continue
    const due = began + (events * 1000) / throttle
    yield* Effect.sleep(`${Math.max(0, due - (yield* SteadyClock.millis))} millis`)
  }
})
