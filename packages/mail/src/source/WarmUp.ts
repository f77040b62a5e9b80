import { Schema } from "effect"

export const MAX_PLAN_DAYS = 120
/** Mails per day that a plan may name; more is no limit in practice. */
export const MAX_PLAN_MAILS = 10_000_000
/** Row of a day for the providers that the day does not name. */
export const ANY_PROVIDER = "*"

const Mails = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_PLAN_MAILS }))
const Provider = Schema.String.check(Schema.isPattern(/^(?:\*|[a-z0-9][a-z0-9.-]{0,99})$/u))

/** Mails to each provider on the days of a warm-up, the first day first. After the last day there is no limit. */
export const Plan = Schema.Struct({
  days: Schema.Array(
    Schema.Record(Provider, Mails).check(
      Schema.makeFilter((day) => ANY_PROVIDER in day, { expected: `a day with a number for "${ANY_PROVIDER}"` }),
    ),
  ).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_PLAN_DAYS)),
})
export type Plan = typeof Plan.Type

/** Mails to a provider on each day of the plan `standard`. */
export const STANDARD_MAILS = [
  50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 4_500, 6_500, 9_000, 13_000, 18_000, 25_000, 35_000, 50_000,
  70_000, 100_000, 140_000, 200_000,
] as const
/** Providers with few mailboxes, or that trust a new address late, which get a half. */
const HALVED = ["protection.outlook.com", "gmx.net", "web.de", "t-online.de", "orange.fr", "free.fr", "laposte.net"]

export const STANDARD_NAME = "standard"
export const STANDARD: Plan = {
  days: STANDARD_MAILS.map((mails) => ({
    [ANY_PROVIDER]: mails,
    ...Object.fromEntries(HALVED.map((provider) => [provider, mails / 2])),
  })),
}

export const DAY_MS = 86_400_000

/** Number of a day in UTC, since 1970. */
export const dayOf = (millis: number): number => Math.floor(millis / DAY_MS)

export const startOf = (day: number): number => day * DAY_MS

/** Returns the day of the plan, from 1, of an address whose warm-up began on the day `from`. */
export const planDay = (from: number, today: number): number => today - from + 1

/** Mails to the provider on a day of the plan; undefined is no limit. Before the first day nothing is sent. */
export const limitOn = ({ days }: Plan, day: number, provider: string): number | undefined => {
  if (day < 1) return 0
  const row = days[day - 1]
  return row === undefined ? undefined : (row[provider] ?? row[ANY_PROVIDER] ?? 0)
}
