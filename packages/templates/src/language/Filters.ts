import type { Context, FilterImplOptions } from "liquidjs"
import * as Dates from "./Dates.ts"

/** How numbers and dates are written, for one rendering. */
export interface Writing {
  /** BCP 47. */
  readonly locale: string
  /** Name in the time zone database, such as Europe/Berlin. */
  readonly time_zone: string
}

/** Key of a rendering's writing among its global variables, which no variable can have. */
export const WRITING = Symbol("writing")

/** Filters of the library that a template may use. The others are random, make hashes, or evaluate a text as a condition. */
export const KEPT: ReadonlyArray<string> = [
  "abs",
  "append",
  "array_to_sentence_string",
  "at_least",
  "at_most",
  "capitalize",
  "ceil",
  "compact",
  "concat",
  "date",
  "default",
  "divided_by",
  "downcase",
  "escape",
  "escape_once",
  "find",
  "first",
  "floor",
  "has",
  "join",
  "json",
  "last",
  "lstrip",
  "map",
  "minus",
  "modulo",
  "newline_to_br",
  "normalize_whitespace",
  "plus",
  "prepend",
  "reject",
  "remove",
  "remove_first",
  "remove_last",
  "replace",
  "replace_first",
  "replace_last",
  "reverse",
  "round",
  "rstrip",
  "size",
  "slice",
  "sort",
  "sort_natural",
  "split",
  "strip",
  "strip_html",
  "strip_newlines",
  "sum",
  "times",
  "truncate",
  "truncatewords",
  "uniq",
  "upcase",
  "url_decode",
  "url_encode",
  "where",
]

interface Rendering {
  readonly context: Context
}

const writingOf = ({ context }: Rendering): Writing =>
  (context.globals as { readonly [WRITING]?: Writing })[WRITING] ?? { locale: "en", time_zone: "UTC" }

const numberOf = (value: unknown): number => (typeof value === "number" ? value : Number(String(value)))

/** Formatters that are kept: a date's takes 200 µs to make, which counts as so many steps. */
const MAX_FORMATTERS = 200
const FORMATTER_STEPS = 4_000
const formatters = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.PluralRules>()

const formatter = <F extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.PluralRules>(
  { context }: Rendering,
  key: string,
  make: () => F,
): F => {
  const known = formatters.get(key)
  if (known !== undefined) return known as F
  context.memoryLimit.use(FORMATTER_STEPS)
  if (formatters.size >= MAX_FORMATTERS) formatters.clear()
  const made = make()
  formatters.set(key, made)
  return made
}

const number = (rendering: Rendering, value: unknown, options: Intl.NumberFormatOptions): string => {
  const { locale } = writingOf(rendering)
  const key = `number ${locale} ${JSON.stringify(options)}`
  return formatter(rendering, key, () => new Intl.NumberFormat(locale, options)).format(numberOf(value))
}

const MAX_DIGITS = 20
const digitsOf = (digits: unknown): Intl.NumberFormatOptions => {
  if (digits === undefined) return {}
  const count = Math.min(MAX_DIGITS, Math.max(0, Math.trunc(numberOf(digits)) || 0))
  return { minimumFractionDigits: count, maximumFractionDigits: count }
}

const STYLES = ["full", "long", "medium", "short"] as const
type Style = (typeof STYLES)[number]
const styleOf = (style: unknown): Style => STYLES.find((known) => known === style) ?? "medium"

/** The moment of a date in ISO 8601 or in seconds since 1970, as the filter `date` reads it. */
const momentOf = (value: unknown): Date | undefined => {
  const date = new Date(typeof value === "number" ? value * 1000 : String(value))
  return Number.isNaN(date.getTime()) ? undefined : date
}

const moment = (rendering: Rendering, value: unknown, options: Intl.DateTimeFormatOptions): string => {
  if (Dates.isAbsent(value)) return ""
  const { locale, time_zone } = writingOf(rendering)
  const date = momentOf(value)
  const key = `date ${locale} ${time_zone} ${JSON.stringify(options)}`
  return date === undefined
    ? String(value)
    : formatter(rendering, key, () => new Intl.DateTimeFormat(locale, { timeZone: time_zone, ...options })).format(date)
}

const CURRENCY = /^[A-Za-z]{3}$/u

/** Filters of our own, by which numbers and dates are written as readers of the locale expect. */
export const OWN: Readonly<Record<string, FilterImplOptions>> = {
  money(value: unknown, currency: unknown) {
    const code = String(currency)
    if (!CURRENCY.test(code))
      throw new Error('money needs a currency of three letters, as in {{ total | money: "EUR" }}')
    return number(this, value, { style: "currency", currency: code.toUpperCase() })
  },
  number(value: unknown, digits: unknown) {
    return number(this, value, digitsOf(digits))
  },
  percent(value: unknown, digits: unknown) {
    return number(this, value, { style: "percent", ...digitsOf(digits) })
  },
  local_date(value: unknown, style: unknown) {
    return moment(this, value, { dateStyle: styleOf(style) })
  },
  local_time(value: unknown, style: unknown) {
    return moment(this, value, { timeStyle: style === undefined ? "short" : styleOf(style) })
  },
  /** `{{ count | plural: one: "# item", other: "# items" }}`, with the forms of the locale. */
  plural(value: unknown, ...forms: ReadonlyArray<unknown>) {
    const { locale } = writingOf(this)
    const rules = formatter(this, `plural ${locale}`, () => new Intl.PluralRules(locale))
    const named = new Map(forms.filter((form): form is [string, unknown] => Array.isArray(form)))
    const form = named.get(rules.select(numberOf(value))) ?? named.get("other")
    if (form === undefined) return ""
    const pieces = String(form).split("#")
    const written = number(this, value, {})
    this.context.memoryLimit.use(String(form).length + pieces.length * written.length)
    return pieces.join(written)
  },
}
