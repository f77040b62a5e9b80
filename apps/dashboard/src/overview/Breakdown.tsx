import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
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

/** Number of domains or tags shown: those with the most recipients. */
const MAX_ROWS = 8

const number = new Intl.NumberFormat()
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 })

/** The numbers of the range by domain or by tag. */
export const Breakdown = ({ from, to }: { readonly from: string; readonly to: string }) => {
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
        <Rows group={group} rows={rows} from={from} />
      )}
    </Panel>
  )
}

const HEAD = "px-4 py-2 text-right text-xs font-medium text-ink-3 first:text-left"
const CELL = "tabular px-4 py-2.5 text-right"

const Rows = ({
  from,
  group,
  rows,
}: {
  readonly group: Group
  readonly rows: ReadonlyArray<StatsRow>
  readonly from: string
}) => (
  <table className="w-full text-sm">
    <thead>
      <tr className="border-b border-line">
        <th className={HEAD}>{group === "tag" ? "Tag" : "Domain"}</th>
        <th className={HEAD}>Accepted</th>
        <th className={HEAD}>Delivered</th>
        <th className={HEAD}>Bounced</th>
        <th className={`${HEAD} hidden sm:table-cell`}>Opens</th>
        <th className={`${HEAD} hidden sm:table-cell`}>Clicks</th>
      </tr>
    </thead>
    <tbody className="divide-y divide-line">
      {rows
        .toSorted((a, b) => b.accepted - a.accepted)
        .slice(0, MAX_ROWS)
        .map((row) => (
          <tr key={row[group]} className="hover:bg-hover">
            <td className="max-w-0 px-4 py-2.5">
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
            <td className={`${CELL} hidden sm:table-cell`}>{number.format(row.opened)}</td>
            <td className={`${CELL} hidden sm:table-cell`}>{number.format(row.clicked)}</td>
          </tr>
        ))}
    </tbody>
  </table>
)

/** Share of the recipients with an outcome; a dash while there is none. */
const share = (part: number, { recipient_counts }: StatsRow): string => {
  const ended = Series.ended(recipient_counts)
  return ended === 0 ? "–" : percent.format(part / ended)
}
