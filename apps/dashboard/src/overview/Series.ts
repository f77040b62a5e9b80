import type { StatsRow } from "../api/Records.ts"

export const COUNTS = ["accepted", "delivered", "deferred", "bounced", "failed", "suppressed", "complained"] as const
export type Totals = { readonly [C in (typeof COUNTS)[number]]: number }

export const NONE: Totals = {
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
    (all, row) => Object.fromEntries(COUNTS.map((name) => [name, all[name] + row[name]])) as unknown as Totals,
    NONE,
  )

export const rate = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

const STEP_MS = { hour: 60 * 60 * 1000, day: 24 * 60 * 60 * 1000 } as const
export type Unit = keyof typeof STEP_MS

/** In the shape that the chart draws: times in seconds, and a column a line. A gap is where nothing can be said. */
export type Points = readonly [at_s: ReadonlyArray<number>, ...lines: ReadonlyArray<ReadonlyArray<number | null>>]

type Value = (row: StatsRow | undefined) => number | null

/** Hours and days without mail have no row, and are drawn as none. */
const series = (rows: ReadonlyArray<StatsRow>, { from, to, unit }: Stretch, values: ReadonlyArray<Value>): Points => {
  const step = STEP_MS[unit]
  const byTime = new Map(rows.map((row) => [Date.parse(row.at ?? from), row]))
  const times: Array<number> = []
  for (let at = Math.floor(Date.parse(from) / step) * step; at < Date.parse(to); at += step) times.push(at)
  return [times.map((at) => at / 1000), ...values.map((value) => times.map((at) => value(byTime.get(at))))]
}

export interface Stretch {
  readonly from: string
  readonly to: string
  readonly unit: Unit
}

export const volume = (rows: ReadonlyArray<StatsRow>, stretch: Stretch): Points =>
  series(rows, stretch, [
    (row) => row?.delivered ?? 0,
    (row) => row?.deferred ?? 0,
    (row) => (row?.bounced ?? 0) + (row?.failed ?? 0),
  ])

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const ended = (row: StatsRow): number => row.delivered + row.bounced + row.failed

export const rates = (rows: ReadonlyArray<StatsRow>, stretch: Stretch): Points =>
  series(rows, stretch, [
    (row) => (row === undefined ? null : share(row.delivered, ended(row))),
    (row) => (row === undefined ? null : share(row.bounced, ended(row))),
    (row) => (row === undefined ? null : share(row.complained, row.delivered)),
  ])
