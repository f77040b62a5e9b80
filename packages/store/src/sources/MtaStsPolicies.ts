import { PgTypes } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import type { Sql } from "../postgres/Sql.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/**
 * Interval of refreshes, as RFC 8461 §3.3 suggests. A policy with a lifetime below two days is refreshed after half of
 * its lifetime.
 */
export const REFRESH_EVERY = Duration.days(1)
/**
 * Shortest interval of refreshes. A policy with a lifetime below twice this is only fetched when mail is sent to its
 * domain.
 */
export const MIN_REFRESH = Duration.hours(1)
/** Delay until a refresh that failed or was not finished is tried again. */
export const RETRY_AFTER = Duration.hours(3)
/** Policies of domains that got no mail for this long are not refreshed; they stay valid until they expire. */
export const RECENTLY_USED = Duration.days(30)
/** Maximum number of policies that one run refreshes. */
export const MAX_DUE = 1_000
/** Maximum number of policies. Those of the domains that got no mail for the longest time are removed first. */
export const MAX_POLICIES = 100_000
/** Time that an expired policy is retained, because clocks of nodes may differ. */
export const KEPT_AFTER_END = Duration.days(1)
/** Resolution at which the last use of a policy is recorded. */
const USED_EVERY = Duration.days(1)

interface StoredPolicy {
  readonly id: string
  readonly policy: {
    readonly mode: "enforce" | "testing" | "none"
    readonly mx: ReadonlyArray<string>
    readonly max_age_ms: number
  }
  readonly expires_at: number
}

/** Stored policies for the MTA-STS client. Finding a policy records its use. */
export const policyStore = Effect.map(HomeSql, (sql) => ({
  find: Effect.fn("MtaStsPolicies.find")(function* (domain: string) {
    const rows = yield* sql<StoredPolicy>`
      WITH used AS (
        UPDATE mta_sts_policies SET used_at = now()
        WHERE domain = ${domain} AND used_at < now() - ${interval(sql, USED_EVERY)}
      )
      SELECT id, policy, (extract(epoch FROM expires_at) * 1000)::float8 AS expires_at
      FROM mta_sts_policies WHERE domain = ${domain}`
    return rows[0]
  }),
  put: Effect.fn("MtaStsPolicies.put")(function* (domain: string, { expires_at, id, policy }: StoredPolicy) {
    const life = Duration.times(Duration.millis(policy.max_age_ms), 0.5)
    const next = Duration.min(REFRESH_EVERY, Duration.max(MIN_REFRESH, life))
    yield* sql`
      INSERT INTO mta_sts_policies (domain, id, policy, expires_at, refresh_at)
      VALUES (${domain}, ${id}, ${PgTypes.jsonb(policy)}, to_timestamp(${expires_at / 1000}::float8),
        now() + ${interval(sql, next)})
      ON CONFLICT (domain) DO UPDATE SET id = excluded.id, policy = excluded.policy, fetched_at = excluded.fetched_at,
        expires_at = excluded.expires_at, refresh_at = excluded.refresh_at`
  }),
}))

export interface Due {
  readonly domain: string
  readonly mode: StoredPolicy["policy"]["mode"]
  readonly expires_at: string
}

/**
 * Claims policies that are due for a refresh. A claimed policy that is not refreshed becomes due again after
 * `RETRY_AFTER`.
 */
export const due = Effect.fn("MtaStsPolicies.due")(function* () {
  const sql = yield* HomeSql
  return yield* sql<Due>`
    UPDATE mta_sts_policies SET refresh_at = now() + ${interval(sql, RETRY_AFTER)}
    WHERE domain = ANY(ARRAY(
      SELECT domain FROM mta_sts_policies
      WHERE refresh_at <= now() AND expires_at > now() AND used_at > now() - ${interval(sql, RECENTLY_USED)}
      ORDER BY refresh_at LIMIT ${MAX_DUE}::int FOR UPDATE SKIP LOCKED))
    RETURNING domain, policy ->> 'mode' AS mode, ${Iso.iso(sql, "expires_at")} AS expires_at`
})

/** Removes expired policies and those beyond the maximum, and returns how many. Runs periodically. */
export const sweep = Effect.fn("MtaStsPolicies.sweep")(function* (maximum = MAX_POLICIES) {
  const sql = yield* HomeSql
  const removed = yield* sql`
    DELETE FROM mta_sts_policies
    WHERE expires_at < now() - ${interval(sql, KEPT_AFTER_END)} OR domain = ANY(ARRAY(
      SELECT domain FROM mta_sts_policies ORDER BY used_at DESC, domain OFFSET ${maximum}::int))
    RETURNING domain`
  return removed.length
})

const interval = (sql: Sql, duration: Duration.Duration) =>
  sql`make_interval(secs => ${Duration.toSeconds(duration)}::float8)`
