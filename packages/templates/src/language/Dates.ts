import { toValue } from "liquidjs"
import type { Handler } from "./Counting.ts"
import * as Limits from "./Limits.ts"

/** A conversion of a format, as the library reads it. */
const CONVERSION = /%([-_0^#:]+)?(\d+)?(?:[EO])?(.)/gu
/** Steps of a conversion, and of looking up a time zone by its name. */
const CONVERSION_STEPS = 10
const ZONE_STEPS = 4_000
const SHORT_CHARS = 3

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
]

/** Writes a name with the flags and the width of its conversion. */
const written = (name: string, flags: string, width: number, pad: string): string => {
  const cased = flags.includes("^") || flags.includes("#") ? name.toUpperCase() : name
  const padding = flags.includes("_") ? " " : flags.includes("0") ? "0" : pad
  return cased.padStart(flags.includes("-") ? 0 : width, padding)
}

/** True for a value that names no moment, for which the library writes `[object Object]`. */
export const isAbsent = (value: unknown): boolean => {
  const plain = toValue(value)
  return plain === undefined || plain === null || plain === ""
}

/** The library's filter, which makes a formatter for each name of a day or month: they are written here. */
export const dating = (handler: Handler): Handler =>
  function (value, given, ...zone) {
    if (isAbsent(value)) return ""
    const { memoryLimit, opts } = this.context
    const format = String(toValue(given) ?? opts.dateFormat)
    if (format.length > Limits.MAX_DATE_FORMAT_CHARS)
      throw new Error(`date takes a format of at most ${Limits.MAX_DATE_FORMAT_CHARS} characters`)
    memoryLimit.use(CONVERSION_STEPS * (format.match(CONVERSION)?.length ?? 0))
    if (typeof toValue(zone[0]) === "string") memoryLimit.use(ZONE_STEPS)
    const found = /^(\d) (\d\d)$/u.exec(String(handler.call(this, value, "%w %m", ...zone)))
    const day = DAYS[Number(found?.[1])] ?? ""
    const month = MONTHS[Number(found?.[2]) - 1] ?? ""
    const names: Readonly<Record<string, string>> = {
      A: day,
      a: day.slice(0, SHORT_CHARS),
      B: month,
      b: month.slice(0, SHORT_CHARS),
      h: month.slice(0, SHORT_CHARS),
    }
    const named = format.replaceAll(
      CONVERSION,
      (conversion, flags: string = "", width: string = "", letter: string) => {
        const name = Object.hasOwn(names, letter) ? names[letter] : undefined
        if (name === undefined) return conversion
        memoryLimit.use(Number(width))
        return written(name, flags, Number(width), letter === "h" ? "0" : " ")
      },
    )
    return handler.call(this, value, named, ...zone)
  }
