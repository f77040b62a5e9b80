import type { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { DmarcReport } from "@waybill/mail/aggregate/DmarcReport"
import { MAX_MAIL_BYTES } from "@waybill/mail/aggregate/readAggregate"
import type { TlsReport } from "@waybill/mail/aggregate/TlsReport"
import type * as Dns from "@waybill/mail/dns/Dns"
import * as ReportRecords from "@waybill/mail/dns/ReportRecords"
import * as AggregateReport from "@waybill/mail/reading/AggregateReport"
import * as DmarcOverrides from "@waybill/store/domainreports/DmarcOverrides"
import * as DmarcSources from "@waybill/store/domainreports/DmarcSources"
import * as Store from "@waybill/store/domainreports/DomainReports"
import * as TlsResults from "@waybill/store/domainreports/TlsResults"
import { Clock, Effect, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as DomainReportMetrics from "../observability/DomainReportMetrics.ts"
import { reply, REPORTS_BUSY, type SmtpReply } from "./SmtpReply.ts"

const ADDRESSES: ReadonlySet<string> = new Set([ReportRecords.DMARC_ADDRESS, ReportRecords.TLS_ADDRESS])

/** Number of bytes to keep of a mail with an aggregate report; one more shows that it is too large. */
export const KEEP_BYTES = MAX_MAIL_BYTES + 1

/** Maximum number of bytes of all such mails in progress: a part of the intake, so that bounces are received beside them. */
export const MAX_BYTES_HELD = 64 * 1024 * 1024

/** Age of a report, from the end of its period, beyond which it is taken for a replay. */
export const MAX_AGE_DAYS = 14
/** Longest period of a report. They are made daily, by a few reporters weekly. */
export const MAX_PERIOD_DAYS = 8
/** How far the end of a period may lie in the future, by clocks that are wrong and days that end elsewhere. */
const MAX_AHEAD_DAYS = 1

export const isAddress = (localPart: string): boolean => ADDRESSES.has(localPart.toLowerCase())

const DATABASE_AWAY = reply(451, "4.3.0", "Some accounts cannot be looked up, please try again later")
const NO_KEY = reply(451, "4.4.3", "The DKIM key of the report could not be looked up, please try again later")

/**
 * Records an aggregate report for the domains that it is about, with whether its mail was signed by its sender's domain.
 * Anything that is no such report is dropped, counted and logged: anybody can write to these addresses.
 */
export const receive = Effect.fn("ReceivedDomainReports.receive")(function* (
  bytes: Uint8Array,
  { address }: { readonly address: string },
): Effect.fn.Return<void, SmtpReply | StoreUnavailable, PgClient.PgClient | Dns.Dns> {
  const result = yield* Effect.result(AggregateReport.receive(bytes))
  if (Result.isFailure(result)) {
    if (result.failure._tag === "Busy") return yield* REPORTS_BUSY
    if (result.failure._tag === "KeyUnavailable") return yield* NO_KEY
    return yield* dropped(address, result.failure.reason)
  }
  const { report, reporter, verified } = result.success
  const about = { reporter, verified, report_id: report.reportId }
  const problem = periodProblem(report, yield* Clock.currentTimeMillis)
  if (problem !== undefined) return yield* dropped(address, problem, about)
  const { missing, outcome } = yield* report._tag === "Dmarc"
    ? recordDmarc(report, result.success)
    : recordTls(report, result.success)
  // The domains of these databases may be meant as well. What was recorded for the others is not counted twice.
  if (missing.length > 0) return yield* DATABASE_AWAY
  if (outcome !== "recorded") return yield* dropped(address, outcome, about)
  DomainReportMetrics.received(verified ? "recorded" : "unverified")
})

const dropped = (from: string, reason: string, about: object = {}) => {
  DomainReportMetrics.received(DomainReportMetrics.isOutcome(reason) ? reason : "unreadable")
  return Effect.logInfo("aggregate report was dropped; it changed nothing", { from, reason, ...about })
}

const periodProblem = (
  { begin, end }: Pick<DmarcReport, "begin" | "end">,
  now: number,
): "too_old" | "bad_period" | undefined => {
  if (end < now - MAX_AGE_DAYS * Timestamp.DAY) return "too_old"
  const isPossible = end <= now + MAX_AHEAD_DAYS * Timestamp.DAY && end - begin <= MAX_PERIOD_DAYS * Timestamp.DAY
  return isPossible ? undefined : "bad_period"
}

type Sender = Pick<AggregateReport.Received, "reporter" | "verified">

const headingOf = (report: DmarcReport | TlsReport, { reporter, verified }: Sender): Store.Heading => ({
  kind: report._tag === "Dmarc" ? "dmarc" : "tls",
  verified,
  reporter,
  reportId: report.reportId,
  about: report._tag === "Dmarc" ? report.domain : "",
  orgName: report.orgName,
  begin: report.begin,
  end: report.end,
})

/** Each account sees the mail in the name of its most specific domain, at or below the domain of the policy. */
const recordDmarc = Effect.fnUntraced(function* (report: DmarcReport, sender: Sender) {
  const paths = new Map(report.rows.map(({ domain }) => [domain, pathTo(domain, report.domain)]))
  const names = new Set([report.domain, ...[...paths.values()].flat()])
  const { found, missing } = yield* Store.targets([...names])
  const rows = new Map<string, Array<DmarcReport["rows"][number]>>()
  for (const ofAccount of Map.groupBy(found, ({ account_id }) => account_id).values()) {
    const byName = new Map(ofAccount.map((target) => [target.name, target]))
    for (const row of report.rows) {
      const name = paths.get(row.domain)?.find((name) => byName.has(name))
      const target = name === undefined ? undefined : byName.get(name)
      if (target === undefined) continue
      const ofTarget = rows.get(target.domain_id) ?? []
      ofTarget.push(row)
      rows.set(target.domain_id, ofTarget)
    }
  }
  // A report without mail says that nobody sent any in the name of its domain.
  const concerned = found.filter(
    ({ domain_id, name }) => rows.has(domain_id) || (report.rows.length === 0 && name === report.domain),
  )
  const rowsOf = ({ domain_id }: Store.Target) => rows.get(domain_id) ?? []
  const writes = [DmarcSources.write(rowsOf), DmarcOverrides.write(rowsOf)]
  const outcome = yield* Store.record(headingOf(report, sender), concerned, (...about) =>
    Effect.forEach(writes, (write) => write(...about)),
  )
  return { outcome, missing }
})

/** Levels below the domain of a policy at which domains of accounts are looked for. A name may have a hundred. */
export const MAX_LEVELS = 8

/** The domain and those above it, up to the domain of the policy. */
const pathTo = (domain: string, top: string): ReadonlyArray<string> => {
  if (domain === top) return [top]
  const levels = domain
    .slice(0, -top.length - 1)
    .split(".")
    .slice(-MAX_LEVELS)
  return [...levels.map((_, nth) => `${levels.slice(nth).join(".")}.${top}`), top]
}

const recordTls = Effect.fnUntraced(function* (report: TlsReport, sender: Sender) {
  const { found, missing } = yield* Store.targets([...new Set(report.rows.map(({ domain }) => domain))])
  const outcome = yield* Store.record(
    headingOf(report, sender),
    found,
    TlsResults.write(({ name }) => report.rows.filter(({ domain }) => domain === name)),
  )
  return { outcome, missing }
})
