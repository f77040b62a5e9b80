import { useQuery } from "@tanstack/react-query"
import * as queries from "../api/Queries.ts"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Facts, Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { exactly, Time } from "../ui/display/Time.tsx"
import { Meter } from "./UsageMeter.tsx"

const number = new Intl.NumberFormat()

export const Plan = () => {
  const query = useQuery(queries.account)
  return (
    <Screen title="Plan and usage" hint="What the account may do, and what is used of this month.">
      {query.isPending ? (
        <Panel>
          <SkeletonRows rows={3} />
        </Panel>
      ) : query.isError ? (
        <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <Panel title={`${query.data.name}`}>
            <div className="p-4">
              <Meter
                name={`${query.data.plan} plan`}
                used={query.data.usage.emails}
                limit={query.data.limits.monthly_emails}
              />
              <p className="mt-2 text-xs text-ink-3">
                One for each recipient. What is canceled is given back. The count begins anew{" "}
                <Time iso={query.data.usage.resets_at} />.
              </p>
            </div>
          </Panel>
          <Panel title="Limits">
            <Facts
              facts={[
                ["Recipients of one message", number.format(query.data.limits.max_recipients)],
                ["Sends a minute, each key", number.format(query.data.limits.send_per_minute)],
                ["Log reads a minute, each key", number.format(query.data.limits.logs_per_minute)],
                ["Other requests a minute", number.format(query.data.limits.other_per_minute)],
                ["Content is kept", query.data.content_days === 1 ? "1 day" : `${query.data.content_days} days`],
                [
                  "Account",
                  <code key="id" className="font-mono text-xs">
                    {query.data.id}
                  </code>,
                ],
                ["Since", exactly(query.data.created_at)],
              ]}
            />
          </Panel>
        </>
      )}
    </Screen>
  )
}
