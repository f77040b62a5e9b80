import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import type { DmarcReports, TlsReports } from "../api/Records.ts"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { DmarcSources } from "./DmarcSources.tsx"
import * as ReportQueries from "./ReportQueries.ts"
import { ReportSetup } from "./ReportSetup.tsx"
import { TlsResults } from "./TlsResults.tsx"

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
  const { choice, ...controls } = useChoice(name)
  const query = useQuery(ReportQueries.dmarc(choice))
  return (
    <Panel
      title="DMARC reports"
      actions={
        query.data && receives(query.data) ? <PeriodControl label="Period of DMARC reports" {...controls} /> : undefined
      }
    >
      <Result query={query}>
        {(reports) => (
          <Reports
            reports={reports}
            {...controls}
            setup={{
              title: "See who sends in the name of this domain",
              text: "Mailbox providers report once a day which servers sent mail from this domain, and whether it passed DMARC.",
            }}
          >
            <DmarcSources reports={reports} />
          </Reports>
        )}
      </Result>
    </Panel>
  )
}

const TlsPanel = ({ name }: Props) => {
  const { choice, ...controls } = useChoice(name)
  const query = useQuery(ReportQueries.tls(choice))
  return (
    <Panel
      title="TLS reports"
      actions={
        query.data && receives(query.data) ? <PeriodControl label="Period of TLS reports" {...controls} /> : undefined
      }
    >
      <Result query={query}>
        {(reports) => (
          <Reports
            reports={reports}
            {...controls}
            setup={{
              title: "See whether mail reaches this domain over TLS",
              text: "Mail servers that deliver to this domain report once a day how their TLS connections fared.",
            }}
          >
            <TlsResults reports={reports} />
          </Reports>
        )}
      </Result>
    </Panel>
  )
}

/** Whether there are reports to choose a period of, or can be. */
const receives = ({ report_address, reporters }: DmarcReports | TlsReports): boolean =>
  report_address !== null || reporters.length > 0

interface Controls {
  readonly period: Period
  readonly onPeriod: (period: Period) => void
  readonly verified: boolean
  readonly onVerified: (verified: boolean) => void
}

const useChoice = (name: string): Controls & { readonly choice: ReportQueries.Choice } => {
  const [period, onPeriod] = useState<Period>("30")
  const [verified, onVerified] = useState(true)
  return { choice: { name, days: Number(period), verified }, period, onPeriod, verified, onVerified }
}

const PeriodControl = ({
  label,
  onPeriod,
  period,
}: Pick<Controls, "period" | "onPeriod"> & { readonly label: string }) => (
  <SegmentedControl label={label} value={period} options={PERIODS} onChange={onPeriod} />
)

const Result = <A,>({
  children,
  query,
}: {
  readonly query: { readonly data: A | undefined; readonly error: Error | null; readonly refetch: () => unknown }
  readonly children: (data: A) => ReactNode
}) => {
  if (query.data !== undefined) return children(query.data)
  if (query.error === null) return <SkeletonRows rows={3} />
  return (
    <div className="p-4">
      <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
    </div>
  )
}

/** The reports of one kind, or how to ask for them, and the way to those whose sender is not proven. */
const Reports = ({
  children,
  onVerified,
  reports,
  setup,
  verified,
}: {
  readonly reports: DmarcReports | TlsReports
  readonly verified: boolean
  readonly onVerified: (verified: boolean) => void
  readonly setup: { readonly title: string; readonly text: string }
  readonly children: ReactNode
}) => (
  <>
    {reports.verified ? undefined : (
      <p className="border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
        Unverified reports: nobody signed them, so anybody may have written them.
      </p>
    )}
    {reports.reporters.length > 0 ? children : <ReportSetup reports={reports} {...setup} />}
    {reports.unverified_reports === 0 ? undefined : (
      <p className="border-t border-line px-4 py-3 text-xs text-ink-3">
        {verified ? `${count(reports.unverified_reports)} without a valid signature left out. ` : ""}
        <button
          type="button"
          className="rounded-md font-medium text-accent hover:underline"
          onClick={() => onVerified(!verified)}
        >
          {verified ? "Show unverified reports" : "Show verified reports"}
        </button>
      </p>
    )}
  </>
)

const count = (reports: number): string => (reports === 1 ? "1 report" : `${reports.toLocaleString("en")} reports`)
