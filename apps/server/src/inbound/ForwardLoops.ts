import type * as Route from "@waybill/domain/inbound/Route"
import * as RoutePattern from "@waybill/domain/inbound/RoutePattern"
import type * as Address from "@waybill/domain/values/Address"
import * as InboundRoutes from "@waybill/store/readmodels/InboundRoutes"
import * as Cells from "@waybill/store/routing/Cells"
import { Effect, Option } from "effect"
import * as InboundAddresses from "./InboundAddresses.ts"

/** Addresses that are followed from one target. A way that is longer counts as one that leads back. */
export const MAX_FOLLOWED = 50

/**
 * Whether mail that is forwarded to an address comes back, by routes of any account of this installation. Conditions other
 * than the recipient count as met.
 */
export const leadsBack = Effect.fn("ForwardLoops.leadsBack")(function* (
  target: Address.Address,
  isOrigin: (receiver: InboundAddresses.Receiver) => boolean,
) {
  const seen = new Set<string>()
  const left = [target]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const key = next.toLowerCase()
    if (seen.has(key)) continue
    if (seen.size === MAX_FOLLOWED) return true
    seen.add(key)
    const found = yield* InboundAddresses.find(next)
    if (Option.isNone(found)) continue
    if (isOrigin(found.value)) return true
    const { account_id } = found.value
    const routes = yield* Cells.inCellOf(account_id, InboundRoutes.list(account_id))
    for (const route of routes) if (isFor(route, next) && route.action.type === "forward") left.push(...route.action.to)
  }
  return false
})

/** Whether a route may apply to mail for an address. */
export const isFor = (
  { enabled, match }: Pick<Route.Settings, "enabled" | "match">,
  address: Address.Address,
): boolean => enabled && (match.to === undefined || RoutePattern.matches(match.to, address))
