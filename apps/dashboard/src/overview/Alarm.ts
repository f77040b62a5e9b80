import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import type { StatsRow } from "../api/Records.ts"
import * as Series from "./Series.ts"

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Time after which mail that waits to be sent needs somebody. */
export const WAITING_MS = 5 * MINUTE_MS

export const isOld = (iso: string | null, after_ms: number, now: number): boolean =>
  iso !== null && now - Date.parse(iso) > after_ms

/** Rates above which mailbox providers may reject mail of a sender. */
export const LIMITS = { bounced: 0.05, complained: 0.001 } as const

export const warningOf = (status: keyof typeof LIMITS): string =>
  `Mailbox providers may reject mail above ${DeliveryRates.percent(LIMITS[status])}.`

/** Fewer outcomes, or fewer of them bad, say nothing about a rate. */
const MIN_OUTCOMES = 50
const MIN_BAD = 3
/** A rate that is this many times that of the days before is rising. */
const RISE = 2

interface RateAlarm {
  readonly status: keyof typeof LIMITS
  readonly name: string
  readonly rate: number
  /** Rate of the days before if it was lower; `null` if it was not, or there was too little mail. */
  readonly before: number | null
  /** Start of the days that the rate is of. */
  readonly since: string
}

/** Returns the rates of today and yesterday that are too high, or rise and are half as high. `rows` has several days. */
export const ratesOf = (rows: ReadonlyArray<StatsRow>, now: number): ReadonlyArray<RateAlarm> => {
  const since = new Date(Math.floor(now / DAY_MS) * DAY_MS - DAY_MS).toISOString()
  const isRecent = ({ at }: StatsRow) => at !== null && Date.parse(at) >= Date.parse(since)
  const [recent, earlier] = [Series.sum(rows.filter(isRecent)), Series.sum(rows.filter((row) => !isRecent(row)))]
  const kinds = [
    ["bounced", "bounce", DeliveryRates.ended],
    ["complained", "complaint", DeliveryRates.reached],
  ] as const
  return kinds.flatMap(([status, name, whole]): ReadonlyArray<RateAlarm> => {
    if (whole(recent) < MIN_OUTCOMES || recent[status] < MIN_BAD) return []
    const rate = recent[status] / whole(recent)
    const known = whole(earlier) < MIN_OUTCOMES ? null : earlier[status] / whole(earlier)
    const rises = known !== null && rate >= RISE * known
    if (rate <= LIMITS[status] && !(rises && rate > LIMITS[status] / 2)) return []
    return [{ status, name, rate, before: rises ? known : null, since }]
  })
}
