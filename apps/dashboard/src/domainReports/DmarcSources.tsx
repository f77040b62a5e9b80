import type { DmarcReports } from "../api/Records.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { Figures } from "./Figures.tsx"
import * as Format from "./ReportFormat.ts"
import * as ReportQueries from "./ReportQueries.ts"

type Source = DmarcReports["sources"][number]

/** Table of the servers that sent mail in the name of a domain. */
export const DmarcSources = ({ reports: { reporters, sources, totals } }: { readonly reports: DmarcReports }) => (
  <>
    <Figures
      figures={[
        ["Messages", Format.number(totals.messages)],
        ["Passed DMARC", Format.share(totals.aligned, totals.messages)],
        ["Quarantined or rejected", Format.number(totals.quarantined + totals.rejected)],
        ["Reporters", Format.reporters(reporters)],
      ]}
    />
    <Table
      label="Sources"
      rows={sources}
      keyOf={({ source_ip }) => source_ip ?? ""}
      columns={[
        { name: "Source", main: true, cell: (source) => <SourceName source={source} /> },
        { name: "Messages", number: true, cell: ({ messages }) => Format.number(messages) },
        { name: "DMARC", cell: (source) => <Verdict source={source} /> },
        {
          name: "DKIM",
          number: true,
          wide: true,
          cell: (source) => Format.share(source.dkim_aligned, source.messages),
        },
        { name: "SPF", number: true, wide: true, cell: (source) => Format.share(source.spf_aligned, source.messages) },
        { name: "Seen by", wide: true, cell: ({ reporters }) => <Reporters names={reporters} /> },
        { name: "Last seen", wide: true, oneLine: true, cell: ({ last_day }) => Format.day(last_day) },
      ]}
    />
    {totals.sources > ReportQueries.MAX_SHOWN ? (
      <p className="border-t border-line px-4 py-3 text-xs text-ink-3">
        The {ReportQueries.MAX_SHOWN} largest of {Format.number(totals.sources)} sources. The API and the command line
        have all.
      </p>
    ) : undefined}
  </>
)

const SourceName = ({ source: { dkim_domain, overrides, source_ip, spf_domain } }: { readonly source: Source }) => {
  const domains = [...new Set([dkim_domain, spf_domain].filter((domain) => domain !== null))].join(", ")
  return (
    <>
      <span className="block truncate font-mono text-xs">{source_ip ?? "Other sources"}</span>
      {domains === "" ? undefined : <UntrustedText className="block truncate text-xs text-ink-3" text={domains} />}
      <Overrides overrides={overrides} />
    </>
  )
}

const REASONS: Readonly<Record<Source["overrides"][number]["reason"], string>> = {
  forwarded: "forwarded",
  local_policy: "rule of the receiver",
  mailing_list: "mailing list",
  other: "another reason",
  policy_test_mode: "test mode of the policy",
  sampled_out: "outside the share of the policy",
  trusted_forwarder: "trusted forwarder",
}

/** Reasons for which receivers did not apply the policy of the domain to mail of a source. */
const Overrides = ({ overrides }: Pick<Source, "overrides">) =>
  overrides.length === 0 ? undefined : (
    <span className="block text-xs text-ink-3">
      Policy not applied:{" "}
      {overrides.map(({ comment, messages, reason }, nth) => (
        <span key={reason}>
          {nth === 0 ? "" : "; "}
          {REASONS[reason]} ({Format.number(messages)}
          {comment === null ? undefined : (
            <>
              , <UntrustedText text={comment} />
            </>
          )}
          )
        </span>
      ))}
    </span>
  )

const Verdict = ({ source: { aligned, messages } }: { readonly source: Source }) => {
  if (aligned === messages) return <Badge tone="good">Passed</Badge>
  return aligned === 0 ? (
    <Badge tone="bad">Failed</Badge>
  ) : (
    <Badge tone="warn">{Format.share(aligned, messages)} passed</Badge>
  )
}

const Reporters = ({ names }: { readonly names: ReadonlyArray<string> }) => {
  const [first = "", ...others] = names
  return (
    <span className="text-xs text-ink-2" title={names.join(", ")}>
      <UntrustedText text={first} />
      {others.length === 0 ? undefined : ` and ${others.length} more`}
    </span>
  )
}
