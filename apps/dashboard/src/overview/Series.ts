import type { StatsRow } from "../api/Records.ts"

export const COUNTS = ["accepted", "delivered", "deferred", "bounced", "failed", "suppressed", "complained"] as const
export type Totals = { readonly [C in (typeof COUNTS)[number]]: number }

export const NO_TOTALS: Totals = {
  accepted: 0,
  delivered: 0,
  deferred: 0,
  bounced: 0,
  failed: 0,
  suppressed: 0,
  complained: 0,
}

export const sum = (rows: ReadonlyArray<StatsRow>): Totals =>
  rows.reduce<Totals>(
    (totals, row) => Object.fromEntries(COUNTS.map((name) => [name, totals[name] + row[name]])) as unknown as Totals,
    NO_TOTALS,
  )

export const rate = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

const STEP_MS = { hour: 60 * 60 * 1000, day: 24 * 60 * 60 * 1000 } as const
export type Unit = keyof typeof STEP_MS

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

export interface TimeRange {
  readonly from: string
  readonly to: string
  readonly unit: Unit
}

export const volume = (rows: ReadonlyArray<StatsRow>, range: TimeRange): Points =>
  pointsOf(rows, range, [
    (row) => row?.delivered ?? 0,
    (row) => row?.deferred ?? 0,
    (row) => (row?.bounced ?? 0) + (row?.failed ?? 0),
  ])

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const ended = (row: StatsRow): number => row.delivered + row.bounced + row.failed

export const rates = (rows: ReadonlyArray<StatsRow>, range: TimeRange): Points =>
  pointsOf(rows, range, [
    (row) => (row === undefined ? null : share(row.delivered, ended(row))),
    (row) => (row === undefined ? null : share(row.bounced, ended(row))),
    (row) => (row === undefined ? null : share(row.complained, row.delivered)),
  ])
