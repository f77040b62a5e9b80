import type { StatsRow } from "../api/records.ts"

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

/** In the shape that the chart draws: times in seconds, and a column a line. */
export type Points = readonly [at_s: ReadonlyArray<number>, ...lines: ReadonlyArray<ReadonlyArray<number>>]

/** Hours and days without mail have no row, and are drawn as none. */
export const series = (rows: ReadonlyArray<StatsRow>, from: string, to: string, unit: Unit): Points => {
  const step = STEP_MS[unit]
  const byTime = new Map(rows.map((row) => [Date.parse(row.at ?? from), row]))
  const times: Array<number> = []
  for (let at = Math.floor(Date.parse(from) / step) * step; at < Date.parse(to); at += step) times.push(at)
  const bad = (row: StatsRow | undefined) => (row?.bounced ?? 0) + (row?.failed ?? 0)
  return [
    times.map((at) => at / 1000),
    times.map((at) => byTime.get(at)?.delivered ?? 0),
    times.map((at) => byTime.get(at)?.deferred ?? 0),
    times.map((at) => bad(byTime.get(at))),
  ]
}
