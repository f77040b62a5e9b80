import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Counts } from "./Counts.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as Feed from "./Feed.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Counts that are updated from the log, after the commits. */
export interface Follower extends Counts {
  readonly by: "follower"
  /** Other work, a page of which comes before each of the log. The follower's position is locked meanwhile. */
  readonly before?: {
    /** Whether there is such work. */
    readonly waits: (sql: Sql) => Fragment
    readonly page: (sql: Sql, limit: number) => Effect.Effect<Pick<Step, "events" | "isFull">, StoreUnavailable>
  }
}

export interface Step {
  /** Whether another process works on this follower, so that this one did nothing. */
  readonly isBusy: boolean
  readonly events: number
  /** Whether more events may follow at once. */
  readonly isFull: boolean
}

const IDLE: Step = { isBusy: false, events: 0, isFull: false }
const BUSY: Step = { ...IDLE, isBusy: true }

/**
 * Counts one page of the log. The counts and the follower's position are written in one transaction, so a crash leaves both
 * unchanged. Of several processes only one works at a time; the others return at once.
 */
export const step = Effect.fnUntraced(function* (
  follower: Pick<Follower, "name" | "types" | "count" | "before">,
  limit = Feed.MAX_FEED_PAGE,
) {
  const sql = yield* Sql
  const { before, count, name, types } = follower
  // Mostly nothing waits, which this finds with one statement, and a transaction with six.
  const waiting = yield* sql`
    SELECT f.name FROM followers f WHERE f.name = ${name} AND (
      EXISTS (SELECT FROM events e WHERE e.position > f.position)
      ${before === undefined ? sql.literal("") : sql`OR ${before.waits(sql)}`})`
  if (waiting.length === 0) return IDLE
  const page = Effect.gen(function* () {
    const rows = yield* sql<{ readonly position: bigint }>`
      SELECT position FROM followers WHERE name = ${name} FOR UPDATE SKIP LOCKED`
    const after = rows[0]?.position
    if (after === undefined) return BUSY
    const earlier = before === undefined ? IDLE : yield* before.page(sql, limit)
    const { events, upTo } = yield* Feed.read(sql, { after, types, limit })
    if (events.length > 0) yield* count(sql, events)
    if (upTo > after) yield* sql`UPDATE followers SET position = ${upTo}::bigint, moved_at = now() WHERE name = ${name}`
    const isFull = earlier.isFull || events.length === limit
    return { isBusy: false, events: earlier.events + events.length, isFull } satisfies Step
  })
  return yield* sql.withTransaction(page)
})

/** Returns the position of a follower and the number of positions between it and the end of the log. */
export const lag = Effect.fn("Follower.lag")(function* (sql: Sql, name: string) {
  const end = yield* Feed.watermark(sql)
  const [row] = yield* sql<{ readonly position: bigint }>`
    SELECT position FROM followers WHERE name = ${name}`
  const { position } = row ?? { position: 0n }
  return { position, behind: Epoch.distance(yield* Epoch.gaps(sql), position, end) }
})
