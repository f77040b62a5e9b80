import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import * as Iso from "../postgres/Iso.ts"
import * as DmarcSources from "./DmarcSources.ts"
import type { ReportKind } from "./DomainReports.ts"
import { Sql } from "../postgres/Sql.ts"

export interface Reporter {
  /** Domain that signed the reports, or only claims to have sent them. */
  readonly domain: string
  /** Name that the reporter gives itself. */
  readonly org_name: string
  readonly reports: number
  readonly last_report_at: Timestamp
}

/** Reporters that a response lists, those with the newest reports first. */
export const MAX_REPORTERS = 100

/** Lists who sent reports of a kind about a domain. */
export const list = Effect.fn("Reporters.list")(function* (span: DmarcSources.Span, kind: ReportKind) {
  const sql = yield* Sql
  return yield* sql<Reporter>`
    SELECT reporter AS domain, (array_agg(org_name ORDER BY received_at DESC))[1] AS org_name,
      count(*)::int AS reports, ${Iso.iso(sql, "max(received_at)")} AS last_report_at
    FROM domain_reports
    WHERE ${DmarcSources.within(sql, span)} AND kind = ${kind}
    GROUP BY reporter ORDER BY max(received_at) DESC, reporter LIMIT ${MAX_REPORTERS}::int`
})

/** Number of reports that no genuine signature covers, which are shown apart. */
export const unverifiedReports = Effect.fn("Reporters.unverifiedReports")(function* (
  span: Omit<DmarcSources.Span, "verified">,
  kind: ReportKind,
) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly reports: number }>`
    SELECT count(*)::int AS reports FROM domain_reports
    WHERE ${DmarcSources.within(sql, { ...span, verified: false })} AND kind = ${kind}`
  return rows[0]?.reports ?? 0
})
