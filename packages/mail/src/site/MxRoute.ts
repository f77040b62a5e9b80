import { Array, Effect, Random } from "effect"
import * as Dns from "../dns/Dns.ts"
import * as Network from "../dns/Network.ts"

/** Servers of a domain that are tried in one attempt, best first (RFC 5321 §5.1 asks for at least two). */
export const MX_HOSTS = 5

/** Destination of mail for a domain. Only `Nowhere` is final; failed queries are repeated later. */
export type MxRoute =
  | { readonly _tag: "Hosts"; readonly hosts: Array.NonEmptyReadonlyArray<string> }
  | { readonly _tag: "Nowhere"; readonly reason: string; readonly enhanced_code: string }
  | { readonly _tag: "Unknown"; readonly reason: string }

export const find = Effect.fn("MxRoute.find")(function* (
  dns: Dns.Queries,
  domain: string,
  allowed: Network.Networks = [],
): Effect.fn.Return<MxRoute> {
  const answer = yield* dns.mx(domain)
  if (answer._tag === "Unavailable") return { _tag: "Unknown", reason: `MX of ${domain}: ${answer.reason}` }
  if (answer._tag === "NotFound") return yield* implicit(dns, domain, allowed)
  const named = answer.records.filter((record) => record.exchange !== "")
  // RFC 7505: a single "." says that this domain takes no mail.
  if (named.length === 0)
    return { _tag: "Nowhere", reason: `${domain} accepts no mail (null MX)`, enhanced_code: "5.1.10" }
  // RFC 1035 §3.3.9 requires a name; an address there is a mistake that must not be relied on.
  const hosts = (yield* inOrder(named)).filter((host) => Network.literal(host) === undefined).slice(0, MX_HOSTS)
  return Array.isReadonlyArrayNonEmpty(hosts)
    ? { _tag: "Hosts", hosts }
    : { _tag: "Nowhere", reason: `the MX records of ${domain} name no server`, enhanced_code: "5.4.4" }
})

/**
 * Without MX records the domain is its own server (RFC 5321 §5.1). A domain known only to the operator's own network
 * does not count, and senders are not told that it exists.
 */
const implicit = Effect.fnUntraced(function* (
  dns: Dns.Queries,
  domain: string,
  allowed: Network.Networks,
): Effect.fn.Return<MxRoute> {
  const answer = yield* Dns.addresses(dns, domain)
  if (answer._tag === "Unavailable") return { _tag: "Unknown", reason: `addresses of ${domain}: ${answer.reason}` }
  if (answer._tag === "Found") {
    if (answer.records.some((address) => Network.isReachable(address, allowed))) {
      return { _tag: "Hosts", hosts: [domain] }
    }
    yield* Effect.logInfo("recipient domain has no public mail server; its mail bounces", {
      domain,
      addresses: answer.records,
    })
  }
  return { _tag: "Nowhere", reason: `${domain} has neither an MX record nor a public address`, enhanced_code: "5.1.2" }
})

/** Equal preferences share the load (§5.1). */
const inOrder = Effect.fnUntraced(function* (records: ReadonlyArray<Dns.Mx>) {
  const shuffled = yield* Random.shuffle(records)
  return [
    ...new Set([...shuffled].toSorted((one, other) => one.preference - other.preference).map((mx) => mx.exchange)),
  ]
})
