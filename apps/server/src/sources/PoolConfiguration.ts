import * as SourceAddress from "@waybill/mail/source/SourceAddress"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import type * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import { Option, Schema } from "effect"

/** Pool of all mail that is assigned to no other. */
export const DEFAULT_POOL = "default"
/** Pools that mail can overflow into, one after another. */
export const MAX_OVERFLOWS = 4

export interface PoolAddress extends SourceAddress.Source {
  readonly family: SourceAddress.Family
  readonly warm_up: { readonly plan: WarmUp.Plan; readonly from: number } | undefined
}

export interface Pool {
  readonly name: string
  readonly overflow: string | null
  readonly addresses: ReadonlyArray<PoolAddress>
}

export interface PoolConfiguration {
  readonly pools: ReadonlyMap<string, Pool>
  /** Pools of accounts and domains, by `ownerKey`. */
  readonly assignments: ReadonlyMap<string, string>
  /** Pauses by `pauseKey`. */
  readonly pauses: Map<string, { readonly until_ms: number | null }>
  /** Addresses that any worker host can send from. */
  readonly onAHost: ReadonlySet<string>
  /** Mails of the day `day` that all processes have claimed, by `usedKey`. */
  readonly used: ReadonlyMap<string, number>
  readonly day: number
}

export const EMPTY: PoolConfiguration = {
  pools: new Map(),
  assignments: new Map(),
  pauses: new Map(),
  onAHost: new Set(),
  used: new Map(),
  day: 0,
}

const ownerKey = (account_id: string, domain_id: string): string => `${account_id} ${domain_id}`

export const pauseKey = (address: string, site: string): string => `${address} ${site}`

export const usedKey = (address: string, provider: string): string => `${address} ${provider}`

const decodePlan = Schema.decodeUnknownOption(WarmUp.Plan)

/** Returns the configuration as stored, with the host's name for addresses that have none in EHLO. */
export const read = (stored: SourceAddresses.Configuration, day: number, hostName: string): PoolConfiguration => {
  const plans = new Map(
    stored.plans.flatMap(({ name, plan }) =>
      Option.match(decodePlan(plan), { onNone: () => [], onSome: (decoded) => [[name, decoded] as const] }),
    ),
  )
  const planOf = (name: string): WarmUp.Plan => plans.get(name) ?? WarmUp.STANDARD
  const addresses = stored.addresses.map(({ address, ehlo, plan, pool, warm_up_from }) => ({
    pool,
    address,
    name: ehlo ?? hostName,
    family: SourceAddress.familyOf(address),
    warm_up: plan === null || warm_up_from === null ? undefined : { plan: planOf(plan), from: warm_up_from },
  }))
  const byPool = Map.groupBy(addresses, ({ pool }) => pool)
  return {
    pools: new Map(stored.pools.map((pool) => [pool.name, { ...pool, addresses: byPool.get(pool.name) ?? [] }])),
    assignments: new Map(
      stored.assignments.map(({ account_id, domain_id, pool }) => [ownerKey(account_id, domain_id), pool]),
    ),
    pauses: new Map(stored.pauses.map((pause) => [pauseKey(pause.address, pause.site), pause])),
    onAHost: new Set(stored.on_a_host),
    used: new Map(stored.used.map(({ address, mails, provider }) => [usedKey(address, provider), mails])),
    day,
  }
}

/** Whether there is anything to choose. */
export const isConfigured = ({ assignments, pools }: PoolConfiguration): boolean =>
  assignments.size > 0 || [...pools.values()].some(({ addresses }) => addresses.length > 0)

/** Returns the limit of an address on a day; undefined if there is none. */
export const limitOf = ({ warm_up }: PoolAddress, day: number, provider: string): number | undefined =>
  warm_up === undefined ? undefined : WarmUp.limitOn(warm_up.plan, WarmUp.planDay(warm_up.from, day), provider)

/** Whether other processes had claimed all mails of an address when the configuration was read. */
export const isUsedUp = (
  { day, used }: PoolConfiguration,
  address: PoolAddress,
  today: number,
  provider: string,
): boolean => {
  const limit = limitOf(address, today, provider)
  return limit !== undefined && day === today && (used.get(usedKey(address.address, provider)) ?? 0) >= limit
}

/** Returns the pool that a sender is assigned to: the domain's, or else the account's. */
export const assignedPool = ({ assignments }: PoolConfiguration, owner: SourceAddress.Owner): string | undefined => {
  if (assignments.size === 0) return undefined
  const ofDomain = owner.domain_id === null ? undefined : assignments.get(ownerKey(owner.account_id, owner.domain_id))
  return ofDomain ?? assignments.get(ownerKey(owner.account_id, ""))
}

/** Returns a pool and those that it overflows into. */
export const chainOf = ({ pools }: PoolConfiguration, first: string): ReadonlyArray<Pool> => {
  const chain: Array<Pool> = []
  for (let name: string | null = first; name !== null && chain.length <= MAX_OVERFLOWS;) {
    const pool: Pool | undefined = pools.get(name)
    if (pool === undefined || chain.includes(pool)) break
    chain.push(pool)
    name = pool.overflow
  }
  return chain
}
