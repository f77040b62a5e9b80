import * as RateLimit from "@waybill/domain/account/RateLimit"
import { Effect } from "effect"
import { HomeSql } from "../routing/HomeSql.ts"

export interface Attempts {
  /** Attempts in the fullest of the windows, including this one. */
  readonly total: number
  /** Seconds until the windows end. */
  readonly retry_after_s: number
}

/**
 * Counts one attempt in each of these windows of a minute, in one statement: all nodes share the counts, and concurrent
 * attempts are counted one after the other.
 */
export const count = Effect.fn("SignInTries.count")(function* (windows: ReadonlyArray<string>) {
  const sql = yield* HomeSql
  const [counted] = yield* sql<{ readonly total: number; readonly now_ms: number }>`
    WITH counted AS (
      INSERT INTO rate_windows AS w (bucket, window_start, count)
      SELECT DISTINCT 'sign-in/' || name, date_trunc('minute', statement_timestamp()), 1
      FROM unnest(${windows}::text[]) AS name ORDER BY 1
      ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + 1
      RETURNING w.count
    )
    SELECT max(count) AS total, floor(extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now_ms FROM counted`
  const { now_ms, total } = counted ?? { now_ms: 0, total: 0 }
  return { total, retry_after_s: RateLimit.retryAfterSeconds(now_ms) } satisfies Attempts
})
