const DAYS = { "1d": 1, "7d": 7, "30d": 30, "90d": 90 } as const
export type RangeName = keyof typeof DAYS
const DEFAULT: RangeName = "7d"

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** The time of an id is its first ten characters after the prefix, in this alphabet. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const TIME = /^acc_(.{10})/u

const createdAt = (accountId: string): number =>
  [...(TIME.exec(accountId)?.[1] ?? "")].reduce((ms, digit) => ms * 32 + ALPHABET.indexOf(digit), 0)

/** Returns the range that the overview opens with: today for an account of today, whose other days are empty. */
export const firstOf = (accountId: string, now: number): RangeName =>
  createdAt(accountId) >= Date.parse(startOf(now, 1)) ? "1d" : DEFAULT

export const isName = (value: unknown): value is RangeName => typeof value === "string" && Object.hasOwn(DAYS, value)

/** A range of the statistics, and the unit by which they are shown. */
export interface TimeRange {
  readonly from: string
  readonly to: string
  readonly unit: "hour" | "day"
}

/** Returns the range that ends with this hour. */
export const rangeOf = (name: RangeName, now: number): TimeRange => ({
  from: startOf(now, DAYS[name]),
  to: new Date(Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS).toISOString(),
  unit: DAYS[name] <= 1 ? "hour" : "day",
})

/** Start of the range, in UTC, as the statistics count days and searches read them. */
const startOf = (now: number, days: number): string =>
  new Date(Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS).toISOString()
