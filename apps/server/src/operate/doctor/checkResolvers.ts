import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import * as Dns from "@waybill/mail/dns/Dns"
import { Duration, Effect } from "effect"
import { type Finding, ok, trouble, warning, type Weight } from "./Finding.ts"

/** Kept by IANA for such purposes, and in DNS for as long as there is one (RFC 2606). */
export const PROBE = "example.com"
/** Each delivery asks several questions one after another. */
export const SLOW = Duration.seconds(1)

interface Asked {
  readonly server: string
  readonly answer: Dns.Answer<string>
  readonly millis: number
}

/** Each resolver by itself, for of several a dead one costs every look-up its time-out. */
export const resolvers = (servers: ReadonlyArray<string>, weight: Weight, probe = PROBE): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    if (servers.length === 0) {
      return trouble("dns", weight, "this machine has no resolver", "Name one in /etc/resolv.conf, or in DNS_SERVERS.")
    }
    const asked = yield* Effect.forEach(servers, (server) => ask(server, probe), { concurrency: "unbounded" })
    const good = asked.filter(({ answer }) => answer._tag === "Found")
    const bad = asked.filter(({ answer }) => answer._tag !== "Found")
    if (good.length === 0) {
      return trouble("dns", weight, bad.map((one) => words(one, probe)).join("; "), cure(bad))
    }
    if (bad.length > 0) {
      return warning("dns", bad.map((one) => words(one, probe)).join("; "), "Mend that resolver, or leave it out.")
    }
    const slow = good.filter(({ millis }) => millis > Duration.toMillis(SLOW))
    return slow.length > 0
      ? warning(
          "dns",
          slow.map((one) => words(one, probe)).join("; "),
          "Use a resolver that is closer, or one that caches.",
        )
      : ok("dns", good.map((one) => words(one, probe)).join("; "))
  })

const ask = (server: string, probe: string): Effect.Effect<Asked> =>
  Effect.gen(function* () {
    const dns = yield* Dns.Dns
    const began = yield* SteadyClock.millis
    const answer = yield* dns.ns(probe)
    return { server, answer, millis: (yield* SteadyClock.millis) - began }
  }).pipe(Effect.provide(Dns.Dns.layer({ servers: [server], query_tries: 1 })))

const words = ({ answer, millis, server }: Asked, probe: string): string =>
  answer._tag === "Found"
    ? `${server} answers in ${millis} ms`
    : answer._tag === "NotFound"
      ? `${server} knows nothing of ${probe} (${answer.reason})`
      : `${server} gives no answer (${answer.reason})`

const cure = (bad: ReadonlyArray<Asked>): string =>
  bad.some(({ answer }) => answer._tag === "NotFound")
    ? "It answers, but not for the public DNS: use a resolver that knows the names mail goes to."
    : "Let UDP and TCP to port 53 through, or name resolvers that answer in DNS_SERVERS."
