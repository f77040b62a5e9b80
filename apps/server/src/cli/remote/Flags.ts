import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as Table from "@waybill/domain/values/Table"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import { Clock, DateTime, Duration, Effect, Option } from "effect"
import { CliError, Flag } from "effect/cli"

/** Forms of a time that was, and of one that will be. */
const FORMS = {
  past: "a time such as 2027-01-31T09:00:00Z, a day such as yesterday (in UTC), or how long ago, such as 45s, 30m, 12h or 7d",
  future:
    "a time such as 2027-01-31T09:00:00Z, a day with a time such as `tomorrow 09:00` (in UTC), or in how long, such as 45s, 30m, 12h or 7d",
} as const

const UNITS: Readonly<Record<string, Duration.Unit>> = { s: "seconds", m: "minutes", h: "hours", d: "days" }

/** Reads a duration such as `1h`. */
export const durationOf = (text: string): Option.Option<Duration.Duration> => {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/u.exec(text) ?? []
  const name = Table.at(UNITS, unit)
  return name === undefined ? Option.none() : Duration.fromInput(`${Number(count)} ${name}`)
}

const DAY_AND_CLOCK = /^(today|tomorrow|\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})$/iu

/** Reads a day with a time, which are in UTC as the days of a search. */
const atClock = (text: string, now: number): string | undefined => {
  const [, day = "", clock = ""] = DAY_AND_CLOCK.exec(text) ?? []
  const date = SearchDates.parse(day, now)?.slice(0, "2027-01-31".length)
  return date === undefined ? undefined : SearchDates.parse(`${date}T${clock}`, now)
}

/** Reads a time with an offset, one that is so long ago or in so long, one that was as a search takes it, or the time of a day. */
export const timeOf = Effect.fnUntraced(function* (text: string, direction: keyof typeof FORMS = "past") {
  const away = durationOf(text)
  if (Option.isSome(away)) {
    const millis = Duration.toMillis(away.value)
    return new Date((yield* Clock.currentTimeMillis) + (direction === "past" ? -millis : millis))
  }
  const named = (direction === "past" ? SearchDates.parse : atClock)(text, yield* Clock.currentTimeMillis)
  if (named !== undefined) return new Date(named)
  const isWhole = /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/u.test(text)
  const time = isWhole ? DateTime.make(text) : Option.none()
  return yield* Effect.mapError(Effect.fromOption(Option.map(time, DateTime.toDateUtc)), () => FORMS[direction])
})

/** Flag that takes a time. */
export const time = (name: string, description: string, direction: keyof typeof FORMS = "past") =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}: ${FORMS[direction]}`),
    Flag.mapEffect((value) =>
      Effect.mapError(
        timeOf(value, direction),
        (expected) => new CliError.InvalidValue({ option: name, value, expected, kind: "flag" }),
      ),
    ),
    Flag.optional,
  )

/** Flag with pairs of the form `name=value`, as many as were given. */
export const pairs = (name: string, description: string, most: number) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}; repeat for several`),
    Flag.between(0, most),
    Flag.mapEffect((texts) =>
      Effect.forEach(texts, (value) => {
        const end = value.indexOf("=")
        return end > 0
          ? Effect.succeed([value.slice(0, end), value.slice(end + 1)] as const)
          : Effect.fail(new CliError.InvalidValue({ option: name, value, expected: "`name=value`", kind: "flag" }))
      }),
    ),
  )

const DEFAULT_ROWS = 20
/** Most rows of a list. A script that needs more reads the API page by page. */
export const MAX_ROWS = 10_000

/** Flag with the number of rows of a list. */
export const limit = Flag.Int("limit").pipe(
  Flag.withDescription(`Number of rows, up to ${MAX_ROWS}; ${DEFAULT_ROWS} by default`),
  Flag.filter(
    (rows) => rows >= 1 && rows <= MAX_ROWS,
    () => `a number from 1 to ${MAX_ROWS}`,
  ),
  Flag.withDefault(DEFAULT_ROWS),
)

/** Returns the flags that were given. */
export const present = <A extends Readonly<Record<string, Option.Option<unknown>>>>(flags: A) =>
  Object.fromEntries(
    Object.entries(flags).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : [])),
  ) as { readonly [K in keyof A]?: A[K] extends Option.Option<infer B> ? B : never }

/** Flag with event types, separated by commas. Empty if it is left out. */
export const types = (description: string) =>
  Flag.String("types").pipe(
    Flag.withDescription(`${description}, separated by commas, such as email.delivered,email.bounced`),
    Flag.withDefault(""),
    Flag.mapEffect((text) => {
      const words = text.split(",").flatMap((word) => word.trim() || [])
      const unknown = words.find((word) => !WebhookType.isWebhookType(word))
      return unknown === undefined
        ? Effect.succeed(words)
        : Effect.fail(
            new CliError.InvalidValue({ option: "types", value: unknown, expected: knownTypes(unknown), kind: "flag" }),
          )
    }),
  )

/** Names the event type that is meant, or else all. */
export const knownTypes = (unknown: string): string => {
  const nearest = WebhookType.nearestType(unknown)
  return nearest === undefined ? `one of ${WebhookType.WebhookType.literals.join(", ")}` : `did you mean ${nearest}?`
}
