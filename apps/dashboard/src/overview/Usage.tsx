import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as queries from "../api/queries.ts"
import { useMay } from "../shell/useSession.ts"
import { State } from "../ui/Badge.tsx"
import { Panel, Skeleton } from "../ui/Surface.tsx"
import { Meter } from "../settings/Meter.tsx"
import type { Totals } from "./series.ts"

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
      <Panel title="Held back">
        <dl className="grid grid-cols-2 gap-4 p-4 text-sm">
          <div>
            <dt className="text-xs text-ink-3">Put off by servers</dt>
            <dd className="tabular mt-0.5 text-lg font-semibold">{number.format(totals.deferred)}</dd>
          </div>
          <div>
            <dt className="text-xs text-ink-3">Suppressed</dt>
            <dd className="tabular mt-0.5 text-lg font-semibold">{number.format(totals.suppressed)}</dd>
          </div>
        </dl>
      </Panel>
    </div>
  )
}
