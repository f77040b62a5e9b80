import { Effect } from "effect"
import { Sql } from "../postgres/Sql.ts"

/**
 * Tolerance between the order of positions and of timestamps. They differ by the clocks of nodes and the duration of
 * commits, usually seconds, minutes with a badly set clock. Events are searched this much earlier and later.
 */
export const CLOCK_TOLERANCE_MS = 60 * 60 * 1000
/** Distance at which a binary search for a position stops, because a more exact one is not worth a query. */
const NEAR_POSITIONS = 1_000n

interface Start {
  readonly account_id: string
  readonly after_position: bigint
}

/** Returns the positions between which the account's log reaches a time. Each query reads one event by its key. */
export const around = Effect.fnUntraced(function* (
  sql: Sql,
  { account_id, after_position }: Start,
  moment: string,
  shift_ms: number,
) {
  const [last] = yield* sql<{ readonly position: bigint }>`
    SELECT position FROM events WHERE account_id = ${account_id} ORDER BY position DESC LIMIT 1`
  let atLeast = after_position
  let atMost = last?.position ?? atLeast
  while (atMost - atLeast > NEAR_POSITIONS) {
    const middle = (atLeast + atMost) / 2n
    const [event] = yield* sql<{ readonly position: bigint; readonly before: boolean }>`
      SELECT position, recorded_at < ${moment}::timestamptz + make_interval(secs => ${shift_ms / 1000}::float8) AS before
      FROM events WHERE account_id = ${account_id} AND position > ${middle}::bigint ORDER BY position LIMIT 1`
    if (event?.before === true && event.position <= atMost) atLeast = event.position
    else atMost = middle
  }
  return { atLeast, atMost }
})

/** Returns the position just before the first event of the account at or after a time, or `end` if there is none yet. */
export const before = Effect.fn("PositionSearch.before")(function* (account_id: string, moment: string, end: bigint) {
  const sql = yield* Sql
  const search = Effect.gen(function* () {
    const { atLeast } = yield* around(sql, { account_id, after_position: 0n }, moment, -CLOCK_TOLERANCE_MS)
    return yield* sql<{ readonly position: bigint }>`
      SELECT position FROM events
      WHERE account_id = ${account_id} AND position > ${atLeast}::bigint AND recorded_at >= ${moment}::timestamptz
      ORDER BY position LIMIT 1`
  })
  const [first] = yield* search
  return first === undefined || first.position > end ? end : first.position - 1n
})
