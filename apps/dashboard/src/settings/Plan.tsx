import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { DescriptionList } from "../ui/layout/DescriptionList.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { formatDateTime } from "../ui/display/Time.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { UsageMeter } from "./UsageMeter.tsx"

const number = new Intl.NumberFormat()
const resetDay = new Intl.DateTimeFormat(undefined, { month: "long", day: "numeric", timeZone: "UTC" })

export const Plan = () => {
  const query = useQuery(Queries.account)
  return (
    <Screen title="Plan and usage" hint="Limits of the account and usage this month.">
      {query.isPending ? (
        <Panel>
          <SkeletonRows rows={3} />
        </Panel>
      ) : query.isError ? (
        <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <Panel title={query.data.name}>
            <div className="p-4">
              <UsageMeter account={query.data} />
              <p className="mt-2 text-xs text-ink-3">
                {query.data.livemode
                  ? "Counted per recipient; canceled mail is refunded, up to as much as the plan has."
                  : "Counted per recipient, and once more for each 16 KiB. Test mail does not count toward the plan."}{" "}
                Resets on {resetDay.format(new Date(query.data.usage.resets_at))}.
              </p>
            </div>
          </Panel>
          <Panel title="Limits">
            <DescriptionList
              items={[
                ["Recipients per email", number.format(query.data.limits.max_recipients)],
                ["Sends per minute and key", number.format(query.data.limits.send_per_minute)],
                ["Log reads per minute and key", number.format(query.data.limits.logs_per_minute)],
                ["Other requests per minute and key", number.format(query.data.limits.other_per_minute)],
                [
                  "Content of scheduled mail",
                  `${formatBytes(query.data.usage.scheduled_bytes)} of ${formatBytes(query.data.limits.scheduled_bytes)}`,
                ],
                ["Content retention", query.data.content_days === 1 ? "1 day" : `${query.data.content_days} days`],
                [
                  "Account ID",
                  <code key="id" className="font-mono text-xs">
                    {query.data.id}
                  </code>,
                ],
                ["Created", formatDateTime(query.data.created_at)],
              ]}
            />
          </Panel>
        </>
      )}
    </Screen>
  )
}
