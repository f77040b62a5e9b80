import * as DnsAdvice from "@waybill/domain/domain/DnsAdvice"
import type { Domain, DomainRecord } from "../api/Records.ts"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Badge } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import { isEd25519 } from "./Ed25519.tsx"
import { NOT_FOUND, recordError, RecordStatus } from "./RecordStatus.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

const PURPOSES: { readonly [P in DomainRecord["purpose"]]: readonly [name: string, purpose: string] } = {
  dkim: ["DKIM", "Signs your mail, so that receivers can verify its origin and content."],
  return_path: ["Return path", "Routes bounces to Waybill under your own domain."],
  spf: ["SPF", "Authorizes this server to send for the return path."],
  dmarc: ["DMARC", "Tells receivers how to handle spoofed mail from your domain."],
  tracking: ["Tracking", "Uses your own domain in tracked links."],
  receiving: ["Receiving", "Leads mail to your addresses here."],
}

const SECOND_SIGNATURE = "Optional second signature in addition to RSA, added while this record is published."

const HEAD = "px-2 py-2 text-left text-xs font-medium text-ink-3 first:pl-4 last:pr-4"
/** Cells of a record, each a line of a card on narrow screens. */
const CELL = "px-2 py-3 align-top first:pl-4 last:pr-4 max-md:block max-md:px-4 max-md:py-1"

/** The DNS records of a domain to publish, and what the last check found of each. */
export const DomainRecords = ({ domain: { records, zone } }: { readonly domain: Domain }) => (
  <Panel title="DNS records" className="overflow-hidden">
    {records.some(({ error }) => NOT_FOUND.has(error ?? "")) ? (
      <p className="border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
        Record not found. DNS changes can take a while to propagate.
      </p>
    ) : undefined}
    <table aria-label="DNS records" className="w-full table-fixed text-sm max-md:block">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line">
          <th className={`${HEAD} w-40`}>Type</th>
          <th className={`${HEAD} w-[34%]`}>Name</th>
          <th className={HEAD}>Value</th>
          <th className={`${HEAD} w-36`}>Status</th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line max-md:block">
        {records.map((record) => (
          <RecordRow key={`${record.type} ${record.name} ${record.value}`} record={record} zone={zone} />
        ))}
      </tbody>
    </table>
    {DnsAdvice.lacksReturnPath(records) ? (
      <p className="border-t border-line px-4 py-3 text-sm text-ink-2">{DnsAdvice.NO_RETURN_PATH}</p>
    ) : undefined}
  </Panel>
)

const RecordRow = ({ record, zone }: { readonly record: DomainRecord; readonly zone: string | null }) => {
  const [name, purpose] = PURPOSES[record.purpose]
  const isSecond = isEd25519(record)
  const host = zone === null ? null : record.zone_host
  return (
    <tr className="max-md:relative max-md:block max-md:py-2">
      <td className={CELL}>
        <span className="flex flex-wrap items-center gap-1.5 font-medium">
          <Badge>{record.type}</Badge>
          {name}
          {isSecond ? <Badge>Ed25519</Badge> : undefined}
          {record.required ? <Badge tone="blue">Required</Badge> : undefined}
        </span>
      </td>
      <td className={CELL}>
        {host === null ? undefined : <CopyableValue label={`Host in ${zone}`} copy="host" text={host} />}
        <CopyableValue label="Full name" isOnly={host === null} copy="full name" text={record.name} />
      </td>
      <td className={CELL}>
        <CopyableValue label="Value" isOnly={record.priority === null} copy="value" text={record.value} />
        {record.priority === null ? undefined : (
          <CopyableValue label="Priority" copy="priority" text={String(record.priority)} />
        )}
        <p className="mt-1.5 text-xs text-ink-3">{isSecond ? SECOND_SIGNATURE : purpose}</p>
        {record.error === null || NOT_FOUND.has(record.error) ? undefined : (
          <p className="mt-1.5 text-xs [overflow-wrap:anywhere] text-warn">{recordError(record.error)}</p>
        )}
        {record.status === "verified" || record.found.length === 0 ? undefined : (
          <div className="mt-1.5">
            <p className="mb-1 text-xs font-medium text-ink-3">Current DNS value</p>
            <ul className="flex flex-col gap-1">
              {record.found.map((answer) => (
                <li key={answer} className="rounded-lg bg-sunken px-2.5 py-1.5 font-mono text-xs break-all text-ink-2">
                  {answer}
                </li>
              ))}
            </ul>
          </div>
        )}
      </td>
      <td className={`${CELL} max-md:absolute max-md:top-2 max-md:right-0`}>
        <RecordStatus status={record.status} />
      </td>
    </tr>
  )
}

interface CopyableProps {
  readonly label: string
  /** Whether it is the only value of its cell, which the head of the column names. */
  readonly isOnly?: boolean
  /** Name of the value in the label of the button. */
  readonly copy: string
  readonly text: string
}

const CopyableValue = ({ copy, isOnly = false, label, text }: CopyableProps) => (
  <div className="mb-1.5 min-w-0">
    <p className={cx("mb-0.5 truncate text-xs text-ink-3", isOnly && "md:hidden")} title={label}>
      {label}
    </p>
    <CopyField text={text} label={`Copy ${copy}`} />
  </div>
)
