import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Activity } from "lucide-react"
import { useMemo, useRef, useState } from "react"
import { useEventStream } from "../live/useEventStream.ts"
import * as Queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import * as LiveEmails from "../emails/LiveEmails.ts"
import { FirstEmail } from "../firstEmail/FirstEmail.tsx"
import { useHasScope } from "../session/useHasScope.ts"
import { useSession } from "../session/useSession.ts"
import { ErrorBoundary } from "../ui/feedback/ErrorBoundary.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { Skeleton } from "../ui/feedback/Skeleton.tsx"
import { useNow } from "../ui/display/Time.tsx"
import { Attention } from "./Attention.tsx"
import { Breakdown } from "./Breakdown.tsx"
// A part of the screen's code: React shows what a suspended part holds only 300 ms after its fallback.
import { Chart, type ChartName } from "./Chart.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { RecentEmails } from "./RecentEmails.tsx"
import * as Series from "./Series.ts"
import { SummaryPanels } from "./SummaryPanels.tsx"
import { Tiles } from "./Tiles.tsx"
import * as TimeRange from "./TimeRange.ts"
import { useFirstSteps } from "./useFirstSteps.ts"

const RANGES = [
  ["1d", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
] as const
const KINDS = [
  ["volume", "Volume"],
  ["delivered", "Delivered"],
  ["bounced", "Bounced"],
] as const
const POINTS = { volume: Series.volume, delivered: Series.deliveryRates, bounced: Series.bounceRates } as const
/** Queries to refetch after an event, with their delay. Reads of the log count toward the user's rate limit. */
const LIVE_QUERIES = [
  ["stats", 3_000],
  ["recent", 6_000],
] as const

const EMPTY_CHART = <Skeleton className="m-4 h-64" />

export const Overview = () => {
  const now = useNow()
  const { account_id } = useSession().session
  const { range = TimeRange.firstOf(account_id, now) } = useSearch({ from: "/shell/overview" })
  const navigate = useNavigate({ from: "/overview" })
  const [kind, setKind] = useState<ChartName>("volume")
  const { from, to, unit } = TimeRange.rangeOf(range, now)
  const query = useQuery(Queries.stats(from, to, unit))
  useLiveRefresh()
  const first = useFirstSteps()
  const recent = useQuery(Queries.recentEmails)
  const isEmpty = recent.isSuccess && recent.data.data.length === 0
  const rows: ReadonlyArray<StatsRow> = query.data?.data ?? []
  const totals = useMemo(() => Series.sum(rows), [rows])
  const visits = useMemo(() => Series.visits(rows), [rows])
  const isTracked = useIsTracked() || visits.opens + visits.clicks > 0
  const points = useMemo(() => POINTS[kind](rows, { from, to, unit }), [kind, rows, from, to, unit])
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
      <Attention />
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
          <Tiles
            from={from}
            totals={query.isPending || recent.isPending ? undefined : totals}
            visits={isTracked ? visits : undefined}
          />
          <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
            <div className="flex min-w-0 flex-col gap-5">
              <Panel
                title="Delivery"
                actions={<SegmentedControl label="Chart" value={kind} options={KINDS} onChange={setKind} />}
              >
                <ErrorBoundary>
                  {query.isPending ? EMPTY_CHART : <Chart kind={kind} points={points} unit={unit} />}
                </ErrorBoundary>
              </Panel>
              <Breakdown from={from} to={to} hasVisits={isTracked} />
              <RecentEmails />
            </div>
            <SummaryPanels from={from} to={to} />
          </div>
        </>
      )}
    </Screen>
  )
}

/** Whether opens or clicks of some domain are tracked. */
const useIsTracked = (): boolean => {
  const { data } = useQuery({ ...Queries.domains, enabled: useHasScope("domains:read") })
  return (data?.data ?? []).some(({ click_tracking, open_tracking }) => click_tracking || open_tracking)
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
