import * as SourceText from "@waybill/mail/source/SourceText"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import type { WarmUp as StoredWarmUp } from "@waybill/store/sources/SourceAddresses"
import * as WarmUpPlans from "@waybill/store/sources/WarmUpPlans"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Clock, Effect, Option, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Options from "../Options.ts"

export const refuse = (message: string) => Effect.fail(new CommandRefused({ message }))

export const addressArgument = Options.argument("address", "IPv4 or IPv6 address of a worker host")

/** Returns the one spelling of an address. */
export const addressOf = (text: string) =>
  Result.match(SourceText.parseAddress(text), {
    onFailure: (problem) => refuse(`${problem}.`),
    onSuccess: Effect.succeed,
  })

export const nameOf = (text: string) =>
  Result.match(SourceText.parseName(text), { onFailure: (problem) => refuse(`${problem}.`), onSuccess: Effect.succeed })

export const unknownAddress = (address: string) =>
  refuse(`${address} is no source address. \`waybill ips list\` shows all.`)

const POOL_NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/u

export const isName = (name: string): boolean => POOL_NAME.test(name)

export const checkName = (what: string, name: string) =>
  isName(name)
    ? Effect.succeed(name)
    : refuse(`The name of a ${what} has up to 40 small letters, digits, - and _; ${name} has not.`)

/** Creates the pool unless it exists. */
export const ensurePool = Effect.fnUntraced(function* (name: string) {
  if (!(yield* SourcePools.ensure(yield* checkName("pool", name))))
    return yield* refuse(`This instance has ${SourcePools.MAX_POOLS} pools, the most it can have.`)
})

/** Returns the name of a pool that exists. */
export const poolOf = Effect.fnUntraced(function* (name: string) {
  const pools = yield* SourcePools.list()
  if (pools.some((pool) => pool.name === name)) return name
  const known = pools.length === 0 ? "There is none yet" : `There are ${pools.map((pool) => pool.name).join(", ")}`
  return yield* refuse(`There is no pool ${name}. ${known}; \`waybill ips add\` makes one.`)
})

export const planFlag = Options.text(
  "plan",
  `Warm-up plan: ${WarmUp.STANDARD_NAME}, one of \`waybill ips plans list\`, or none`,
)
export const dayFlag = Options.int("day", "Day of the plan that today is; 1 if left out")

/** Word for no plan, and for no name of its own. */
export const NONE = "none"

/** Returns the warm-up of an address as flags name it: undefined if they do not, `null` for none. */
export const warmUpOf = Effect.fnUntraced(function* (
  plan: Option.Option<string>,
  day: Option.Option<number>,
): Effect.fn.Return<
  StoredWarmUp | null | undefined,
  CommandRefused | StoreUnavailable,
  Effect.Services<ReturnType<typeof WarmUpPlans.list>>
> {
  if (Option.isNone(plan)) return Option.isSome(day) ? yield* refuse("--day needs --plan.") : undefined
  if (plan.value === NONE) return null
  const plans = (yield* WarmUpPlans.list()).map(({ name }) => name)
  if (plan.value !== WarmUp.STANDARD_NAME && !plans.includes(plan.value))
    return yield* refuse(
      `There is no warm-up plan ${plan.value}. There are ${[WarmUp.STANDARD_NAME, ...plans].join(", ")}.`,
    )
  const first = Option.getOrElse(day, () => 1)
  if (first < 1 || first > WarmUp.MAX_PLAN_DAYS) return yield* refuse(`--day is from 1 to ${WarmUp.MAX_PLAN_DAYS}.`)
  return { plan: plan.value, from: WarmUp.dayOf(yield* Clock.currentTimeMillis) - first + 1 }
})
