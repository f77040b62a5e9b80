import { Duration, Effect, Schedule } from "effect"
import * as Feed from "../feed/Feed.ts"
import * as Follower from "../feed/Follower.ts"
import * as PackedEvent from "../packed/PackedEvent.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import * as Iso from "../postgres/Iso.ts"
import * as EmailWords from "../search/EmailWords.ts"
import * as EmailStatsFollower from "../statistics/EmailStatsFollower.ts"
import * as LogTree from "../transparency/LogTree.ts"
import type { Sql } from "../postgres/Sql.ts"
import * as PipelinedConnection from "../database/PipelinedConnection.ts"

const FOLLOWERS: ReadonlyArray<Pick<Follower.Follower, "name" | "types" | "count" | "before">> = [
  EmailStatsFollower.follower,
  EmailWords.follower,
  LogTree.follower,
]

const LOOK_AGAIN = Duration.millis(20)
/** Time that a mover has beyond its limit to end its transaction itself. */
const LATE_BY = Duration.seconds(5)

/** Whether a follower has not counted all events up to a position, or the tree has not those with which accounts came. */
const isBehind = (sql: Sql, name: string, accounts: ReadonlyArray<string>, position: bigint) =>
  Effect.map(
    sql<{ readonly behind: boolean }>`
      SELECT f.position < ${position}::bigint OR (f.name = ${LogTree.FOLLOWER}
        AND EXISTS (SELECT FROM log_arrivals a WHERE a.account = ANY(${accounts}::text[]) AND a.position < a.last_position))
        AS behind
      FROM followers f WHERE f.name = ${name}`,
    ([row]) => row?.behind ?? true,
  )

/** Counts the events of the cell until every follower has counted those of accounts, which are up to a position. */
export const countUpTo = Effect.fnUntraced(function* (sql: Sql, accounts: ReadonlyArray<string>, position: bigint) {
  for (const follower of FOLLOWERS)
    yield* Effect.repeat(Effect.andThen(Follower.step(follower), isBehind(sql, follower.name, accounts, position)), {
      until: (behind) => !behind,
      schedule: Schedule.spaced(LOOK_AGAIN),
    })
})

/**
 * Lets the followers of the cell wait until the end of the transaction: they count copies that came earlier, and their counts would
 * change between the last look at them and the switch. The transaction may rest for as long as it may take, and the server ends
 * that of a mover whose machine is lost: all counts of the cell would stand still until then.
 */
export const hold = (sql: Sql, limit: Duration.Duration) => {
  const idle = String(Math.ceil(Duration.toMillis(Duration.sum(limit, LATE_BY))))
  const settings = { ...PipelinedConnection.TCP, idle_in_transaction_session_timeout: idle }
  return Effect.andThen(
    sql`
      SELECT set_config(name, value, true) FROM unnest(${Object.keys(settings)}::text[], ${Object.values(settings)}::text[])
        AS s(name, value)`,
    sql`SELECT name FROM followers ORDER BY name FOR UPDATE`,
  )
}

/**
 * Moves the followers of the cell past the last event of an account that is moving in, so that its events, whose counts move
 * with it, are not counted again. Other accounts' events before that position are counted first. Runs inside the transaction
 * that copies the events.
 */
export const skipCopies = Effect.fnUntraced(function* (sql: Sql, accounts: ReadonlyArray<string>, last: bigint) {
  for (const { count, name, types } of FOLLOWERS) {
    const [row] = yield* sql<{ readonly position: bigint }>`
      SELECT position FROM followers WHERE name = ${name} FOR UPDATE`
    let after = row?.position ?? 0n
    if (after >= last) continue
    // Writers that may still commit an event before that position are done within milliseconds.
    yield* Effect.repeat(Feed.quiet(sql), { until: (quiet) => quiet >= last, schedule: Schedule.spaced(LOOK_AGAIN) })
    for (let more = true; more;) {
      const rows = yield* sql<PackedEvent.Row>`
        SELECT position, event_id, account_id, stream_id, stream, version, type, ${PackedSql.columns(sql)},
          ${Iso.iso(sql, "recorded_at")} AS recorded_at
        FROM events WHERE position > ${after}::bigint AND position <= ${last}::bigint
          AND type = ANY(${types}::text[]) AND account_id <> ALL(${accounts}::text[])
        ORDER BY position LIMIT ${Feed.MAX_FEED_PAGE}::int`
      if (rows.length > 0) yield* count(sql, rows.map(PackedEvent.open))
      after = rows.at(-1)?.position ?? last
      more = rows.length === Feed.MAX_FEED_PAGE
    }
    yield* sql`UPDATE followers SET position = ${last}::bigint, moved_at = now() WHERE name = ${name}`
  }
  yield* LogTree.noteArrival(sql, accounts, last)
})
