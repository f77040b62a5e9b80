import { type PgClient, PgTypes } from "@effect/sql-pg"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { Result } from "effect"
import type { Spent } from "./RateWindows.ts"

/** Requests that are alike: one row of the statement, however many they are. */
export interface Asked {
  readonly hash: string | null
  readonly bucket: RateLimit.Bucket
  readonly address: string | null
  /** The window of this client while it has no valid key. */
  readonly anonymous: string
  readonly requests: number
  readonly spentKey: Spent | undefined
  readonly spentAnonymous: Spent | undefined
}

export interface Judged {
  readonly nth: number
  readonly verdict: "valid" | "unknown" | "revoked" | "expired" | "address_not_allowed"
  readonly account_id: string | null
  readonly key_id: string | null
  readonly scopes: ReadonlyArray<string> | null
  readonly domain: string | null
  readonly window_name: string
  readonly limit_count: number
  /** How many the window holds with these, or null when it was known to be exhausted and they were not counted. */
  readonly total: number | null
  /** The database's clock: it is the one that all nodes share. */
  readonly now_ms: number
}

// An array's type is read off its first element, and these are 0 or too large for the type of 0.
const millis = (windows: ReadonlyArray<Spent | undefined>) =>
  Result.getOrThrow(
    PgTypes.array(
      windows.map((each) => each?.window_ms ?? 0),
      PgTypes.OID.float8,
    ),
  )

/**
 * One statement, one snapshot: looks up every key, decides which window each request belongs to, and adds to all
 * windows in the order of their names, so that two statements never wait for each other in a ring.
 */
export const statement = (sql: PgClient.PgClient, asked: ReadonlyArray<Asked>) => sql<Judged>`
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(
      ${asked.map((each) => each.hash ?? "")}::text[], ${asked.map((each) => each.bucket)}::text[],
      ${asked.map((each) => RateLimit.PER_MINUTE[each.bucket])}::int[], ${asked.map((each) => each.address ?? "")}::text[],
      ${asked.map((each) => each.anonymous)}::text[], ${asked.map((each) => each.requests)}::int[],
      ${millis(asked.map((each) => each.spentKey))},
      ${asked.map((each) => each.spentKey?.limit ?? 0)}::int[],
      ${millis(asked.map((each) => each.spentAnonymous))}
    ) WITH ORDINALITY AS a(hash, bucket, usual_limit, address, anonymous, requests, spent_key, spent_limit,
      spent_anonymous, nth)
  ), clock AS MATERIALIZED (
    SELECT date_trunc('minute', statement_timestamp()) AS minute,
      (extract(epoch FROM date_trunc('minute', statement_timestamp())) * 1000)::float8 AS minute_ms
  ), found AS MATERIALIZED (
    SELECT a.*, k.account_id, k.id AS key_id, k.scopes, k.domain,
      CASE
        WHEN k.id IS NULL THEN 'unknown'
        WHEN k.revoked_at IS NOT NULL THEN 'revoked'
        WHEN k.expires_at <= statement_timestamp() THEN 'expired'
        WHEN cardinality(k.allowed_ips) > 0 AND NOT address_is_allowed(a.address, k.allowed_ips)
          THEN 'address_not_allowed'
        ELSE 'valid'
      END AS verdict,
      coalesce((c.record -> 'granted' ->> a.bucket)::int, a.usual_limit) AS key_limit
    FROM asked a
    LEFT JOIN api_keys k ON k.hash = a.hash
    LEFT JOIN accounts c ON c.account_id = k.account_id
  ), judged AS MATERIALIZED (
    SELECT f.*,
      CASE verdict WHEN 'valid' THEN key_id || '/' || bucket ELSE anonymous END AS window_name,
      CASE verdict WHEN 'valid' THEN key_limit ELSE ${RateLimit.ANONYMOUS_PER_MINUTE}::int END AS limit_count,
      CASE verdict WHEN 'valid' THEN spent_key = minute_ms AND key_limit <= spent_limit
        ELSE spent_anonymous = minute_ms END AS is_spent
    FROM found f CROSS JOIN clock
  ), counted AS (
    INSERT INTO rate_windows AS w (bucket, window_start, count)
    SELECT window_name, minute, sum(requests) FROM judged CROSS JOIN clock
    WHERE NOT is_spent GROUP BY window_name, minute ORDER BY window_name
    ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + excluded.count
    RETURNING w.bucket, w.count
  )
  SELECT j.nth::int, j.verdict, j.account_id, j.key_id, j.scopes, j.domain, j.window_name, j.limit_count,
    n.count AS total, floor(extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now_ms
  FROM judged j LEFT JOIN counted n ON n.bucket = j.window_name
  ORDER BY j.nth`
