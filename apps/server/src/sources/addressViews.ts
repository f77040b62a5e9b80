import type * as Operate from "@waybill/api/groups/Operate"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import * as WarmUpPlans from "@waybill/store/sources/WarmUpPlans"
import { Clock, Effect, Schema } from "effect"

/** Problems of source addresses, in the order of their metric. */
export const PROBLEMS: ReadonlyArray<Operate.SourceProblem> = ["names", "listed", "absent", "blocked"]

const isPlan = Schema.is(WarmUp.Plan)

/** All source addresses with their state, for the dashboard, the command line, doctor and the metrics. */
export const addressViews = Effect.gen(function* () {
  const addresses = yield* SourceAddresses.list()
  if (addresses.length === 0) return []
  const now = yield* Clock.currentTimeMillis
  const today = WarmUp.dayOf(now)
  const [counts, pauses, plans] = yield* Effect.all([
    SourceCounts.ofDay(today),
    SourcePauses.current(now),
    WarmUpPlans.list(),
  ])
  return addresses.map((one): Operate.SourceAddress => {
    const { address, checked_at, ehlo, hosts, names, pool } = one
    const stored = plans.find(({ name }) => name === one.plan)?.plan
    const plan = one.plan === null ? undefined : isPlan(stored) ? stored : WarmUp.STANDARD
    const day = one.warm_up_from === null ? 0 : WarmUp.planDay(one.warm_up_from, today)
    const own = pauses
      .filter((pause) => pause.address === address)
      .map(({ reason, since, site, until }) => ({ site, since, until, reason }))
    const view = { address, pool, ehlo, checked_at, names, hosts, pauses: own, listings: one.listings ?? [] }
    return {
      ...view,
      warm_up:
        plan === undefined || one.plan === null
          ? null
          : { plan: one.plan, day: day > plan.days.length ? null : day, days: plan.days.length },
      today: counts
        .filter((count) => count.address === address)
        .map(({ provider, sent }) => ({
          provider,
          sent,
          limit: plan === undefined ? null : (WarmUp.limitOn(plan, day, provider) ?? null),
        })),
      problems: problemsOf(view),
    }
  })
})

const problemsOf = ({
  hosts,
  listings,
  names,
  pauses,
}: Pick<Operate.SourceAddress, "hosts" | "listings" | "names" | "pauses">): ReadonlyArray<Operate.SourceProblem> => {
  const has: Readonly<Record<Operate.SourceProblem, boolean>> = {
    names: names?.status === "wrong",
    listed: listings.some(({ status }) => status === "listed"),
    // Without a running worker nothing is known.
    absent: hosts.length > 0 && !hosts.some(({ bindable }) => bindable),
    blocked: pauses.some(({ until }) => until !== null),
  }
  return PROBLEMS.filter((problem) => has[problem])
}
