import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { cx } from "../ui/display/cx.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import * as SearchText from "../emails/search/SearchText.ts"
import * as Series from "./Series.ts"

const GROUPS = [
  ["domain", "By domain"],
  ["tag", "By tag"],
] as const
type Group = (typeof GROUPS)[number][0]

/** Number of domains or tags shown at first: those with the most recipients. */
const FIRST_ROWS = 8

const number = new Intl.NumberFormat()
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 })

interface Props {
  readonly from: string
  readonly to: string
  /** Whether opens and clicks are tracked. */
  readonly hasVisits: boolean
}

/** The numbers of the range by domain or by tag. */
export const Breakdown = ({ from, hasVisits, to }: Props) => {
  const [group, setGroup] = useState<Group>("domain")
  const query = useQuery(Queries.stats(from, to, group))
  // While another group loads, the rows of the one before are still there.
  const rows = query.data?.group_by[0] === group ? query.data.data.filter(({ accepted }) => accepted > 0) : undefined
  return (
    <Panel
      title="Breakdown"
      actions={<SegmentedControl label="Group by" value={group} options={GROUPS} onChange={setGroup} />}
    >
      {query.isError ? (
        <div className="p-4">
          <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
        </div>
      ) : rows === undefined ? (
        <SkeletonRows rows={3} />
      ) : rows.length === 0 ? (
        <p className="p-8 text-center text-sm text-ink-3">
          {group === "tag" ? "No email with a tag in this range." : "No email in this range."}
        </p>
      ) : (
        <Rows
          key={group}
          group={group}
          rows={rows}
          from={from}
          hasVisits={hasVisits}
          hasMore={query.data?.more_tags === true}
        />
      )}
    </Panel>
  )
}

const HEAD = "px-2 py-2 text-right text-xs font-medium text-ink-3 first:pl-4 first:text-left last:pr-4 sm:px-4"
const CELL = "tabular px-2 py-2.5 text-right last:pr-4 sm:px-4"

interface RowsProps {
  readonly group: Group
  readonly rows: ReadonlyArray<StatsRow>
  readonly from: string
  readonly hasVisits: boolean
  /** Whether the account has more tags than the statistics answer. */
  readonly hasMore: boolean
}

const Rows = ({ from, group, hasMore, hasVisits, rows }: RowsProps) => {
  const [isWhole, setWhole] = useState(false)
  const sorted = rows.toSorted((a, b) => b.accepted - a.accepted)
  const wide = "hidden sm:table-cell"
  return (
    <>
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line">
            <th className={HEAD}>{group === "tag" ? "Tag" : "Domain"}</th>
            <th className={HEAD}>Accepted</th>
            <th className={HEAD}>Delivered</th>
            <th className={HEAD}>Bounced</th>
            {hasVisits ? (
              <>
                <th className={cx(HEAD, wide)}>Opens</th>
                <th className={cx(HEAD, wide)}>Clicks</th>
              </>
            ) : undefined}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {sorted.slice(0, isWhole ? sorted.length : FIRST_ROWS).map((row) => (
            <tr key={row[group]} className="hover:bg-hover">
              <td className="w-2/5 max-w-0 py-2.5 pr-2 pl-4">
                <Link
                  to="/emails"
                  search={{ search: `after:${from} ${SearchText.write(group, row[group] ?? "")}` }}
                  className="block truncate hover:underline"
                >
                  <UntrustedText text={row[group] ?? ""} />
                </Link>
              </td>
              <td className={CELL}>{number.format(row.accepted)}</td>
              <td className={CELL}>{share(Series.reached(row.recipient_counts), row)}</td>
              <td className={CELL}>{share(row.recipient_counts.bounced, row)}</td>
              {hasVisits ? (
                <>
                  <td className={cx(CELL, wide)}>{number.format(row.opened)}</td>
                  <td className={cx(CELL, wide)}>{number.format(row.clicked)}</td>
                </>
              ) : undefined}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > FIRST_ROWS ? (
        <p className="border-t border-line px-4 py-2">
          <Button small variant="ghost" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show fewer" : `Show all ${number.format(sorted.length)}`}
          </Button>
        </p>
      ) : undefined}
      {isWhole && hasMore ? (
        <p className="px-4 pb-3 text-xs text-ink-3">
          The statistics name the first {number.format(sorted.length)} tags. Search the emails for the others.
        </p>
      ) : undefined}
    </>
  )
}

/** Share of the recipients with an outcome; a dash while there is none. */
const share = (part: number, { recipient_counts }: StatsRow): string => {
  const ended = Series.ended(recipient_counts)
  return ended === 0 ? "–" : percent.format(part / ended)
}
