const HOUR_MS = 3_600_000
const UNITS = { m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS }
const AGO = /^(\d{1,4})([mhdw])$/u
const DATE = /^\d{4}-\d{2}-\d{2}$/u
const OFFSET = /T.*(?:Z|[+-]\d{2}:\d{2})$/u
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/u

const midnight = (now: number, daysAgo: number): Date =>
  new Date(Math.floor(now / UNITS.d) * UNITS.d - daysAgo * UNITS.d)

/**
 * Returns the time of a date as typed; undefined if it is none. Days and times without a zone are in UTC, everywhere: so the
 * statistics count days, and a search is the same for all members, on the screen and at the terminal.
 */
export const parse = (text: string, now: number): string | undefined => {
  const word = text.toLowerCase()
  if (word === "today") return midnight(now, 0).toISOString()
  if (word === "yesterday") return midnight(now, 1).toISOString()
  if (word === "tomorrow") return midnight(now, -1).toISOString()
  const [, count, unit] = AGO.exec(word) ?? []
  if (count !== undefined && isUnit(unit))
    // Whole minutes, so that the list is not another one at each moment.
    return new Date(Math.floor(now / 60_000) * 60_000 - Number(count) * UNITS[unit]).toISOString()
  const end = OFFSET.test(text) ? "" : "Z"
  if (DATE.test(text)) return valid(new Date(`${text}T00:00:00${end}`), text)
  return TIME.test(text) ? valid(new Date(`${text}${end}`), text) : undefined
}

/** Times from the first, inclusive, to the last, exclusive. */
interface TimeRange {
  readonly from: string | undefined
  readonly to: string
}

/** Returns the times of a day of the future as typed, or those until so long from now; undefined if it is neither. */
export const upcoming = (text: string, now: number): TimeRange | undefined => {
  const [, count, unit] = AGO.exec(text.toLowerCase()) ?? []
  if (count !== undefined && isUnit(unit))
    return {
      from: undefined,
      to: new Date(Math.ceil(now / 60_000) * 60_000 + Number(count) * UNITS[unit]).toISOString(),
    }
  const from = TIME.test(text) ? undefined : parse(text, now)
  return from === undefined ? undefined : { from, to: new Date(Date.parse(from) + UNITS.d).toISOString() }
}

const isUnit = (text: string | undefined): text is keyof typeof UNITS =>
  text !== undefined && Object.hasOwn(UNITS, text)

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
/** Returns the number of days since Monday. */
const dayOfWeek = (now: number): number => (new Date(now).getUTCDay() + 6) % 7
const monthOf = (now: number, ago: number): Date =>
  new Date(Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() - ago))

/** Returns the beginning of the last day of this name before today; undefined if it is none. */
export const lastWeekday = (name: string, now: number): string | undefined => {
  const day = WEEKDAYS.indexOf(name.toLowerCase())
  return day < 0 ? undefined : midnight(now, ((dayOfWeek(now) - day + 6) % 7) + 1).toISOString()
}

/** Beginnings of weeks, on their Mondays, and of months. */
export const BEGINNINGS: ReadonlyMap<string, (now: number) => Date> = new Map([
  ["THISWEEK", (now) => midnight(now, dayOfWeek(now))],
  ["LASTWEEK", (now) => midnight(now, dayOfWeek(now) + 7)],
  ["THISMONTH", (now) => monthOf(now, 0)],
  ["LASTMONTH", (now) => monthOf(now, 1)],
])

/** A day that the month does not have would be read as one of the next month. */
const valid = (date: Date, text: string): string | undefined => {
  const day = Number(text.slice(8, 10))
  const lastDay = new Date(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0).getDate()
  return Number.isNaN(date.getTime()) || day > lastDay ? undefined : date.toISOString()
}

/** Writes a time as it is typed: as a word or a date if it is the beginning of that day, and without seconds that are zero. */
export const write = (iso: string, now: number): string =>
  ["today", "yesterday"].find((word) => parse(word, now) === iso) ?? iso.replace(/(?:T00:00)?:00\.000Z$/u, "")

const ZONE = { timeZone: "UTC", timeZoneName: "short" } as const
const DAY = { ...ZONE, day: "numeric", month: "short", year: "numeric" } as const
const format = new Intl.DateTimeFormat(undefined, { ...DAY, hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
/** Writes a time with its zone, which days are of. */
export const show = (iso: string): string => format.format(new Date(iso))

const dayFormat = new Intl.DateTimeFormat(undefined, DAY)
/** Writes the day of a time. */
export const showDay = (iso: string): string => dayFormat.format(new Date(iso))
