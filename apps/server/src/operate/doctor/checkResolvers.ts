import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Dns from "@waybill/mail/dns/Dns"
import { Duration, Effect } from "effect"
import * as Finding from "./Finding.ts"

const found = Finding.of("dns")

/** Name to look up, which IANA reserves for examples (RFC 2606). */
const PROBE = "example.com"
/** Time above which a resolver counts as slow. A delivery needs several look-ups, one after another. */
export const SLOW = Duration.seconds(1)

interface Lookup {
  readonly server: string
  readonly answer: Dns.Answer<string>
  readonly millis: number
}

/** Checks each resolver by itself, since one that does not answer delays every look-up. */
export const checkResolvers = Effect.fnUntraced(function* (servers: ReadonlyArray<string>, weight: Finding.Severity) {
  if (servers.length === 0)
    return found.problem(weight, "this machine has no resolver", "Set one in /etc/resolv.conf or in DNS_SERVERS.")
  const lookups = yield* Effect.forEach(servers, (server) => lookUp(server), { concurrency: "unbounded" })
  const good = lookups.filter(({ answer }) => answer._tag === "Found")
  const bad = lookups.filter(({ answer }) => answer._tag !== "Found")
  if (good.length === 0) return found.problem(weight, bad.map(describe).join("; "), fix(bad))
  if (bad.length > 0) return found.warning(bad.map(describe).join("; "), "Fix that resolver, or remove it.")
  const slow = good.filter(({ millis }) => millis > Duration.toMillis(SLOW))
  return slow.length > 0
    ? found.warning(slow.map(describe).join("; "), "Use a closer resolver, or one that caches.")
    : found.ok(good.map(describe).join("; "))
})

const lookUp = (server: string): Effect.Effect<Lookup> =>
  Effect.gen(function* () {
    const dns = yield* Dns.Dns
    const began = yield* MonotonicClock.millis
    const answer = yield* dns.ns(PROBE)
    return { server, answer, millis: (yield* MonotonicClock.millis) - began }
  }).pipe(Effect.provide(Dns.Dns.layer({ servers: [server], query_tries: 1 })))

const describe = ({ answer, millis, server }: Lookup): string =>
  answer._tag === "Found"
    ? `${server} answers in ${millis} ms`
    : answer._tag === "NotFound"
      ? `${server} has no record of ${PROBE} (${answer.reason})`
      : `${server} does not answer (${answer.reason})`

const fix = (bad: ReadonlyArray<Lookup>): string =>
  bad.some(({ answer }) => answer._tag === "NotFound")
    ? "Use a resolver that answers for public names."
    : "Allow UDP and TCP to port 53, or set resolvers that answer in DNS_SERVERS."
