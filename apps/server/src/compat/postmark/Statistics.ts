import { MAX_STATS_DAYS, type Stats, type StatsRow } from "@waybill/api/groups/Stats"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { DateTime, Effect } from "effect"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import { route } from "../route.ts"
import * as Bounces from "./Bounces.ts"
import * as Filters from "./Filters.ts"
import * as Paging from "./Paging.ts"

const QUERY = ["tag", "fromdate", "todate", "messagestream"]

const respelled = Respelling.renamed({ from: "fromdate", to: "todate" })

/** Returns our own statistics of each day in UTC, without dates of the longest range up to now. */
const daysOf = Effect.fnUntraced(function* (query: URLSearchParams) {
  yield* Filters.checkStream(query)
  const next = Timestamp.plus(Timestamp.fromDateTime(yield* DateTime.now), Timestamp.HOUR)
  const to = Timestamp.earliest((yield* Paging.until(query)) ?? next, next)
  const from = (yield* Paging.from(query)) ?? Timestamp.plus(to, -MAX_STATS_DAYS * Timestamp.DAY)
  const filters = Filters.native({ from, to, group_by: "day", tag: query.get("tag") })
  const { data } = yield* respelled(Native.get<Stats>(`/v1/stats?${filters}`))
  return data
})

type Counts = Readonly<Record<string, (row: StatsRow) => number>>

const totals = (rows: ReadonlyArray<StatsRow>, counts: Counts): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counts).map(([name, of]) => [name, rows.reduce((total, row) => total + of(row), 0)]),
  )

const dayOf = (at: string | null): string => (at ?? "").slice(0, "2027-01-31".length)

/** A list of days, of which those without events are left out, and the sums. */
const daily = (path: string, counts: Counts) =>
  // The client for Ruby repeats the last part of the path as `type`.
  route(`GET /stats/outbound/${path}`, { endpoint: "stats.get", query: [...QUERY, "type"] }, function* ({ query }) {
    const rows = yield* daysOf(query)
    const Days = rows.flatMap((row) => {
      const numbers = totals([row], counts)
      return Object.values(numbers).every((count) => count === 0) ? [] : [{ Date: dayOf(row.at), ...numbers }]
    })
    return Native.ok({ Days, ...totals(rows, counts) })
  })

/** Links of texts are not tracked. */
const LOCATIONS: Counts = { HTML: ({ clicked }) => clicked, Text: () => 0 }

const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 100_000) / 1_000

/** Leaves out numbers that Waybill does not have, such as unique opens: a 0 would be wrong. */
const overview = route("GET /stats/outbound", { endpoint: "stats.get", query: QUERY }, function* ({ query }) {
  const { Bounced, Sent, SpamComplaints, ...others } = totals(yield* daysOf(query), {
    Sent: ({ accepted }) => accepted,
    Bounced: ({ bounced, failed }) => bounced + failed,
    SpamComplaints: ({ complained }) => complained,
    Opens: ({ opened }) => opened,
    TotalClicks: ({ clicked }) => clicked,
    WithClientRecorded: () => 0,
    WithPlatformRecorded: () => 0,
    WithReadTimeRecorded: () => 0,
  })
  return Native.ok({
    Sent,
    Bounced,
    BounceRate: percent(Bounced ?? 0, Sent ?? 0),
    SpamComplaints,
    SpamComplaintsRate: percent(SpamComplaints ?? 0, Sent ?? 0),
    ...others,
  })
})

/** Kinds are in the log and not in the statistics, so that these are counted from the log. */
const bounces = route("GET /stats/outbound/bounces", { endpoint: "logs.list", query: QUERY }, function* ({ query }) {
  yield* Filters.checkStream(query)
  const found = (yield* Bounces.counted(query)).filter(({ Type }) => Type !== "SpamComplaint")
  const kinds = (each: typeof found) => {
    const counts: Record<string, number> = {}
    for (const { Type } of each) counts[Type] = (counts[Type] ?? 0) + 1
    return counts
  }
  const days = [...Map.groupBy(found, ({ BouncedAt }) => dayOf(BouncedAt))].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  return Native.ok({ Days: days.map(([Date, each]) => ({ Date, ...kinds(each) })), ...kinds(found) })
})

export const routes: ReadonlyArray<Route> = [
  overview,
  bounces,
  daily("sends", { Sent: ({ accepted }) => accepted }),
  daily("spam", { SpamComplaint: ({ complained }) => complained }),
  daily("opens", { Opens: ({ opened }) => opened }),
  daily("opens/platforms", { Unknown: ({ opened }) => opened }),
  daily("clicks", { Clicks: ({ clicked }) => clicked }),
  daily("clicks/platforms", { Unknown: ({ clicked }) => clicked }),
  daily("clicks/location", LOCATIONS),
]
