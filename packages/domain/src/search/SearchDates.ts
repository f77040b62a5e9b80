const HOUR_MS = 3_600_000
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS }
const AGO = /^(\d{1,4})([mhdw])$/u
const DATE = /^\d{4}-\d{2}-\d{2}$/u
const OFFSET = /T.*(?:Z|[+-]\d{2}:\d{2})$/u
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/u

/** The time zone of the machine, or UTC where the machine is not that of the person. */
export type Zone = "local" | "utc"

const midnight = (now: number, daysAgo: number, zone: Zone): Date => {
  const date = new Date(now)
  if (zone === "utc") return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() - daysAgo))
  date.setHours(0, 0, 0, 0)
  date.setDate(date.getDate() - daysAgo)
  return date
}

/** Returns the time of a date as typed; undefined if it is none. */
export const parse = (text: string, now: number, zone: Zone): string | undefined => {
  const word = text.toLowerCase()
  if (word === "today") return midnight(now, 0, zone).toISOString()
  if (word === "yesterday") return midnight(now, 1, zone).toISOString()
  const [, count, unit] = AGO.exec(word) ?? []
  if (count !== undefined && unit !== undefined)
    // Whole minutes, so that the list is not another one at each moment.
    return new Date(Math.floor(now / 60_000) * 60_000 - Number(count) * (UNITS[unit] ?? 0)).toISOString()
  const end = zone === "utc" && !OFFSET.test(text) ? "Z" : ""
  if (DATE.test(text)) return valid(new Date(`${text}T00:00:00${end}`), text)
  return TIME.test(text) ? valid(new Date(`${text}${end}`), text) : undefined
}

/** A day that the month does not have would be read as one of the next month. */
const valid = (date: Date, text: string): string | undefined => {
  const day = Number(text.slice(8, 10))
  const lastDay = new Date(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0).getDate()
  return Number.isNaN(date.getTime()) || day > lastDay ? undefined : date.toISOString()
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
export const show = (iso: string): string => format.format(new Date(iso))
