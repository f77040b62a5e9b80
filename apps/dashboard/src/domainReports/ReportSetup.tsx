import type { DmarcReports, TlsReports } from "../api/Records.ts"
import { CopyField } from "../ui/controls/CopyButton.tsx"

interface Props {
  readonly reports: DmarcReports | TlsReports
  readonly title: string
  readonly text: string
}

/** Shown while there are no reports: what they tell, and the DNS record that asks for them. */
export const ReportSetup = ({ reports: { days, record, report_address, verified }, text, title }: Props) => (
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
