import * as Account from "@waybill/domain/account/Account"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import * as TestAccounts from "./TestAccounts.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Start of the period for which an account's log is complete; retention may have removed older events. */
export interface RetentionCutoff {
  readonly account_id: string
  readonly before: Timestamp.Timestamp
}

interface Change {
  readonly account_id: string
  readonly at: Timestamp.Timestamp
  readonly log_days: number | null
}

/**
 * Returns the cutoff of each account that has or had a retention period, as test accounts always have. A longer period
 * does not bring back what a shorter one removed, so every period that was ever set counts.
 */
export const all = Effect.fn("RetentionCutoff.all")(function* (sql: Sql) {
  const now = yield* Clock.currentTimeMillis
  const changes = yield* sql<Change>`
    SELECT e.account_id, e.data ->> 'at' AS at, (e.data -> 'keeping' ->> 'log_days')::int AS log_days
    FROM accounts a JOIN events e ON e.account_id = a.account_id AND e.stream_id = a.account_id
    WHERE e.stream = ${Account.stream} AND e.type = 'KeepingChanged' ORDER BY e.account_id, e.version`
  const tests = (yield* TestAccounts.select(sql)).map(({ account_id }): RetentionCutoff => ({
    account_id: Livemode.testAccountOf(account_id),
    before: wholeHourAfter(now - Account.TEST_LOG_DAYS * Timestamp.DAY),
  }))
  const settings = [...Map.groupBy(changes, ({ account_id }) => account_id)].flatMap(
    ([account_id, settings]): Array<RetentionCutoff> => {
      const removed = settings.flatMap(({ log_days }, nth) => {
        const until = settings[nth + 1]?.at
        const end = until === undefined ? now : Timestamp.toMillis(until)
        return log_days === null ? [] : [end - log_days * Timestamp.DAY]
      })
      return removed.length === 0 ? [] : [{ account_id, before: wholeHourAfter(Math.max(...removed)) }]
    },
  )
  return [...settings, ...tests]
})

/** Returns the first hour that is certainly complete: one more than the next, as a removing node's clock may be ahead. */
const wholeHourAfter = (millis: number): Timestamp.Timestamp =>
  Timestamp.fromMillis((Math.floor(millis / Timestamp.HOUR) + 2) * Timestamp.HOUR)

/** Returns the cutoffs as a table `cutoff(account_id, before)` to join with. */
export const table = (sql: Sql, cutoffs: ReadonlyArray<RetentionCutoff>) => sql`
  unnest(${cutoffs.map((cutoff) => cutoff.account_id)}::text[], ${cutoffs.map((cutoff) => cutoff.before)}::timestamptz[])
    AS cutoff(account_id, before)`
