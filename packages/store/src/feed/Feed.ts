import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect } from "effect"
import type { Stored } from "../log/RecordedEvents.ts"
import * as Iso from "../postgres/Iso.ts"
import * as Watermark from "../locks/Watermark.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as PageBytes from "./PageBytes.ts"
import type { Client } from "../postgres/Sql.ts"

/** Maximum number of events of a page of the feed. */
export const MAX_FEED_PAGE = 1_000
/** Events that are opened in one turn of the event loop. */
const OPENED_AT_ONCE = 100

export interface FeedQuery extends Partial<PageBytes.Bound> {
  readonly after: bigint
  readonly limit?: number
  readonly account_id?: string
  readonly types?: ReadonlyArray<string>
}

export interface FeedPage {
  readonly events: ReadonlyArray<Stored>
  /** Position after which the next page begins: the reader has now seen every matching event up to it. */
  readonly upTo: bigint
  /** Whether more matching events follow at once. */
  readonly more: boolean
}

/** Returns the last position that a writer has allocated, committed or not. */
export const allocated = <E>(sql: Client<E>): Effect.Effect<bigint, E> =>
  Effect.map(Watermark.allocated(sql), (rows) => rows[0]?.position ?? 0n)

/**
 * Returns the position up to which the log is quiet: no event will be written at or below it any more. The order of the two
 * statements ensures this: a writer whose announcement is not seen here allocates its positions after `hi` was read.
 */
export const quiet = Effect.fnUntraced(function* <E>(sql: Client<E>): Effect.fn.Return<bigint, E> {
  const hi = yield* allocated(sql)
  const [writers] = yield* Watermark.lowest(sql)
  const lo = writers?.position ?? null
  return lo === null || lo > hi ? hi : lo
})

/**
 * Returns the watermark, up to which the log may be read: quiet, and not past the last event. A server that crashes
 * allocates uncommitted positions again, so a reader past the last event could miss one that is written there later.
 */
export const watermark = <E>(sql: Client<E>): Effect.Effect<bigint, E> =>
  Effect.flatMap(quiet(sql), (upTo) => lastUpTo(sql, upTo))

/** Returns the position of the last event up to a position. */
export const lastUpTo = <E>(sql: Client<E>, upTo: bigint): Effect.Effect<bigint, E> =>
  Effect.map(
    sql<{ readonly position: bigint }>`
      SELECT position FROM events WHERE position <= ${upTo}::bigint ORDER BY position DESC LIMIT 1`,
    ([last]) => last?.position ?? 0n,
  )

/** Reads the log in order; no event is skipped or repeated, also while transactions write. */
export const read = Effect.fnUntraced(function* <E>(sql: Client<E>, query: FeedQuery): Effect.fn.Return<FeedPage, E> {
  const upTo = yield* watermark(sql)
  if (upTo <= query.after) return { events: [], upTo: query.after, more: false }
  const limit = Math.min(query.limit ?? MAX_FEED_PAGE, MAX_FEED_PAGE)
  const selected = sql`
    SELECT ${columns(sql)} FROM events
    WHERE position > ${query.after}::bigint AND position <= ${upTo}::bigint
      ${query.account_id === undefined ? sql.literal("") : sql`AND account_id = ${query.account_id}`}
      ${query.types === undefined ? sql.literal("") : sql`AND type = ANY(${query.types}::text[])`}
    ORDER BY position LIMIT ${limit + 1}::int`
  const { account_id, max_bytes } = query
  if (account_id === undefined || max_bytes === undefined)
    return page(yield* opened(yield* sql<PackedEvent.Row>`${selected}`), limit, upTo)
  const bound = { max_bytes, with_messages: query.with_messages === true }
  const rows = yield* PageBytes.cut(sql, selected, account_id, bound)
  const events = rows.map(({ selected: _, ...row }) => PackedEvent.open(row))
  return page(events, limit, upTo, rows[0]?.selected)
})

/** Columns of a row of events that can be opened. */
export const columns = <E>(sql: Client<E>) => sql`
  position, event_id, account_id, stream_id, stream, version, type, ${PackedSql.columns(sql)},
  ${Iso.iso(sql, "recorded_at")} AS recorded_at`

/** Opens rows in groups, and lets other work have its turn in between: a page may hold a thousand large events. */
export const opened = Effect.fnUntraced(function* (rows: ReadonlyArray<PackedEvent.Row>) {
  const events: Array<Stored> = []
  for (const row of rows) {
    if (events.length > 0 && events.length % OPENED_AT_ONCE === 0) yield* Turn.next
    events.push(PackedEvent.open(row))
  }
  return events
})

/** Makes a page of events, of which one more than `limit` was found to see whether more follow. */
export const page = (rows: ReadonlyArray<Stored>, limit: number, upTo: bigint, found = rows.length): FeedPage => {
  const events = rows.slice(0, limit)
  const last = events.at(-1)
  const more = found > events.length && last !== undefined
  return { events, upTo: more ? last.position : upTo, more }
}

/** Returns the accounts with events between two positions, so that only their waiting readers query again. */
export const accountsBetween = <E>(sql: Client<E>, after: bigint, upTo: bigint, limit: number) =>
  sql<{ readonly account_id: string }>`
    SELECT DISTINCT account_id FROM events WHERE position > ${after}::bigint AND position <= ${upTo}::bigint
    LIMIT ${limit}::int`
