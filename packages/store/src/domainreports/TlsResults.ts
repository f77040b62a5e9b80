import { Effect } from "effect"
import * as DmarcSources from "./DmarcSources.ts"
import type * as DomainReports from "./DomainReports.ts"
import { Sql } from "../postgres/Sql.ts"

/** Sessions with one result. */
export interface Row {
  readonly policy: "sts" | "tlsa" | "no-policy-found"
  /** Null for sessions that succeeded. */
  readonly failure: string | null
  readonly server: string | null
  readonly sessions: number
}

/** Adds rows to those of the same day and result. */
export const write =
  (rowsOf: (target: DomainReports.Target) => ReadonlyArray<Row>): DomainReports.Write =>
  (sql, target, day, { reporter, verified }) => {
    const rows = rowsOf(target)
    if (rows.length === 0) return Effect.void
    return sql`
      INSERT INTO tls_results AS t (account_id, domain_id, day, verified, reporter, policy, failure, server, sessions)
      SELECT ${target.account_id}, ${target.domain_id}, ${day}::date, ${verified}, ${reporter}, r.*
      FROM unnest(${rows.map(({ policy }) => policy)}::text[], ${rows.map(({ failure }) => failure ?? "")}::text[],
        ${rows.map(({ server }) => server ?? "")}::text[], ${rows.map(({ sessions }) => sessions)}::bigint[]) AS r
      ON CONFLICT (account_id, domain_id, day, verified, reporter, policy, failure, server)
      DO UPDATE SET sessions = t.sessions + excluded.sessions`
  }

export interface Policy {
  readonly policy: Row["policy"]
  readonly succeeded: number
  readonly failed: number
  readonly last_day: string
}

export interface Failure {
  readonly policy: Row["policy"]
  readonly failure: string
  readonly server: string | null
  readonly sessions: number
  readonly reporters: ReadonlyArray<string>
  readonly last_day: string
}

/** Sessions by the policy that the reporters found. */
export const policies = Effect.fn("TlsResults.policies")(function* (span: DmarcSources.Span) {
  const sql = yield* Sql
  return yield* sql<Policy>`
    SELECT policy, coalesce(sum(sessions) FILTER (WHERE failure = ''), 0)::float8 AS succeeded,
      coalesce(sum(sessions) FILTER (WHERE failure <> ''), 0)::float8 AS failed, max(day)::text AS last_day
    FROM tls_results WHERE ${DmarcSources.within(sql, span)} GROUP BY policy ORDER BY sum(sessions) DESC, policy`
})

/** The failures with the most sessions. */
export const failures = Effect.fn("TlsResults.failures")(function* (span: DmarcSources.Span, limit: number) {
  const sql = yield* Sql
  return yield* sql<Failure>`
    SELECT policy, failure, nullif(server, '') AS server, sum(sessions)::float8 AS sessions,
      (array_agg(DISTINCT reporter))[1:${sql.literal(String(DmarcSources.MAX_NAMED_REPORTERS))}] AS reporters,
      max(day)::text AS last_day
    FROM tls_results WHERE ${DmarcSources.within(sql, span)} AND failure <> ''
    GROUP BY policy, failure, server ORDER BY sum(sessions) DESC, policy, failure, server LIMIT ${limit}::int`
})
