import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Activity } from "lucide-react"
import { lazy, Suspense, useMemo, useRef, useState } from "react"
import { useEventStream } from "../api/useEventStream.ts"
import * as Queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import * as LiveEmails from "../emails/LiveEmails.ts"
import { FirstEmail } from "../firstEmail/FirstEmail.tsx"
import { useHasScope } from "../shell/useHasScope.ts"
import { ErrorBoundary } from "../ui/feedback/ErrorBoundary.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { Skeleton } from "../ui/feedback/Skeleton.tsx"
import { useNow } from "../ui/display/Time.tsx"
import { Breakdown } from "./Breakdown.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { RecentEmails } from "./RecentEmails.tsx"
import * as Series from "./Series.ts"
import { SummaryPanels } from "./SummaryPanels.tsx"
import { Tiles } from "./Tiles.tsx"
import { useFirstSteps } from "./useFirstSteps.ts"

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
const loadChart = async () => {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, "language", { value: "en", configurable: true })
  }
  return { default: (await import("./Chart.tsx")).Chart }
}
// Loads together with the numbers. If it fails, the chart loads it again.
const earlyChart = loadChart().catch(() => undefined)
const Chart = lazy(async () => (await earlyChart) ?? loadChart())
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
  const first = useFirstSteps()
  const recent = useQuery(Queries.recentEmails)
  const isEmpty = recent.isSuccess && recent.data.data.length === 0
  const rows: ReadonlyArray<StatsRow> = query.data?.data ?? []
  const totals = useMemo(() => Series.sum(rows), [rows])
  const visits = useMemo(() => Series.visits(rows), [rows])
  const points = useMemo(
    () => (kind === "rates" ? Series.rates : Series.volume)(rows, { from, to, unit }),
    [kind, rows, from, to, unit],
  )
  return (
    <Screen
      title="Overview"
      actions={
        isEmpty ? undefined : (
          <SegmentedControl
            label="Time range"
            value={range}
            options={RANGES}
            onChange={(name) => void navigate({ search: { range: name }, replace: true })}
          />
        )
      }
    >
      {query.isError ? <ErrorMessage error={query.error} onRetry={() => void query.refetch()} /> : undefined}
      {first.steps === undefined ? undefined : <FirstSteps steps={first.steps} onDismiss={first.dismiss} />}
      {isEmpty ? (
        first.steps === undefined ? (
          <Panel>
            <EmptyState icon={<Activity size={20} />} title="No emails yet" action={<FirstEmail />}>
              Volume, delivery and bounce rates appear here after the first email.
            </EmptyState>
          </Panel>
        ) : undefined
      ) : (
        <>
          <Tiles from={from} totals={query.isPending ? undefined : totals} visits={visits} />
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
              <Breakdown from={from} to={to} />
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
  const canStream = useHasScope("events:read")
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
