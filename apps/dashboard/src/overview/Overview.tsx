import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Activity } from "lucide-react"
import { lazy, Suspense, useMemo, useRef, useState } from "react"
import { useLive } from "../api/useEventStream.ts"
import * as queries from "../api/Queries.ts"
import type { StatsRow } from "../api/Records.ts"
import { EMAIL_TYPES } from "../emails/LiveEmails.ts"
import { sendExamples } from "../emails/sendExamples.ts"
import { useMay } from "../shell/useSession.ts"
import { cx } from "../ui/display/cx.ts"
import { Boundary } from "../ui/feedback/ErrorBoundary.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Segments } from "../ui/controls/SegmentedControl.tsx"
import { Panel, Screen, Skeleton } from "../ui/layout/Screen.tsx"
import { useNow } from "../ui/display/Time.tsx"
import { Recent } from "./RecentEmails.tsx"
import { NONE, rate, rates, sum, type Totals, volume } from "./Series.ts"
import { Usage } from "./SummaryPanels.tsx"

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
/** What is asked for again while mail flows, and how soon. The log is asked sparingly: the reader's own looks count too. */
const REFRESHED = [
  ["stats", 3_000],
  ["recent", 6_000],
] as const

const startOf = (now: number, days: number): string =>
  new Date(Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS).toISOString()
const endOf = (now: number): string => new Date(Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS).toISOString()

/**
 * The library that draws takes the browser's language for a locale as it is read, and some systems name one that is none,
 * such as en-US@posix.
 */
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
  const query = useQuery(queries.stats(from, to, unit))
  useRefresh()
  const rows: ReadonlyArray<StatsRow> = query.data?.data ?? []
  const all = useMemo(() => sum(rows), [rows])
  const points = useMemo(
    () => (kind === "rates" ? rates : volume)(rows, { from, to, unit }),
    [kind, rows, from, to, unit],
  )
  return (
    <Screen
      wide
      title="Overview"
      actions={
        <Segments
          label="Stretch of time"
          value={range}
          options={RANGES}
          onChange={(name) => void navigate({ search: { range: name }, replace: true })}
        />
      }
    >
      {query.isError ? <ErrorNote error={query.error} onRetry={() => void query.refetch()} /> : undefined}
      {query.isSuccess && all.accepted === 0 ? (
        <Panel>
          <Empty icon={<Activity size={20} />} title="Nothing was sent yet" examples={sendExamples()}>
            Send a first message; here you will see how much goes out, how well it arrives and how fast.
          </Empty>
        </Panel>
      ) : (
        <>
          <Tiles all={query.isPending ? undefined : all} />
          <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
            <div className="flex min-w-0 flex-col gap-5">
              <Panel
                title="Over time"
                actions={<Segments label="What is drawn" value={kind} options={KINDS} onChange={setKind} />}
              >
                <Boundary>
                  <Suspense fallback={EMPTY_CHART}>
                    {query.isPending ? EMPTY_CHART : <Chart of={kind} points={points} unit={unit} />}
                  </Suspense>
                </Boundary>
              </Panel>
              <Recent />
            </div>
            <Usage totals={all} />
          </div>
        </>
      )}
    </Screen>
  )
}

/** New numbers while mail flows: by the stream where it may be followed, otherwise now and then. */
const useRefresh = () => {
  const client = useQueryClient()
  const isAdmin = useMay("admin")
  const under = useRef(new Set<string>())
  const soon = () => {
    for (const [name, pause] of REFRESHED) {
      if (under.current.has(name)) continue
      under.current.add(name)
      setTimeout(() => {
        under.current.delete(name)
        void client.invalidateQueries({ queryKey: [name] })
      }, pause)
    }
  }
  useLive({ types: EMAIL_TYPES, enabled: isAdmin, onBegin: soon, onEvent: soon })
}

const number = new Intl.NumberFormat()
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 })

/** Above these, mailbox providers begin to look askance at a sender. */
const MUCH_BOUNCED = 0.05
const MUCH_COMPLAINED = 0.001

const Tiles = ({ all = NONE }: { readonly all: Totals | undefined }) => {
  const ended = all.delivered + all.bounced + all.failed
  const bounced = rate(all.bounced, ended)
  const complained = rate(all.complained, all.delivered)
  const tiles = [
    { name: "Accepted", value: number.format(all.accepted), hint: "recipients", status: undefined, isBad: false },
    {
      name: "Delivered",
      value: percent.format(rate(all.delivered, ended)),
      hint: `${number.format(all.delivered)} of ${number.format(ended)}`,
      status: "delivered",
      isBad: false,
    },
    {
      name: "Bounced",
      value: percent.format(bounced),
      hint: `${number.format(all.bounced)} bounced`,
      status: "bounced",
      isBad: bounced > MUCH_BOUNCED,
    },
    {
      name: "Complained",
      value: percent.format(complained),
      hint: `${number.format(all.complained)} complaints`,
      status: "complained",
      isBad: complained > MUCH_COMPLAINED,
    },
  ]
  return (
    <ul className="grid grid-cols-2 overflow-hidden rounded-xl border border-line bg-panel lg:grid-cols-4">
      {tiles.map(({ hint, isBad, name, status, value }, nth) => (
        <li
          key={name}
          className={cx("border-line", nth % 2 === 1 && "border-l", nth >= 2 && "border-t lg:border-t-0 lg:border-l")}
        >
          <Link
            to="/emails"
            search={status === undefined ? {} : { status }}
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
