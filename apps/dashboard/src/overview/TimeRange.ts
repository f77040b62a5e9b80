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

/** Returns the range that the overview opens with: 24 hours for an account that is not older, whose other days are empty. */
export const firstOf = (accountId: string, now: number): RangeName =>
  createdAt(accountId) >= Date.parse(rangeOf("1d", now).from) ? "1d" : DEFAULT

export const isName = (value: unknown): value is RangeName => typeof value === "string" && Object.hasOwn(DAYS, value)

/** A range of the statistics, and the unit by which they are shown. */
export interface TimeRange {
  readonly from: string
  readonly to: string
  readonly unit: "hour" | "day"
}

/** Returns the range that ends with this hour: the hours of a day, or whole days in UTC, as the statistics count them. */
export const rangeOf = (name: RangeName, now: number): TimeRange => {
  const unit = name === "1d" ? "hour" : "day"
  const to = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS
  const last = unit === "hour" ? to - DAY_MS : Math.floor(now / DAY_MS) * DAY_MS
  return {
    from: new Date(last - (DAYS[name] - 1) * DAY_MS).toISOString(),
    to: new Date(to).toISOString(),
    unit,
  }
}
