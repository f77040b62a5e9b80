import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Skeleton } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UsageMeter } from "../settings/UsageMeter.tsx"
import { queueFigures } from "../operate/queueFigures.ts"

const number = new Intl.NumberFormat()

/** Usage of the month, domains and the queue. */
export const SummaryPanels = () => {
  const canSeeDomains = useHasScope("domains:read")
  const { data: account } = useQuery(Queries.account)
  const { data: domains } = useQuery({ ...Queries.domains, enabled: canSeeDomains })
  return (
    <div className="flex flex-col gap-5">
      <Panel title="This month">
        <div className="p-4">
          {account === undefined ? <Skeleton className="h-10" /> : <UsageMeter account={account} />}
        </div>
      </Panel>
      {domains === undefined ? undefined : (
        <Panel
          title="Domains"
          actions={
            <Link to="/domains" className="rounded-md text-xs font-medium text-ink-2 hover:text-ink">
              All domains
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
                  <StatusBadge status={status} />
                </Link>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Queue">
        <UnfinishedEmails />
      </Panel>
    </div>
  )
}

interface FigureProps {
  readonly figure: readonly [name: string, meaning: string]
  readonly children: ReactNode
}

const Figure = ({ children, figure: [name, meaning] }: FigureProps) => (
  <div title={meaning}>
    <dt className="text-xs text-ink-3">{name}</dt>
    <dd className="tabular mt-0.5 text-lg font-semibold">{children}</dd>
  </div>
)

const POLL_MS = 10_000

/** Unfinished emails of the account, as the queue of deliveries counts them for the instance. */
const UnfinishedEmails = () => {
  const { data } = useQuery({ ...Queries.queue, refetchInterval: POLL_MS })
  const count = (state: "pending" | "deferred" | "scheduled") =>
    data === undefined ? "–" : `${data.is_exact ? "" : "at least "}${number.format(data[state])}`
  return (
    <dl className="grid grid-cols-2 gap-4 p-4 text-sm">
      <Figure figure={queueFigures.pending}>{count("pending")}</Figure>
      <Figure figure={queueFigures.oldest}>{data?.oldest_at ? <RelativeTime iso={data.oldest_at} /> : "–"}</Figure>
      <Figure figure={queueFigures.deferred}>{count("deferred")}</Figure>
      <Figure figure={queueFigures.scheduled}>{count("scheduled")}</Figure>
    </dl>
  )
}
