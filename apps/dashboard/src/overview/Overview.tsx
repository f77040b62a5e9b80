import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Activity } from "lucide-react"
import { lazy, Suspense, useMemo, useRef, useState } from "react"
import { useEventStream } from "../api/useEventStream.ts"
import * as Queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import * as LiveEmails from "../emails/LiveEmails.ts"
import { useSendExamples } from "../emails/useSendExamples.ts"
import { useHasScope } from "../shell/useHasScope.ts"
import { cx } from "../ui/display/cx.ts"
import { ErrorBoundary } from "../ui/feedback/ErrorBoundary.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { Skeleton } from "../ui/feedback/Skeleton.tsx"
import { useNow } from "../ui/display/Time.tsx"
import { RecentEmails } from "./RecentEmails.tsx"
import * as Series from "./Series.ts"
import { SummaryPanels } from "./SummaryPanels.tsx"

const RANGES = [
  ["1d", "Today"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
] as const
const DAYS = { "1d": 1, "7d": 7, "30d": 30, "90d": 90 } as const
const KINDS = [
  ["volume", "Volume"],
  ["rates", "Rates"],
] as const
const DAY_MS = 24 * 60 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000
/** Queries to refetch after an event, with their delay. Reads of the log count toward the user's rate limit. */
const LIVE_QUERIES = [
  ["stats", 3_000],
  ["recent", 6_000],
] as const

/** Start of the range: of today in the user's time zone, of several days in UTC, as the statistics count days. */
const startOf = (now: number, days: number): string =>
  days === 1
    ? new Date(Math.floor(new Date(now).setHours(0, 0, 0, 0) / HOUR_MS) * HOUR_MS).toISOString()
    : new Date(Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS).toISOString()
const endOf = (now: number): string => new Date(Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS).toISOString()

/** uPlot uses `navigator.language` as a locale when it loads and fails if that is not one, such as en-US@posix. */
const Chart = lazy(async () => {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, "language", { value: "en", configurable: true })
  }
  return { default: (await import("./Chart.tsx")).Chart }
})
const EMPTY_CHART = <Skeleton className="m-4 h-64" />

export const Overview = () => {
  const { range = "7d" } = useSearch({ from: "/shell/overview" })
  const navigate = useNavigate({ from: "/overview" })
  const [kind, setKind] = useState<"volume" | "rates">("volume")
  const days = DAYS[range]
  const now = useNow()
  const from = startOf(now, days)
  const to = endOf(now)
  const unit = days <= 1 ? "hour" : "day"
  const query = useQuery(Queries.stats(from, to, unit))
  useLiveRefresh()
  const examples = useSendExamples()
  const recent = useQuery(Queries.recentEmails)
  const rows: ReadonlyArray<StatsRow> = query.data?.data ?? []
  const totals = useMemo(() => Series.sum(rows), [rows])
  const points = useMemo(
    () => (kind === "rates" ? Series.rates : Series.volume)(rows, { from, to, unit }),
    [kind, rows, from, to, unit],
  )
  return (
    <Screen
      wide
      title="Overview"
      actions={
        <SegmentedControl
          label="Time range"
          value={range}
          options={RANGES}
          onChange={(name) => void navigate({ search: { range: name }, replace: true })}
        />
      }
    >
      {query.isError ? <ErrorMessage error={query.error} onRetry={() => void query.refetch()} /> : undefined}
      {recent.isSuccess && recent.data.data.length === 0 ? (
        <Panel>
          <EmptyState icon={<Activity size={20} />} title="No emails yet" examples={examples}>
            Volume, delivery and bounce rates appear here. Send the first email with an API key.
          </EmptyState>
        </Panel>
      ) : (
        <>
          <Tiles from={from} totals={query.isPending ? undefined : totals} />
          <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
            <div className="flex min-w-0 flex-col gap-5">
              <Panel
                title="Delivery"
                actions={<SegmentedControl label="Chart" value={kind} options={KINDS} onChange={setKind} />}
              >
                <ErrorBoundary>
                  <Suspense fallback={EMPTY_CHART}>
                    {query.isPending ? EMPTY_CHART : <Chart kind={kind} points={points} unit={unit} />}
                  </Suspense>
                </ErrorBoundary>
              </Panel>
              <RecentEmails />
            </div>
            <SummaryPanels />
          </div>
        </>
      )}
    </Screen>
  )
}

/** Refetches the numbers after events of the stream, for users with access to it. */
const useLiveRefresh = () => {
  const client = useQueryClient()
  const canStream = useHasScope("admin")
  const scheduled = useRef(new Set<string>())
  const refreshSoon = () => {
    for (const [name, delay] of LIVE_QUERIES) {
      if (scheduled.current.has(name)) continue
      scheduled.current.add(name)
      setTimeout(() => {
        scheduled.current.delete(name)
        void client.invalidateQueries({ queryKey: [name] })
      }, delay)
    }
  }
  useEventStream({
    types: LiveEmails.EMAIL_EVENT_TYPES,
    enabled: canStream,
    onStart: refreshSoon,
    onEvent: refreshSoon,
  })
}

const number = new Intl.NumberFormat()
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 })

/** Rates above which mailbox providers may reject mail of a sender. */
const HIGH_BOUNCE_RATE = 0.05
const HIGH_COMPLAINT_RATE = 0.001

const Tiles = ({
  from,
  totals = Series.NO_TOTALS,
}: {
  readonly from: string
  readonly totals: Series.Totals | undefined
}) => {
  const ended = Series.ended(totals)
  const bounced = Series.rate(totals.bounced, ended)
  const complained = Series.rate(totals.complained, Series.reached(totals))
  const tiles = [
    { name: "Accepted", value: number.format(totals.accepted), hint: "recipients", status: undefined, isBad: false },
    {
      name: "Delivered",
      value: percent.format(Series.rate(Series.reached(totals), ended)),
      hint: `${number.format(Series.reached(totals))} of ${number.format(ended)}`,
      status: "delivered,complained",
      isBad: false,
    },
    {
      name: "Bounced",
      value: percent.format(bounced),
      hint: `${number.format(totals.bounced)} bounced`,
      status: "bounced",
      isBad: bounced > HIGH_BOUNCE_RATE,
    },
    {
      name: "Complained",
      value: percent.format(complained),
      hint: `${number.format(totals.complained)} complaints`,
      status: "complained",
      isBad: complained > HIGH_COMPLAINT_RATE,
    },
  ]
  return (
    <ul className="grid grid-cols-2 overflow-hidden rounded-xl border border-line bg-panel lg:grid-cols-4">
      {tiles.map(({ hint, isBad, name, status, value }, index) => (
        <li
          key={name}
          className={cx(
            "border-line",
            index % 2 === 1 && "border-l",
            index >= 2 && "border-t lg:border-t-0 lg:border-l",
          )}
        >
          <Link
            to="/emails"
            search={{ created_after: from, ...(status === undefined ? {} : { recipient_status: status }) }}
            className="block h-full px-4 py-4 hover:bg-hover focus-visible:-outline-offset-2 sm:px-5"
          >
            <p className="text-xs font-medium text-ink-3">{name}</p>
            <p className={cx("tabular mt-1 text-2xl font-semibold tracking-tight", isBad && "text-bad")}>{value}</p>
            <p className="tabular mt-0.5 text-xs text-ink-3">{hint}</p>
          </Link>
        </li>
      ))}
    </ul>
  )
}
