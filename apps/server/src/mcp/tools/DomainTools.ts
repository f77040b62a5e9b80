import * as DomainReports from "@waybill/api/schemas/DomainReports"
import type { DmarcReports, Domain } from "@waybill/client/Waybill"
import * as DomainName from "@waybill/domain/values/DomainName"
import { Effect, Schema } from "effect"
import { clipped, listed } from "./ToolAnswer.ts"
import { domainText } from "./domainText.ts"
import { ask, tool, untrusted } from "./Tool.ts"

const text = Schema.String
const maybeText = Schema.NullOr(text)
const { optional } = Schema

const health = tool({
  name: "get_domain_health",
  title: "Get the health of domains",
  description:
    "Tells whether a sending domain can send, and which DNS records are missing or wrong, with the values to publish. Without a name, all domains in short.",
  input: Schema.Struct({ domain: Schema.optionalKey(DomainName.FromText) }),
  facts: {
    name: optional(text),
    status: optional(text),
    verified_at: optional(maybeText),
    last_checked_at: optional(maybeText),
    next_check_at: optional(maybeText),
    open_tracking: optional(Schema.Boolean),
    click_tracking: optional(Schema.Boolean),
    tracking_domain: optional(Schema.Unknown),
  },
  /** A domain, or a DNS record of the one that was asked for. */
  row: Schema.Struct({
    name: text,
    status: text,
    explanation: optional(text),
    purpose: optional(text),
    type: optional(text),
    required: optional(Schema.Boolean),
    publish: optional(text),
    untrusted: optional(untrusted({ found: Schema.Array(text), error: optional(text) })),
  }),
  run: (waybill, { domain }) =>
    domain === undefined
      ? ask(() => waybill.domains.list()).pipe(Effect.map(({ data }) => inShort(data)))
      : ask(() => waybill.domains.get(domain)).pipe(Effect.map(inFull)),
})

const inShort = (domains: ReadonlyArray<Domain>) => ({
  summary: domains.length === 0 ? "There are no domains yet." : `${domains.length} domains.`,
  rows: domains.map((domain) => ({ name: domain.name, status: domain.status, explanation: domainText(domain) })),
})

const inFull = (domain: Domain) => ({
  summary: domainText(domain),
  facts: {
    name: domain.name,
    status: domain.status,
    verified_at: domain.verified_at,
    last_checked_at: domain.last_checked_at,
    next_check_at: domain.next_check_at,
    open_tracking: domain.open_tracking,
    click_tracking: domain.click_tracking,
    tracking_domain: domain.tracking_domain,
  },
  rows: domain.records.map(({ error, found, name, purpose, required, status, type, value }) => ({
    purpose,
    type,
    name,
    required,
    status,
    publish: value,
    untrusted: { found: listed(found), error: error === null ? undefined : clipped(error) },
  })),
})

const reports = tool({
  name: "get_dmarc_reports",
  title: "Get DMARC reports of a domain",
  description:
    "Tells which servers send mail in the name of a domain, and how much of it passes DMARC, as its receivers report it. Only verified reports are counted.",
  input: Schema.Struct({
    domain: DomainName.FromText,
    days: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: DomainReports.MAX_DAYS }))),
  }),
  facts: {
    messages: Schema.Natural,
    passed_by_dkim: Schema.Natural,
    passed_by_spf: Schema.Natural,
    quarantined: Schema.Natural,
    rejected: Schema.Natural,
    policy_not_applied: Schema.Record(text, Schema.Natural),
    unverified_reports: Schema.Natural,
    publish: maybeText,
    untrusted: untrusted({ value: maybeText }),
  },
  row: Schema.Struct({
    messages: Schema.Natural,
    passed: Schema.Natural,
    last_day: text,
    policy_not_applied: text,
    untrusted: untrusted({
      source_ip: text,
      dkim_domain: maybeText,
      spf_domain: maybeText,
      reporters: Schema.Array(text),
    }),
  }),
  run: (waybill, { days, domain }) =>
    ask(() => waybill.domains.dmarc(domain, { limit: SHOWN_SOURCES, ...(days === undefined ? {} : { days }) })).pipe(
      Effect.map(senders),
    ),
})

/** Sources that one answer lists. */
const SHOWN_SOURCES = 50

const senders = ({ days, domain, record, reporters, sources, totals, unverified_reports }: DmarcReports) => ({
  summary:
    reporters.length === 0
      ? `There are no DMARC reports about ${domain} in the last ${days} days.`
      : `${totals.messages} messages from ${totals.sources} sources were sent in the name of ${domain} in the last ${days} days; ${totals.aligned} of them passed DMARC.`,
  facts: {
    messages: totals.messages,
    passed_by_dkim: totals.dkim_aligned,
    passed_by_spf: totals.spf_aligned,
    quarantined: totals.quarantined,
    rejected: totals.rejected,
    policy_not_applied: Object.fromEntries(totals.overrides.map(({ messages, reason }) => [reason, messages])),
    unverified_reports,
    publish: record === null ? null : `TXT ${record.name}`,
    // The value repeats the record that is in DNS.
    untrusted: { value: record === null ? null : clipped(record.value) },
  },
  rows: sources.map(({ aligned, dkim_domain, last_day, messages, overrides, reporters, source_ip, spf_domain }) => ({
    messages,
    passed: aligned,
    last_day,
    policy_not_applied: overrides.map(({ reason }) => reason).join(", "),
    untrusted: { source_ip, dkim_domain, spf_domain, reporters: listed(reporters) },
  })),
})

export const all = [health, reports]
