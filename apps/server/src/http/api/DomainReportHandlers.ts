import type * as Contract from "@waybill/api/schemas/DomainReports"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as ReportRecords from "@waybill/mail/dns/ReportRecords"
import * as DmarcOverrides from "@waybill/store/domainreports/DmarcOverrides"
import * as DmarcSources from "@waybill/store/domainreports/DmarcSources"
import * as Reporters from "@waybill/store/domainreports/Reporters"
import type { ReportKind } from "@waybill/store/domainreports/DomainReports"
import * as TlsResults from "@waybill/store/domainreports/TlsResults"
import type { DomainRecord } from "@waybill/store/readmodels/Domains"
import { Effect } from "effect"
import type { EndpointCall } from "../middleware/Handlers.ts"
import { Instance } from "../../settings/Instance.ts"

type Query = EndpointCall<"domains", "dmarc" | "tls">["query"]

/** Shows who sends mail in the name of a domain, as the receivers of that mail report it. */
export const dmarc = Effect.fnUntraced(function* (domain: DomainRecord, query: Query) {
  const { span, ...shared } = yield* sharedOf(domain, query, "dmarc")
  const sources = yield* DmarcSources.sources(span, query.limit)
  const overrides = Map.groupBy(
    yield* DmarcOverrides.ofSources(
      span,
      sources.map(({ source_ip }) => source_ip),
    ),
    ({ source_ip }) => source_ip,
  )
  const finding = domain.records.find(({ purpose }) => purpose === "dmarc")
  return {
    object: "dmarc_reports" as const,
    ...shared,
    record:
      shared.report_address === null
        ? null
        : ReportRecords.dmarcRecord(domain.name, shared.report_address, finding?.found[0]),
    totals: { ...(yield* DmarcSources.totals(span)), overrides: yield* DmarcOverrides.totals(span) },
    sources: sources.map((source) => ({
      ...source,
      overrides: (overrides.get(source.source_ip) ?? []).map(({ comment, messages, reason }) => ({
        reason,
        messages,
        comment,
      })),
    })),
  } satisfies Contract.DmarcReports
})

/** Shows how other mail servers fared when they delivered to a domain with TLS. */
export const tls = Effect.fnUntraced(function* (domain: DomainRecord, query: Query) {
  const { span, ...shared } = yield* sharedOf(domain, query, "tls")
  return {
    object: "tls_reports" as const,
    ...shared,
    record: shared.report_address === null ? null : ReportRecords.tlsRecord(domain.name, shared.report_address),
    policies: yield* TlsResults.policies(span),
    failures: yield* TlsResults.failures(span, query.limit),
  } satisfies Contract.TlsReports
})

const sharedOf = Effect.fnUntraced(function* (
  { domain_id, name }: DomainRecord,
  { days, ...query }: Query,
  kind: ReportKind,
) {
  const { account_id } = yield* CurrentKey
  const { returnPath } = yield* Instance
  const verified = query.verified === "true"
  const span = { account_id, domain_id, days, verified }
  const local = kind === "dmarc" ? ReportRecords.DMARC_ADDRESS : ReportRecords.TLS_ADDRESS
  return {
    span,
    domain: name,
    days,
    verified,
    report_address: returnPath?.kind === "cname" ? ReportRecords.addressAt(local, returnPath.target) : null,
    unverified_reports: yield* Reporters.unverifiedReports(span, kind),
    reporters: yield* Reporters.list(span, kind),
  }
})
