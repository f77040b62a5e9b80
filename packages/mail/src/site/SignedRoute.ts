import { Effect } from "effect"
import type * as Dns from "../dns/Dns.ts"
import type * as Network from "../dns/Network.ts"
import * as MxRoute from "./MxRoute.ts"
import type { Dane, ServerRule } from "../dane/Dane.ts"

/** Destination of mail for a domain, with the rules of those of its servers that have one. */
export interface SignedRoute {
  readonly route: MxRoute.MxRoute
  readonly rules: ReadonlyMap<string, ServerRule>
}

interface Destination {
  readonly domain: string
  readonly port: number
  readonly allowed: Network.Networks | undefined
}

/** Whether it may be used again for a while: failed queries are repeated. */
export const isKnown = ({ route, rules }: SignedRoute): boolean =>
  route._tag !== "Unknown" && [...rules.values()].every(({ _tag }) => _tag !== "Unknown")

/**
 * Finds the servers of a domain. With a trusted resolver the servers are those that it names: a rule for a server that
 * somebody else has named protects nobody (RFC 7672 §2.2.1).
 */
export const find = Effect.fn("SignedRoute.find")(function* (
  dns: Dns.Queries,
  dane: Dane | undefined,
  { allowed, domain, port }: Destination,
): Effect.fn.Return<SignedRoute> {
  if (dane === undefined) return { route: yield* MxRoute.find(dns, domain, allowed), rules: new Map() }
  const { answer, isSecure } = yield* dane.mx(domain)
  const route = yield* MxRoute.find({ ...dns, mx: () => Effect.succeed(answer) }, domain, allowed)
  if (!isSecure || route._tag !== "Hosts") return { route, rules: new Map() }
  const rules = yield* Effect.forEach(
    route.hosts,
    (host) => Effect.map(dane.ruleOf(host, port), (rule) => [host, rule] as const),
    { concurrency: "unbounded" },
  )
  return { route, rules: new Map(rules.filter(([, { _tag }]) => _tag !== "Unsigned")) }
})
