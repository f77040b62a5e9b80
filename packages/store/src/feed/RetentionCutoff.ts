import type { PgClient } from "@effect/sql-pg"
import * as Account from "@waybill/domain/account/Account"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"

/** Before when an account's log may have gaps, because its histories are not, or were not, kept for ever. */
export interface Horizon {
  readonly account_id: string
  readonly before: Timestamp.Timestamp
}

interface Change {
  readonly account_id: string
  readonly at: Timestamp.Timestamp
  readonly log_days: number | null
}

/**
 * Of every account that has one. What was removed under a shorter time does not come back with a longer one, so all
 * that ever held counts.
 */
export const all = Effect.fn("Horizon.all")(function* (sql: PgClient.PgClient) {
  const now = yield* Clock.currentTimeMillis
  const changes = yield* sql<Change>`
    SELECT e.account_id, e.data ->> 'at' AS at, (e.data -> 'keeping' ->> 'log_days')::int AS log_days
    FROM accounts a JOIN events e ON e.account_id = a.account_id AND e.stream_id = a.account_id
    WHERE e.stream = ${Account.stream} AND e.type = 'KeepingChanged' ORDER BY e.account_id, e.version`
  return [...Map.groupBy(changes, ({ account_id }) => account_id)].flatMap(([account_id, own]): Array<Horizon> => {
    const removed = own.flatMap(({ log_days }, nth) => {
      const until = own[nth + 1]?.at
      const end = until === undefined ? now : Timestamp.toMillis(until)
      return log_days === null ? [] : [end - log_days * Timestamp.DAY]
    })
    return removed.length === 0 ? [] : [{ account_id, before: wholeHourAfter(Math.max(...removed)) }]
  })
})

/** The first hour that is whole for sure: one more than the next, for the clock of a node that removes may be ahead. */
const wholeHourAfter = (millis: number): Timestamp.Timestamp =>
  Timestamp.fromMillis((Math.floor(millis / Timestamp.HOUR) + 2) * Timestamp.HOUR)

/** As `horizon`, to join with. */
export const table = (sql: PgClient.PgClient, horizons: ReadonlyArray<Horizon>) => sql`
  unnest(${horizons.map((each) => each.account_id)}::text[], ${horizons.map((each) => each.before)}::timestamptz[])
    AS horizon(account_id, before)`
