import type { Mode } from "@waybill/domain/account/Livemode"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Scope } from "@waybill/domain/account/Scope"
import type { DomainName } from "@waybill/domain/values/DomainName"
import type * as Id from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as Arrays from "../postgres/Arrays.ts"
import * as RateWindows from "./RateWindows.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Requests with the same key, bucket and address, which are one row of the statement. */
export interface RequestGroup {
  readonly hash: string | null
  readonly bucket: RateLimit.Bucket
  readonly address: string | null
  /** Window that counts the requests if the key is not valid. */
  readonly anonymousWindow: string
  readonly requests: number
  /** Windows that this process knows to be exhausted: that of the key, and that of the address. */
  readonly exhaustedKey: RateWindows.ExhaustedWindow | undefined
  readonly exhaustedAnonymous: RateWindows.ExhaustedWindow | undefined
}

/** Result of the statement for one group. */
export interface GroupRow {
  readonly nth: number
  readonly verdict: "valid" | "unknown" | "revoked" | "expired" | "address_not_allowed"
  readonly account_id: Id.AccountId | null
  readonly key_id: Id.ApiKeyId | null
  readonly scopes: ReadonlyArray<Scope> | null
  readonly domain: DomainName | null
  readonly mode: Mode | null
  readonly test_clock: Id.TestClockId | null
  readonly window_name: string
  readonly limit_count: number
  /** Requests of the window including these; null when it was known to be exhausted and these were not counted. */
  readonly total: number | null
  /** Time on the database's clock, which all nodes share. */
  readonly now_ms: number
}

const millis = (windows: ReadonlyArray<RateWindows.ExhaustedWindow | undefined>) =>
  Arrays.floats(windows.map((each) => each?.window_ms ?? 0))

/** Looks up every key, and decides which window counts each group. */
const decided = (sql: Sql, groups: ReadonlyArray<RequestGroup>, kind: "" | "MATERIALIZED") => {
  const as = sql.literal(`AS ${kind}`)
  return sql`
  request ${as} (
    SELECT * FROM unnest(
      ${Arrays.texts(groups.map((each) => each.hash ?? ""))}, ${Arrays.texts(groups.map((each) => each.bucket))},
      ${Arrays.ints(groups.map((each) => RateLimit.PER_MINUTE[each.bucket]))}, ${Arrays.texts(groups.map((each) => each.address ?? ""))},
      ${Arrays.texts(groups.map((each) => each.anonymousWindow))}, ${Arrays.ints(groups.map((each) => each.requests))},
      ${millis(groups.map((each) => each.exhaustedKey))},
      ${Arrays.ints(groups.map((each) => each.exhaustedKey?.limit ?? 0))},
      ${millis(groups.map((each) => each.exhaustedAnonymous))}
    ) WITH ORDINALITY AS r(hash, bucket, usual_limit, address, anonymous_window, requests, exhausted_key,
      exhausted_limit, exhausted_anonymous, nth)
  ), clock ${as} (
    SELECT date_trunc('minute', statement_timestamp()) AS minute,
      (extract(epoch FROM date_trunc('minute', statement_timestamp())) * 1000)::float8 AS minute_ms
  ), checked ${as} (
    SELECT r.*, k.account_id, k.id AS key_id, k.scopes, k.domain, k.mode, k.test_clock,
      CASE
        WHEN k.id IS NULL THEN 'unknown'
        WHEN k.revoked_at IS NOT NULL THEN 'revoked'
        WHEN k.expires_at <= statement_timestamp() THEN 'expired'
        WHEN cardinality(k.allowed_ips) > 0 AND NOT address_is_allowed(r.address, k.allowed_ips)
          THEN 'address_not_allowed'
        ELSE 'valid'
      END AS verdict,
      coalesce((a.record -> 'granted' ->> r.bucket)::int, r.usual_limit) AS key_limit
    FROM request r
    LEFT JOIN api_keys k ON k.hash = r.hash
    LEFT JOIN accounts a ON a.account_id = k.account_id
  ), decided ${as} (
    SELECT c.*,
      CASE verdict WHEN 'valid' THEN key_id || '/' || bucket ELSE anonymous_window END AS window_name,
      CASE verdict WHEN 'valid' THEN key_limit ELSE ${RateLimit.ANONYMOUS_PER_MINUTE}::int END AS limit_count,
      CASE verdict WHEN 'valid' THEN exhausted_key = minute_ms AND key_limit <= exhausted_limit
        ELSE exhausted_anonymous = minute_ms END AS is_exhausted
    FROM checked c CROSS JOIN clock
  )`
}

const COLUMNS = `d.nth::int, d.verdict, d.account_id, d.key_id, d.scopes, d.domain, d.mode, d.test_clock,
    d.window_name, d.limit_count, floor(extract(epoch FROM statement_timestamp()) * 1000)::float8 AS now_ms`

/**
 * Looks up every key, decides which window counts each group, and adds to the windows, all in one snapshot. The windows are
 * locked in the order of their names, so that two statements cannot deadlock.
 */
export const statement = (sql: Sql, groups: ReadonlyArray<RequestGroup>) => sql<GroupRow>`
  WITH ${decided(sql, groups, "MATERIALIZED")}, counted AS (
    INSERT INTO rate_windows AS w (bucket, window_start, count)
    SELECT window_name, minute, sum(requests) FROM decided CROSS JOIN clock
    WHERE NOT is_exhausted GROUP BY window_name, minute ORDER BY window_name
    ON CONFLICT (bucket, window_start) DO UPDATE SET count = w.count + excluded.count
    RETURNING w.bucket, w.count
  )
  SELECT ${sql.literal(COLUMNS)}, n.count AS total FROM decided d LEFT JOIN counted n ON n.bucket = d.window_name
  ORDER BY d.nth`

interface CheckedRow extends Omit<GroupRow, "total"> {
  readonly is_exhausted: boolean
}

/**
 * Looks up the keys in one statement and counts in another one, for keys that may lie on another node than the windows. In
 * one statement, what is counted would be sent to every node, also to those that are away.
 */
export const inTwo = Effect.fnUntraced(function* (sql: Sql, groups: ReadonlyArray<RequestGroup>) {
  const checked = yield* sql<CheckedRow>`
    WITH ${decided(sql, groups, "")} SELECT ${sql.literal(COLUMNS)}, d.is_exhausted FROM decided d ORDER BY d.nth`
  const counts = new Map<string, number>()
  for (const [nth, { is_exhausted, window_name }] of checked.entries())
    if (!is_exhausted) counts.set(window_name, (counts.get(window_name) ?? 0) + (groups[nth]?.requests ?? 0))
  const totals = new Map<string, number>()
  if (counts.size > 0) for (const { bucket, count } of yield* RateWindows.count(sql, counts)) totals.set(bucket, count)
  return checked.map(({ is_exhausted: _, ...row }): GroupRow => ({
    ...row,
    total: totals.get(row.window_name) ?? null,
  }))
})
