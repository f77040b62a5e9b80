import * as DmarcReason from "@waybill/domain/domain/DmarcReason"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema } from "effect"
import * as Page from "./Page.ts"

/** Longest period of one response, and the period without `days`. */
export const MAX_DAYS = 400
export const DEFAULT_DAYS = 30
/** Maximum number of sources or failures of one response, and their number without `limit`. */
export const MAX_ROWS = 1_000
export const DEFAULT_ROWS = 100

/** Query of the reports about one domain. */
export const query = {
  days: Page.limit(MAX_DAYS, DEFAULT_DAYS).annotateKey({ description: "Days up to today (UTC) that are counted" }),
  limit: Page.limit(MAX_ROWS, DEFAULT_ROWS),
  verified: Schema.Literals(["true", "false"])
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("true" as const)))
    .annotateKey({
      description: "`false` shows the reports whose mail has no genuine DKIM signature of its sender, and only those",
    }),
}

const count = Schema.Natural
const Day = Schema.String.annotate({ examples: ["2026-11-25"] })

const ReportRecord = Schema.Struct({
  type: Schema.Literal("TXT"),
  name: Schema.String.annotate({ examples: ["_dmarc.acme.test"] }),
  value: Schema.String,
}).annotate({ identifier: "ReportRecord" })

export const Reporter = Schema.Struct({
  domain: Schema.String.annotate({
    description: "Domain that signed the reports; of unverified ones, the domain that they claim to come from",
    examples: ["google.com"],
  }),
  org_name: Schema.String.annotate({ description: "Name that the reporter gives itself" }),
  reports: count,
  last_report_at: Timestamp.Timestamp,
}).annotate({ identifier: "Reporter" })

const messageCounts = {
  messages: count,
  aligned: count.annotate({ description: "Messages that passed DMARC, by DKIM or by SPF" }),
  dkim_aligned: count,
  spf_aligned: count,
  quarantined: count.annotate({ description: "Messages that receivers put into a spam folder because of your policy" }),
  rejected: count.annotate({ description: "Messages that receivers refused because of your policy" }),
}

const overrides = Schema.Array(
  Schema.Struct({
    reason: Schema.Literals(DmarcReason.REASONS),
    messages: count,
    comment: Schema.NullOr(Schema.String).annotate({ description: "Words of a reporter about it" }),
  }).annotate({ identifier: "DmarcOverride" }),
).annotate({
  description:
    "Reasons for which receivers did not apply your policy to mail that failed DMARC. Mail with several reasons counts for each",
})

export const DmarcSource = Schema.Struct({
  source_ip: Schema.NullOr(Schema.String).annotate({
    description: "Address of the server that sent the mail; `null` for the smallest sources of large reports, together",
  }),
  ...messageCounts,
  dkim_domain: Schema.NullOr(Schema.String).annotate({ description: "Domain that signed mail of this source" }),
  spf_domain: Schema.NullOr(Schema.String).annotate({ description: "Domain of its return path" }),
  overrides,
  reporters: Schema.Array(Schema.String).annotate({ description: "Up to 10 reporters that saw the source" }),
  first_day: Day,
  last_day: Day,
}).annotate({ identifier: "DmarcSource" })

const shared = {
  domain: DomainName.DomainName,
  days: count,
  verified: Schema.Boolean,
  report_address: Schema.NullOr(Schema.String).annotate({
    description: "Address at which this service receives the reports; `null` if it receives none",
  }),
  unverified_reports: count.annotate({
    description: "Reports of the period without a genuine signature, which the other numbers leave out",
  }),
  reporters: Schema.Array(Reporter).annotate({ description: "Those with the newest reports first" }),
}

export const DmarcReports = Schema.Struct({
  object: Schema.Literal("dmarc_reports"),
  ...shared,
  record: Schema.NullOr(ReportRecord).annotate({
    description: "Record to publish so that reports come here; `null` if the last DNS check found it",
  }),
  totals: Schema.Struct({ ...messageCounts, sources: count, overrides }).annotate({ identifier: "DmarcTotals" }),
  sources: Schema.Array(DmarcSource).annotate({ description: "Those with the most messages first" }),
}).annotate({ identifier: "DmarcReports" })
export type DmarcReports = typeof DmarcReports.Type

const Policy = Schema.Literals(["sts", "tlsa", "no-policy-found"]).annotate({
  description: "Policy that the sender found: MTA-STS, DANE, or none",
})

export const TlsReports = Schema.Struct({
  object: Schema.Literal("tls_reports"),
  ...shared,
  record: Schema.NullOr(ReportRecord).annotate({ description: "Record to publish so that reports come here" }),
  policies: Schema.Array(
    Schema.Struct({ policy: Policy, succeeded: count, failed: count, last_day: Day }).annotate({
      identifier: "TlsPolicy",
    }),
  ).annotate({ description: "Sessions of mail servers that delivered to the domain" }),
  failures: Schema.Array(
    Schema.Struct({
      policy: Policy,
      failure: Schema.String.annotate({ examples: ["certificate-expired"] }),
      server: Schema.NullOr(Schema.String).annotate({ description: "Your mail server, where reports name it" }),
      sessions: count,
      reporters: Schema.Array(Schema.String),
      last_day: Day,
    }).annotate({ identifier: "TlsFailure" }),
  ).annotate({ description: "Those with the most sessions first" }),
}).annotate({ identifier: "TlsReports" })
export type TlsReports = typeof TlsReports.Type
