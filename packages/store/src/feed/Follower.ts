import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Counts } from "./Counts.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as Feed from "./Feed.ts"
import { MAX_FEED_PAGE } from "../commit/LogStorage.ts"

/** Counts that come after the log. */
export interface Follower extends Counts {
  readonly by: "follower"
}

export interface Step {
  /** Somebody else is at it, or was: this process did nothing. */
  readonly isBusy: boolean
  readonly events: number
  /** There may be more at once. */
  readonly isFull: boolean
}

const BUSY: Step = { isBusy: true, events: 0, isFull: false }

/**
 * One page of the log. What it adds and how far it has come are one transaction, so a crash anywhere leaves both as they
 * were. Of several processes one works and the others pass by.
 */
export const step = Effect.fnUntraced(function* (follower: Follower, limit = MAX_FEED_PAGE) {
  const sql = yield* PgClient.PgClient
  const { count, name, types } = follower
  const page = Effect.gen(function* () {
    const rows = yield* sql<{ readonly position: bigint }>`
      SELECT position FROM followers WHERE name = ${name} FOR UPDATE SKIP LOCKED`
    const after = rows[0]?.position
    if (after === undefined) return BUSY
    const { events, upTo } = yield* Feed.read(sql, { after, types, limit })
    if (events.length > 0) yield* count(sql, events)
    if (upTo > after) yield* sql`UPDATE followers SET position = ${upTo}::bigint, moved_at = now() WHERE name = ${name}`
    return { isBusy: false, events: events.length, isFull: events.length === limit } satisfies Step
  })
  return yield* sql.withTransaction(page)
})

/** How far a follower has come, and how many positions of the log lie before it. */
export const lag = Effect.fn("Follower.lag")(function* (sql: PgClient.PgClient, name: string) {
  const end = yield* Effect.orDie(Feed.settled(sql))
  const [found] = yield* Effect.orDie(sql<{ readonly position: bigint }>`
    SELECT position FROM followers WHERE name = ${name}`)
  const { position } = found ?? { position: 0n }
  return { position, behind: Epoch.distance(yield* Effect.orDie(Epoch.gaps(sql)), position, end) }
})
