import { DateTime, Result, Schema } from "effect"
import * as Text from "./Text.ts"

/**
 * A point in time in events, responses and tables: ISO 8601, UTC, milliseconds, `Z`. The fixed width makes text order
 * the same as time order, JSON loses no precision, and folding a history builds no date objects.
 */
const LONG_MONTHS = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
const SHORT_MONTHS = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
const FEBRUARY = "02-(?:0[1-9]|1[0-9]|2[0-8])"
const LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
const DAY_OF_YEAR = `(?:[0-9]{4}-(?:${LONG_MONTHS}|${SHORT_MONTHS}|${FEBRUARY})|${LEAP_YEAR}-02-29)`
const CANONICAL = new RegExp(`^${DAY_OF_YEAR}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z$`, "u")

export const Timestamp = Schema.String.check(
  Schema.isPattern(CANONICAL, { message: "must be a time such as 2026-11-21T09:30:00.000Z" }),
)
  .pipe(Schema.brand("Timestamp"))
  .annotate({ identifier: "Timestamp", format: "date-time" })
export type Timestamp = typeof Timestamp.Type

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The last millisecond of the year 9999. */
const MAX_EPOCH_MILLIS = 253_402_300_799_999
/** The first millisecond of the year 1: Postgres has no year 0. */
const MIN_EPOCH_MILLIS = -62_135_596_800_000

/** Clamped to the years 0001 to 9999, so that the width is always the same. */
export const fromMillis = (epochMillis: number): Timestamp =>
  new Date(Math.min(Math.max(epochMillis, MIN_EPOCH_MILLIS), MAX_EPOCH_MILLIS)).toISOString() as Timestamp

export const fromDateTime = (moment: DateTime.Utc): Timestamp => fromMillis(DateTime.toEpochMillis(moment))

export const toMillis = (at: Timestamp): number => Date.parse(at)

export const plus = (at: Timestamp, millis: number): Timestamp => fromMillis(toMillis(at) + millis)

/** Returns the UTC day, as `2026-11-21`, that lies whole days after `at`. */
export const dayAfter = (at: Timestamp, days: number): string => plus(at, days * DAY).slice(0, "2026-11-21".length)

/** Returns milliseconds from `from` to `to`; negative if `to` is earlier. */
export const between = (from: Timestamp, to: Timestamp): number => toMillis(to) - toMillis(from)

// Timestamps compare as text: `a < b` means earlier.
export const latest = (a: Timestamp, b: Timestamp): Timestamp => (a < b ? b : a)
export const earliest = (a: Timestamp, b: Timestamp): Timestamp => (a < b ? a : b)

/** Returns the seconds that a client should wait: rounded up and at least 1, so that it does not return too early. */
export const secondsUntil = (now: Timestamp, then: Timestamp): number =>
  Math.max(1, Math.ceil(between(now, then) / SECOND))

const ISO_WITH_OFFSET =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2}))$/

/** Parses ISO 8601 with an offset or `Z`. A local time without an offset is ambiguous and refused. */
export const parse = (text: string): Result.Result<Timestamp, string> => {
  const match = ISO_WITH_OFFSET.exec(text)
  if (match === null) return Result.fail("must be an ISO 8601 time with an offset or Z: YYYY-MM-DDThh:mm:ssZ")
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Parts
  const fraction = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"))
  const offset = (match[8] === "-" ? -1 : 1) * (Number(match[9] ?? 0) * HOUR + Number(match[10] ?? 0) * MINUTE)
  const isValid =
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    Number(match[9] ?? 0) <= 23 &&
    Number(match[10] ?? 0) <= 59
  if (!isValid) return Result.fail("is a day or time that does not exist")
  const pad = (value: number, width = 2) => String(value).padStart(width, "0")
  const local = Date.parse(
    `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}.${pad(fraction, 3)}Z`,
  )
  return Result.succeed(fromMillis(local - offset))
}

type Parts = [year: number, month: number, day: number, hour: number, minute: number, second: number]

const daysInMonth = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Schema of a time in a request: any offset on the wire, the canonical form in memory. */
export const FromIso = Text.parsed(
  Timestamp,
  {
    description: "ISO 8601 with an offset or Z; UTC with milliseconds in responses",
    format: "date-time",
    examples: ["2026-11-21T09:30:00Z"],
  },
  parse,
  (at) => at,
)

/** Returns the first instant of the UTC month after `at`. */
export const nextMonth = (at: Timestamp): Timestamp => {
  const year = Number(at.slice(0, 4))
  const month = Number(at.slice(5, 7))
  const [y, m] = month === 12 ? [year + 1, 1] : [year, month + 1]
  return `${String(y).padStart(4, "0")}-${String(m).padStart(2, "0")}-01T00:00:00.000Z` as Timestamp
}
