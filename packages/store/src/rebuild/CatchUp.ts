import { Effect } from "effect"
import * as Feed from "../feed/Feed.ts"
import type { Projection } from "./versions/Projections.ts"
import type { NewEvent, Stored } from "../log/RecordedEvents.ts"
import { aggregateOf } from "../log/aggregateOf.ts"
import { eventInPlace } from "../log/eventInPlace.ts"
import { distinctBy, rowsOf } from "./fill/StreamFold.ts"
import * as CountedProjections from "./CountedProjections.ts"
import * as Versions from "./versions/Versions.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Replay } from "./versions/Replay.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Positions covered by one step. Streams that changed within them are folded again completely. */
export const PAGE_POSITIONS = 2_000n
/** Distance from the end of the log at which a table counts as caught up; a swap processes the rest under its lock. */
export const NEAR_POSITIONS = 500n

type Read = Pick<Stored, "account_id" | "stream_id" | "version" | "type" | "data" | "meta">

/** Folds streams again that changed after a position, up to another position or to the end of the log. */
export const apply = Effect.fnUntraced(function* (
  sql: Sql,
  model: Projection,
  table: string,
  after: bigint,
  upTo?: bigint,
) {
  if ("count" in model) return yield* CountedProjections.apply(sql, model, table, after)
  const events = yield* sql<PackedEvent.Row<Read>>`
    SELECT account_id, stream_id, e.version, e.type, ${PackedSql.columns(sql, "e")}
    FROM (
      SELECT DISTINCT account_id, stream_id FROM events
      WHERE position > ${after}::bigint ${upTo === undefined ? sql.literal("") : sql`AND position <= ${upTo}::bigint`}
        AND stream = ${model.stream}
    ) AS changed JOIN events e USING (account_id, stream_id)
    ORDER BY account_id, stream_id, e.version`
  const aggregate = aggregateOf(model.stream)
  const facts = events.map(PackedEvent.open).map(({ data, meta, type, ...fields }): NewEvent => ({
    ...fields,
    event: eventInPlace(aggregate, type, meta.schema_version, data),
  }))
  const streams = Map.groupBy(facts, ({ account_id, stream_id }) => `${account_id} ${stream_id}`)
  const rows = [...streams.values()].flatMap((history) => rowsOf(model, aggregate, history))
  const distinct = model.isShared === true ? distinctBy(model, rows) : rows
  if (distinct.length > 0) yield* model.upsert(sql, distinct, table)
})

/**
 * Returns the position of the next event. Between two epochs there may be too many unused positions to step through.
 */
const nextAfter = (sql: Sql, position: bigint, end: bigint): Effect.Effect<bigint, StoreUnavailable> =>
  Effect.map(
    sql<{ readonly position: bigint }>`
        SELECT position FROM events WHERE position > ${position}::bigint ORDER BY position LIMIT 1`,
    ([next]) => (next === undefined || next.position > end ? end : next.position),
  )

/** Catches up step by step until the table is near the end of the log, and returns its new position. */
export const catchUp = Effect.fnUntraced(function* (
  replay: Pick<Replay["Service"], "log" | "sql">,
  model: Projection,
  version: Versions.Version,
  near: bigint = NEAR_POSITIONS,
) {
  if ("count" in model) return yield* CountedProjections.catchUp(replay, model, version)
  const { log, sql } = replay
  let position = version.position
  while (true) {
    const end = yield* Feed.watermark(log)
    if (end - position <= near) return position
    const after = (yield* nextAfter(sql, position, end)) - 1n
    const upTo = end < after + PAGE_POSITIONS ? end : after + PAGE_POSITIONS
    yield* sql.withTransaction(
      Effect.andThen(apply(sql, model, Versions.tableOf(version), after, upTo), Versions.moveTo(sql, version, upTo)),
    )
    position = upTo
  }
})
