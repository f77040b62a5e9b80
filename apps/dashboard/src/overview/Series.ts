import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import type { EmailStatus, StatsRow } from "../api/Records.ts"
import type { TimeRange } from "./TimeRange.ts"

/** Recipients by their current status. Each counts once, so all of them together are the accepted ones. */
export type Totals = { readonly accepted: number } & { readonly [S in EmailStatus]: number }

export const sum = (rows: ReadonlyArray<Pick<StatsRow, "accepted" | "recipient_counts">>): Totals => ({
  accepted: rows.reduce((total, { accepted }) => total + accepted, 0),
  ...(Object.fromEntries(
    SearchedStatus.OF_RECIPIENTS.map((status) => [
      status,
      rows.reduce((total, row) => total + row.recipient_counts[status], 0),
    ]),
  ) as { readonly [S in EmailStatus]: number }),
})

export interface Visits {
  readonly opens: number
  readonly clicks: number
}

/** Opens and clicks of tracked mail; a message may have several. */
export const visits = (rows: ReadonlyArray<Pick<StatsRow, "opened" | "clicked">>): Visits => ({
  opens: rows.reduce((total, { opened }) => total + opened, 0),
  clicks: rows.reduce((total, { clicked }) => total + clicked, 0),
})

export const NO_TOTALS: Totals = sum([])

const STEP_MS = { hour: 60 * 60 * 1000, day: 24 * 60 * 60 * 1000 } as const
export type Unit = TimeRange["unit"]

/** Data in the format of uPlot: times in seconds, then one column per line. `null` is a gap. */
export type Points = readonly [times_s: ReadonlyArray<number>, ...columns: ReadonlyArray<ReadonlyArray<number | null>>]

type Value = (row: StatsRow | undefined) => number | null

/** Builds the points of a time range. Hours and days without email have no row in the statistics. */
const pointsOf = (
  rows: ReadonlyArray<StatsRow>,
  { from, to, unit }: TimeRange,
  values: ReadonlyArray<Value>,
): Points => {
  const step = STEP_MS[unit]
  const byTime = new Map(rows.map((row) => [Date.parse(row.at ?? from), row]))
  const times: Array<number> = []
  for (let at = Math.floor(Date.parse(from) / step) * step; at < Date.parse(to); at += step) times.push(at)
  return [times.map((at) => at / 1000), ...values.map((value) => times.map((at) => value(byTime.get(at))))]
}

/** Groups of statuses that are stacked, from the top of a bar to its bottom. Each status is in one group. */
export const STACKS = [
  ["delivered"],
  ["complained"],
  ["sent"],
  ["queued"],
  ["deferred"],
  ["bounced", "failed"],
  ["suppressed", "canceled"],
] as const satisfies ReadonlyArray<ReadonlyArray<EmailStatus>>

/** Recipients by the time of acceptance. The columns of a time add up to its accepted recipients. */
export const volume = (rows: ReadonlyArray<StatsRow>, range: TimeRange): Points =>
  pointsOf(
    rows,
    range,
    STACKS.map((statuses) => (row) => statuses.reduce((n, status) => n + (row?.recipient_counts[status] ?? 0), 0)),
  )

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)

type Counts = StatsRow["recipient_counts"]
type Count = (counts: Counts) => number

const rateAt =
  (part: Count, whole: Count): Value =>
  (row) =>
    row === undefined ? null : share(part(row.recipient_counts), whole(row.recipient_counts))

/** Share of the recipients accepted at each time that the mail reached. */
export const deliveryRates = (rows: ReadonlyArray<StatsRow>, range: TimeRange): Points =>
  pointsOf(rows, range, [rateAt(DeliveryRates.reached, DeliveryRates.ended)])

/** Shares of the recipients accepted at each time that bounced, and of those reached that complained. */
export const bounceRates = (rows: ReadonlyArray<StatsRow>, range: TimeRange): Points =>
  pointsOf(rows, range, [
    rateAt(({ bounced }) => bounced, DeliveryRates.ended),
    rateAt(({ complained }) => complained, DeliveryRates.reached),
  ])
