import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import type { DmarcReports, TlsReports } from "../api/Records.ts"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { DmarcSources } from "./DmarcSources.tsx"
import * as ReportQueries from "./ReportQueries.ts"
import { TlsResults } from "./TlsResults.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"
import { Panel } from "../ui/layout/Screen.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"

const PERIODS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
] as const
type Period = (typeof PERIODS)[number][0]

interface Props {
  readonly name: string
}

/** Panels with what mailbox providers and mail servers report about a domain. */
export const DomainReports = ({ name }: Props) => (
  <>
    <DmarcPanel name={name} />
    <TlsPanel name={name} />
  </>
)

const DmarcPanel = ({ name }: Props) => {
  const choice = useChoice(name)
  return (
    <ReportsPanel
      kind="DMARC"
      query={useQuery(ReportQueries.dmarc(choice))}
      choice={choice}
      title="See who sends in the name of this domain"
      text="Mailbox providers report once a day which servers sent mail from this domain, and whether it passed DMARC."
    >
      {(reports) => <DmarcSources reports={reports} />}
    </ReportsPanel>
  )
}

const TlsPanel = ({ name }: Props) => {
  const choice = useChoice(name)
  return (
    <ReportsPanel
      kind="TLS"
      query={useQuery(ReportQueries.tls(choice))}
      choice={choice}
      title="See whether mail reaches this domain over TLS"
      text="Mail servers that deliver to this domain report once a day how their TLS connections fared."
    >
      {(reports) => <TlsResults reports={reports} />}
    </ReportsPanel>
  )
}

const useChoice = (name: string) => {
  const [period, onPeriod] = useState<Period>("30")
  const [verified, onVerified] = useState(true)
  return { name, days: Number(period), period, onPeriod, verified, onVerified }
}

interface PanelProps<A> {
  readonly kind: "DMARC" | "TLS"
  readonly query: UseQueryResult<A>
  readonly choice: ReturnType<typeof useChoice>
  /** Title and text of how to get reports, while there are none. */
  readonly title: string
  readonly text: string
  readonly children: (reports: A) => ReactNode
}

/** The reports of one kind, or how to ask for them, and the way to those whose sender is not proven. */
const ReportsPanel = <A extends DmarcReports | TlsReports>(props: PanelProps<A>) => {
  const { children, choice, kind, query, ...setup } = props
  const { onPeriod, onVerified, period, verified } = choice
  const label = `Period of ${kind} reports`
  const control = <SegmentedControl label={label} value={period} options={PERIODS} onChange={onPeriod} />
  return (
    <Panel title={`${kind} reports`} actions={query.data && receives(query.data) ? control : undefined}>
      <QueryResult isInPanel query={query} rows={3}>
        {(reports) => (
          <>
            {reports.verified ? undefined : (
              <p className="border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
                Unverified reports: nobody signed them, so anybody may have written them.
              </p>
            )}
            {reports.reporters.length > 0 ? children(reports) : <ReportSetup reports={reports} {...setup} />}
            {reports.unverified_reports === 0 ? undefined : (
              <p className="border-t border-line px-4 py-3 text-xs text-ink-3">
                {verified ? `${count(reports.unverified_reports)} without a valid signature left out. ` : ""}
                <button type="button" className="rounded-md font-medium link" onClick={() => onVerified(!verified)}>
                  {verified ? "Show unverified reports" : "Show verified reports"}
                </button>
              </p>
            )}
          </>
        )}
      </QueryResult>
    </Panel>
  )
}

/** Whether there are reports to choose a period of, or can be. */
const receives = ({ report_address, reporters }: DmarcReports | TlsReports): boolean =>
  report_address !== null || reporters.length > 0

const count = (reports: number): string => (reports === 1 ? "1 report" : `${reports.toLocaleString("en")} reports`)

interface SetupProps {
  readonly reports: DmarcReports | TlsReports
  readonly title: string
  readonly text: string
}

/** Shown while there are no reports: what they tell, and the DNS record that asks for them. */
const ReportSetup = ({ reports: { days, record, report_address, verified }, text, title }: SetupProps) => (
  <div className="flex flex-col gap-3 p-4">
    <div>
      <h3 className="text-sm font-medium">{verified ? title : "No unverified reports"}</h3>
      <p className="mt-1 text-sm text-ink-2">{text}</p>
    </div>
    {report_address === null ? (
      <p className="text-sm text-ink-2">
        This installation receives no reports until its{" "}
        <a href="/docs/operating/domain-reports" target="_blank" rel="noopener" className="link">
          operator sets them up
        </a>
        .
      </p>
    ) : record === null ? (
      <p className="text-sm text-ink-2">
        No reports in the last {days} days. Your DNS record asks for them at {report_address}; the first ones arrive
        after one or two days.
      </p>
    ) : (
      <>
        <p className="text-sm text-ink-2">
          No reports in the last {days} days. To receive them, publish this TXT record. If the name has one already,
          replace it.
        </p>
        <div className="grid gap-3 sm:grid-cols-[minmax(0,16rem)_minmax(0,1fr)]">
          <Field label="Name" text={record.name} />
          <Field label="Value" text={record.value} />
        </div>
      </>
    )}
  </div>
)

const Field = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div className="min-w-0">
    <p className="mb-1 text-xs font-medium text-ink-3">{label}</p>
    <CopyField text={text} label={`Copy ${label.toLowerCase()} of the report record`} />
  </div>
)
