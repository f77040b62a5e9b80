import { Effect } from "effect"
import * as Feed from "./Feed.ts"
import * as Watermark from "../locks/Watermark.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as Arrays from "../postgres/Arrays.ts"
import * as Iso from "../postgres/Iso.ts"
import { OutcomeUnknown } from "../postgres/StorageError.ts"
import { streamKey, type StreamRange } from "../log/StreamRef.ts"
import type { EventRow, Stored } from "../log/RecordedEvents.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Returns whether the event of a lost transaction is in the log. The transaction may still be under way: its writes and its
 * COMMIT may not even have arrived. It announced itself to the readers of the feed before the position that is allocated
 * here, so once the log is quiet up to that position, an event that is missing will never be written.
 */
export const isInLog = Effect.fnUntraced(function* <E>(sql: Client<E>, event: Stored) {
  const position = (yield* Watermark.allocate(sql))[0]?.position ?? 0n
  const upTo = yield* Feed.quiet(sql)
  const rows = yield* sql`
    SELECT 1 AS one FROM events WHERE account_id = ${event.account_id} AND stream_id = ${event.stream_id}
      AND version = ${event.version} AND event_id = ${event.event_id}`
  if (rows.length > 0) return true
  if (upTo < position) return yield* new OutcomeUnknown({ cause: "the lost transaction may still be under way" })
  return false
})

/** Maximum of the type of versions. */
const LAST_VERSION = 2 ** 31 - 1

/** Reads ranges of streams; the events of each stream are in order. */
export const readStreams = Effect.fnUntraced(function* <E>(sql: Client<E>, ranges: ReadonlyArray<StreamRange>) {
  const rows = yield* sql<PackedEvent.Row<EventRow>>`
    SELECT e.position, e.event_id, e.account_id, e.stream_id, e.stream, e.version, e.type, ${PackedSql.columns(sql, "e")},
      ${Iso.iso(sql, "e.recorded_at")} AS recorded_at, e.xmin::text AS xmin
    FROM unnest(${Arrays.texts(ranges.map((range) => range.account_id))}, ${Arrays.texts(ranges.map((range) => range.stream_id))},
      ${Arrays.ints(ranges.map(({ from = 1 }) => from))}, ${Arrays.ints(ranges.map(({ to = LAST_VERSION }) => to))})
      AS wanted(account_id, stream_id, first, last)
    JOIN events e ON e.account_id = wanted.account_id AND e.stream_id = wanted.stream_id
      AND e.version >= wanted.first AND e.version <= wanted.last
    ORDER BY e.account_id, e.stream_id, e.version`
  return Map.groupBy(rows.map(PackedEvent.open), streamKey)
})
