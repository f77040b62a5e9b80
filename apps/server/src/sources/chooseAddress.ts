import { rankSources } from "@waybill/mail/source/rankSources"
import * as SourceAddress from "@waybill/mail/source/SourceAddress"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import { Clock, Effect, Random } from "effect"
import type { Obstacle } from "./Obstacle.ts"
import * as Obstacles from "./Obstacle.ts"
import * as Pools from "./PoolConfiguration.ts"
import type { SourceBudget } from "./SourceBudget.ts"
import type { SourceState } from "./SourceState.ts"

const KERNEL: SourceAddress.Choice = { _tag: "Kernel" }

type Chosen = Extract<SourceAddress.Choice, { readonly _tag: "Chosen" }>

/** Chooses the first address of the sender's pool, and then of its overflow, that may send now, and takes mails from its plan. */
export const chooseAddress = Effect.fnUntraced(function* (
  state: SourceState,
  budget: SourceBudget,
  request: SourceAddress.Request,
): Effect.fn.Return<SourceAddress.Choice> {
  const now = yield* Clock.currentTimeMillis
  const configuration = state.current()
  const assigned = Pools.assignedPool(configuration, request.owner)
  const pool = assigned ?? Pools.DEFAULT_POOL
  const chain = Pools.chainOf(configuration, pool)
  if (assigned === undefined && (chain[0]?.addresses.length ?? 0) === 0) return KERNEL
  const obstacles: Array<Obstacle> = []
  for (const { addresses } of chain) {
    for (const address of inOrder(addresses, request)) {
      const found = obstacleOf(state, address, request, now) ?? (yield* takeMails(budget, address, request, now))
      if (found._tag === "Chosen") return found
      obstacles.push(found)
    }
    // Another host sends it from this pool, so that it does not overflow.
    if (obstacles.some(({ _tag }) => _tag === "Elsewhere")) break
  }
  const provider = request.provider === SourceAddress.OTHER ? undefined : request.provider
  const waiting = Obstacles.waitingFor(obstacles, { pool, provider, now_ms: now, random: yield* Random.next })
  return { _tag: "None", pool, ...waiting }
})

/** Returns the addresses in the order of the message, those that the provider wants to rest last. */
const inOrder = (addresses: ReadonlyArray<Pools.PoolAddress>, { isResting, key }: SourceAddress.Request) => {
  const ranked = rankSources(addresses, key)
  const resting = ranked.filter(({ address }) => isResting(address))
  return resting.length === 0 ? ranked : [...ranked.filter((one) => !resting.includes(one)), ...resting]
}

/** Returns why an address may not be used, as far as that is known without its plan. */
const obstacleOf = (
  state: SourceState,
  one: Pools.PoolAddress,
  { families, provider, site, without }: SourceAddress.Request,
  now: number,
): Obstacle | undefined => {
  const { address, family } = one
  if (!families.has(family)) return { _tag: "OtherFamily" }
  const configuration = state.current()
  const pauses = [SourcePauses.EVERY_SITE, SourcePauses.siteKey(site)].flatMap(
    (each) => configuration.pauses.get(Pools.pauseKey(address, each)) ?? [],
  )
  if (pauses.some(({ until_ms }) => until_ms === null)) return { _tag: "Paused" }
  const until_ms = Math.max(0, ...pauses.map(({ until_ms }) => until_ms ?? 0))
  if (until_ms > now) return { _tag: "Blocked", until_ms }
  if (!state.isAbsent(address) && !without.has(address)) return undefined
  const today = WarmUp.dayOf(now)
  if (Pools.isUsedUp(configuration, one, today, provider)) return usedUp(today)
  return { _tag: configuration.onAHost.has(address) ? "Elsewhere" : "Nowhere" }
}

const takeMails = Effect.fnUntraced(function* (
  budget: SourceBudget,
  one: Pools.PoolAddress,
  { provider, recipients }: SourceAddress.Request,
  now: number,
): Effect.fn.Return<Chosen | Obstacle> {
  const { address, name } = one
  const day = WarmUp.dayOf(now)
  const limit = Pools.limitOf(one, day, provider)
  const key = { address, day, provider }
  const mails = yield* budget.take(key, limit, recipients)
  if (mails === undefined) return { _tag: "Unknown" }
  if (mails === 0) return usedUp(day)
  const giveBack = (count: number) => budget.giveBack(key, limit, count)
  return { _tag: "Chosen", source: { address, name }, recipients: mails, giveBack }
})

const usedUp = (day: number): Obstacle => ({ _tag: "UsedUp", until_ms: WarmUp.startOf(day + 1) })
