import type * as RouteState from "@waybill/domain/inbound/RouteState"
import * as RoutePattern from "@waybill/domain/inbound/RoutePattern"
import * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as InboundRoutes from "@waybill/store/readmodels/InboundRoutes"
import * as Databases from "@waybill/store/routing/Databases"
import { Effect, Option } from "effect"
import * as InboundAddresses from "./InboundAddresses.ts"

/** Addresses that are followed from one target. A way that is longer counts as one that leads back. */
export const MAX_FOLLOWED = 50

/** Answers about receivers and their routes, which the targets of one mail share. Each is asked once. */
export interface Known {
  readonly accounts: Map<string, Option.Option<Id.AccountId>>
  readonly routes: Map<Id.AccountId, ReadonlyArray<RouteState.RouteSettings>>
  /** Addresses from which no way leads back, in lower case. */
  readonly safe: Set<string>
}
export const nothingKnown = (): Known => ({ accounts: new Map(), routes: new Map(), safe: new Set() })

/**
 * Whether mail that is forwarded to an address comes back, by routes of any account of this installation. Conditions other
 * than the recipient count as met. `known` is of the same origin.
 */
export const leadsBack = Effect.fn("ForwardLoops.leadsBack")(function* (
  target: Address.Address,
  isOrigin: (receiver: InboundAddresses.Receiver) => boolean,
  known: Known = nothingKnown(),
) {
  const seen = new Set<string>()
  const left = [target]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const key = next.toLowerCase()
    if (seen.has(key) || known.safe.has(key)) continue
    if (seen.size === MAX_FOLLOWED) return true
    seen.add(key)
    const found = yield* receiverOf(known, next)
    if (Option.isNone(found)) continue
    const account_id = found.value
    if (isOrigin({ address: next, account_id })) return true
    for (const route of yield* routesOf(known, account_id))
      if (isFor(route, next) && route.action.type === "forward") left.push(...route.action.to)
  }
  for (const key of seen) known.safe.add(key)
  return false
})

/** The domain of an address decides who receives its mail. */
const receiverOf = Effect.fnUntraced(function* ({ accounts }: Known, address: Address.Address) {
  const domain = Address.domainOf(address)
  const asked = accounts.get(domain)
  if (asked !== undefined) return asked
  const found = Option.map(yield* InboundAddresses.find(address), ({ account_id }) => account_id)
  accounts.set(domain, found)
  return found
})

const routesOf = Effect.fnUntraced(function* ({ routes }: Known, account_id: Id.AccountId) {
  const found = routes.get(account_id) ?? (yield* Databases.ofAccount(account_id, InboundRoutes.list(account_id)))
  routes.set(account_id, found)
  return found
})

/** Whether a route may apply to mail for an address. */
export const isFor = (
  { enabled, match }: Pick<RouteState.RouteSettings, "enabled" | "match">,
  address: Address.Address,
): boolean => enabled && (match.to === undefined || RoutePattern.matches(match.to, address))
