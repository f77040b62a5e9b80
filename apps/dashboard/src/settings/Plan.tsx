import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import { DescriptionList } from "../ui/layout/DescriptionList.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { formatDateTime } from "../ui/display/Time.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { UsageMeter } from "./UsageMeter.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"

const number = new Intl.NumberFormat()
const resetDay = new Intl.DateTimeFormat(undefined, { month: "long", day: "numeric", timeZone: "UTC" })

export const Plan = () => (
  <Screen title="Plan and usage" hint="Limits of the account and usage this month.">
    <QueryResult query={useQuery(Queries.account)} rows={3}>
      {(account) => (
        <>
          <Panel title={account.name}>
            <div className="p-4">
              <UsageMeter account={account} />
              <p className="mt-2 text-xs text-ink-3">
                {account.livemode
                  ? "Counted per recipient. Canceled mail is taken off, at most as many recipients a month as the plan has."
                  : "Counted per recipient, and once more for each 16 KiB. Test mail does not count toward the plan."}{" "}
                Resets on {resetDay.format(new Date(account.usage.resets_at))}.
              </p>
            </div>
          </Panel>
          <Panel title="Limits">
            <DescriptionList
              items={[
                ["Recipients per email", number.format(account.limits.max_recipients)],
                ["Sends per minute and key", number.format(account.limits.send_per_minute)],
                ["Log reads per minute and key", number.format(account.limits.logs_per_minute)],
                ["Other requests per minute and key", number.format(account.limits.other_per_minute)],
                [
                  "Content of scheduled mail",
                  `${formatBytes(account.usage.scheduled_bytes)} of ${formatBytes(account.limits.scheduled_bytes)}`,
                ],
                ["Content retention", account.content_days === 1 ? "1 day" : `${account.content_days} days`],
                [
                  "Account ID",
                  <code key="id" className="font-mono text-xs">
                    {account.id}
                  </code>,
                ],
                ["Created", formatDateTime(account.created_at)],
              ]}
            />
          </Panel>
        </>
      )}
    </QueryResult>
  </Screen>
)
