import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import * as queries from "../api/Queries.ts"
import type { Email, Page } from "../api/Records.ts"
import { get } from "../api/Api.ts"
import { useMay } from "../shell/useSession.ts"
import { State } from "../ui/display/Badge.tsx"
import { Panel, Skeleton } from "../ui/layout/Screen.tsx"
import { Time, useNow } from "../ui/display/Time.tsx"
import { Meter } from "../settings/UsageMeter.tsx"
import type { Totals } from "./Series.ts"

const number = new Intl.NumberFormat()

/** What else is worth a glance: the month's volume, the domains, what was held back. */
export const Usage = ({ totals }: { readonly totals: Totals }) => {
  const mayDomains = useMay("domains:read")
  const { data: account } = useQuery(queries.account)
  const { data: domains } = useQuery({ ...queries.domains, enabled: mayDomains })
  return (
    <div className="flex flex-col gap-5">
      <Panel title="This month">
        <div className="p-4">
          {account === undefined ? (
            <Skeleton className="h-10" />
          ) : (
            <Meter name={`${account.plan} plan`} used={account.usage.emails} limit={account.limits.monthly_emails} />
          )}
        </div>
      </Panel>
      {domains === undefined ? undefined : (
        <Panel
          title="Domains"
          actions={
            <Link to="/domains" className="rounded-md text-xs font-medium text-ink-2 hover:text-ink">
              All
            </Link>
          }
        >
          <ul className="divide-y divide-line">
            {domains.data.slice(0, 5).map(({ id, name, status }) => (
              <li key={id}>
                <Link
                  to="/domains/$name"
                  params={{ name }}
                  className="flex items-center gap-3 px-4 py-2.5 text-sm hover:bg-hover focus-visible:-outline-offset-2"
                >
                  <span className="min-w-0 grow truncate">{name}</span>
                  <State state={status} />
                </Link>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Now and held back">
        <dl className="grid grid-cols-2 gap-4 p-4 text-sm">
          <Waiting />
          <Fact name="Put off by servers">{number.format(totals.deferred)}</Fact>
          <Fact name="Suppressed">{number.format(totals.suppressed)}</Fact>
        </dl>
      </Panel>
    </div>
  )
}

const Fact = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt className="text-xs text-ink-3">{name}</dt>
    <dd className="tabular mt-0.5 text-lg font-semibold">{children}</dd>
  </div>
)

/** More of them are not counted, only said to be there. */
const COUNTED = 100
const POLL_MS = 10_000

/** What is due and has not left, and how long the first of it waits; what is scheduled is not late. */
const Waiting = () => {
  const now = useNow()
  const { data } = useQuery({
    queryKey: ["waiting"],
    refetchInterval: POLL_MS,
    queryFn: ({ signal }) => get<Page<Email>>("/email/logs", { status: "queued,deferred", limit: COUNTED }, signal),
  })
  const due = (data?.data ?? []).filter(({ scheduled_at }) => scheduled_at === null || Date.parse(scheduled_at) <= now)
  const since = Math.min(...due.map(({ created_at, scheduled_at }) => Date.parse(scheduled_at ?? created_at)))
  return (
    <>
      <Fact name="Waiting">
        {data?.has_more === true ? `over ${number.format(due.length)}` : number.format(due.length)}
      </Fact>
      <Fact name="The first of it since">{due.length === 0 ? "–" : <Time iso={new Date(since).toISOString()} />}</Fact>
    </>
  )
}
