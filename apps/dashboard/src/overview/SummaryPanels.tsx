import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import * as Queries from "../api/Queries.ts"
import type { Domain, Stats } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Skeleton } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { cx } from "../ui/display/cx.ts"
import { UsageMeter } from "../settings/UsageMeter.tsx"
import { queueFigures } from "../operate/queueFigures.ts"
import { isHighRate } from "./isHighRate.ts"
import type { TimeRange } from "./TimeRange.ts"
import { Panel } from "../ui/layout/Screen.tsx"

const number = new Intl.NumberFormat()

/** Usage of the month, domains with their bounces in the range, and the queue. */
export const SummaryPanels = ({ from, to }: Pick<TimeRange, "from" | "to">) => {
  const canSeeDomains = useHasScope("domains:read")
  const { data: account, isError: isAway } = useQuery(Queries.account)
  const { data: domains } = useQuery({ ...Queries.domains, enabled: canSeeDomains })
  const canReadLogs = useHasScope("email:logs:read")
  const { data: stats } = useQuery({ ...Queries.stats(from, to, "domain"), enabled: canSeeDomains && canReadLogs })
  return (
    <div className="flex flex-col gap-5">
      {isAway ? undefined : (
        <Panel title="This month">
          <div className="p-4">
            {account === undefined ? <Skeleton className="h-10" /> : <UsageMeter account={account} />}
          </div>
        </Panel>
      )}
      {domains === undefined ? undefined : (
        <Panel
          title="Domains"
          actions={
            <Link to="/domains" className="rounded-md text-xs font-medium text-ink-2 hover:text-ink">
              All domains
            </Link>
          }
        >
          <DomainList domains={domains.data} stats={stats?.data ?? []} />
        </Panel>
      )}
      <Panel title="Queue">
        <UnfinishedEmails />
      </Panel>
    </div>
  )
}

/** Number of domains that are shown. */
const FIRST_DOMAINS = 5
/** Statuses of domains that need somebody, the worst first. */
const BAD_STATUSES: ReadonlyArray<Domain["status"]> = ["failed", "degraded", "pending"]

/** The domains that need somebody by their status or bounce rate, then others, and how many are left. */
const DomainList = ({ domains, stats }: { readonly domains: ReadonlyArray<Domain>; readonly stats: Stats["data"] }) => {
  const rates = new Map(
    stats.map((row) => [
      row.domain,
      DeliveryRates.rate(row.recipient_counts.bounced, DeliveryRates.ended(row.recipient_counts)),
    ]),
  )
  const isBouncing = ({ name }: Domain) => isHighRate("bounced", rates.get(name) ?? 0)
  const rankOf = (domain: Domain) => {
    const rank = BAD_STATUSES.indexOf(domain.status)
    return rank >= 0 ? rank : BAD_STATUSES.length + (isBouncing(domain) ? 0 : 1)
  }
  const sorted = domains.toSorted((one, other) => rankOf(one) - rankOf(other))
  return (
    <ul aria-label="Domains" className="divide-y divide-line">
      {sorted.slice(0, FIRST_DOMAINS).map((domain) => (
        <li key={domain.id}>
          <Link to="/domains/$name" params={{ name: domain.name }} className={DOMAIN_ROW}>
            <span className="min-w-0 grow truncate">{domain.name}</span>
            {isBouncing(domain) ? (
              <span className="tabular shrink-0 text-xs text-bad">
                {DeliveryRates.percent(rates.get(domain.name) ?? 0)} bounced
              </span>
            ) : undefined}
            <StatusBadge status={domain.status} />
          </Link>
        </li>
      ))}
      {sorted.length > FIRST_DOMAINS ? (
        <li>
          <Link to="/domains" className={cx(DOMAIN_ROW, "text-ink-3")}>
            {number.format(sorted.length - FIRST_DOMAINS)} more
          </Link>
        </li>
      ) : undefined}
    </ul>
  )
}

const DOMAIN_ROW = "flex items-center gap-3 px-4 py-2.5 text-sm hover:bg-hover focus-visible:-outline-offset-2"

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
