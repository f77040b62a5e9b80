import { Cache, Duration, Effect, Exit, Layer } from "effect"
import { domainToASCII } from "node:url"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Span from "@waybill/runtime/flow/Span"
import type { Dane } from "../dane/Dane.ts"
import * as DanePeer from "../dane/DanePeer.ts"
import * as ServerPolicy from "../site/ServerPolicy.ts"
import * as SignedRoute from "../site/SignedRoute.ts"
import * as Dns from "../dns/Dns.ts"
import * as MtaSts from "../dns/MtaSts.ts"
import type * as MxRoute from "../site/MxRoute.ts"
import * as MxWalk from "./MxWalk.ts"
import type * as Network from "../dns/Network.ts"
import * as SitePool from "../site/SitePool.ts"
import * as SiteRules from "../site/SiteRules.ts"
import type * as SmtpTimeouts from "../smtp/SmtpTimeouts.ts"
import * as SmtpDelivery from "./SmtpDelivery.ts"
import { deliverFromSources } from "./deliverFromSources.ts"
import type { Source, Sources } from "../source/SourceAddress.ts"
import { targetFamilies } from "../source/targetFamilies.ts"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

// A message on its way to servers, in order:
// 1. `deliver` groups the recipients by domain. Each group is a transaction of its own.
// 2. `SignedRoute` finds the servers of the domain, and by DANE the certificates that DNSSEC signs for them.
// 3. Without servers the group ends here: it bounces, or is deferred while DNS gives no answer.
// 4. `MtaSts` and DANE make the policy that a connection has to meet (`ServerPolicy`).
// 5. With source addresses, `deliverFromSources` chooses one for each part of the group. Otherwise the kernel does.
// 6. `SmtpDelivery` takes a session of the site from `SitePool`, or `MxWalk` connects to the servers one after another.
// 7. Each outcome is reported as soon as it is known, since the attempt may be cut off.

/** Time that a domain's servers are cached. DNS results carry no lifetime here, so it is short. */
export const ROUTE_TTL_MS = 60_000
export const ROUTES = 10_000
/** Domains of one message that are delivered to concurrently. */
export const DOMAINS_AT_ONCE = 8
export const SMTP_PORT = 25

export interface Options {
  /** Name of this side in EHLO; its address must resolve back to it. */
  readonly name: string
  readonly timeouts?: Partial<SmtpTimeouts.Timeouts>
  /** Private networks that mail may be delivered into. */
  readonly allowed?: Network.Networks
  /** Port of servers; tests run theirs on another one with certificates of their own. */
  readonly port?: number
  readonly ca?: string | Buffer
  /** Asks a trusted resolver for the records of DANE; without it none are used. */
  readonly dane?: Dane
  /** Addresses to send from; without it the kernel chooses. */
  readonly sources?: Sources
}

/** Delivers to the servers of each recipient's domain. */
export const layer = (
  options: Options,
): Layer.Layer<Transport.Transport, never, Dns.Dns | MtaSts.MtaSts | SiteRules.CurrentRules> =>
  Layer.effect(
    Transport.Transport,
    Effect.gen(function* () {
      const dns = yield* Dns.Dns
      const mtaSts = yield* MtaSts.MtaSts
      const siteRules = yield* SiteRules.CurrentRules
      const pool = yield* SitePool.make()
      const port = options.port ?? SMTP_PORT
      const walk = MxWalk.make(dns, { ...options, port })
      const routes = yield* Cache.makeWith(
        (domain: string) => SignedRoute.find(dns, options.dane, { domain, port, allowed: options.allowed }),
        {
          capacity: ROUTES,
          timeToLive: (exit) =>
            Exit.isSuccess(exit) && SignedRoute.isKnown(exit.value) ? Duration.millis(ROUTE_TTL_MS) : Duration.zero,
        },
      )
      const anchors = new DanePeer.Anchors()

      const families = yield* Cache.make({
        lookup: (hosts: string) => targetFamilies(dns, hosts.split(" "), options.allowed),
        capacity: ROUTES,
        timeToLive: Duration.millis(ROUTE_TTL_MS),
      })

      const toDomain = Effect.fnUntraced(function* (
        message: OutgoingMessage,
        domain: string,
        recipients: ReadonlyArray<string>,
      ): Effect.fn.Return<ReadonlyArray<RecipientOutcome>> {
        const startedAt = yield* MonotonicClock.millis
        const { route, rules } = yield* Cache.get(routes, domain)
        if (route._tag !== "Hosts") {
          const hop = { ...Transport.NO_HOP, duration_ms: (yield* MonotonicClock.millis) - startedAt }
          return recipients.map((recipient) => unrouted(recipient, hop, route))
        }
        const policy = yield* mtaSts.enforced(domain)
        const site = SiteRules.siteOf(route.hosts, siteRules)
        // A session opened without these checks must not carry mail of a domain that demands them.
        const isChecked = policy !== undefined || rules.size > 0
        const checked = isChecked ? { ...site, route: `${site.route} checked for ${domain}` } : site
        const policyOf = ServerPolicy.policyOf({ domain, policy, rules, anchors })
        const routeFrom = (source: Source | undefined): SmtpDelivery.Route => ({
          site: source === undefined ? checked : SiteRules.siteFrom(checked, source.address),
          connect: (avoid) => walk(route.hosts, policyOf, avoid, source),
          confirms: false,
        })
        if (options.sources === undefined || !options.sources.isConfigured())
          return yield* SmtpDelivery.deliver(pool, routeFrom(undefined), message, recipients)
        const now = yield* MonotonicClock.millis
        const destination = {
          provider: site.provider,
          site: site.key,
          families: Cache.get(families, route.hosts.join(" ")),
          isResting: (address: string) => pool.isPaused(SiteRules.siteFrom(site, address).key, now),
        }
        return yield* deliverFromSources(options.sources, destination, message, recipients, (part, source, reporting) =>
          SmtpDelivery.deliver(pool, routeFrom(source), reporting, part),
        )
      })

      const deliver = Effect.fnUntraced(function* (message: OutgoingMessage, recipients: ReadonlyArray<string>) {
        // One domain a transaction, even when two share their servers: some of those refuse a mixture.
        const groups = Map.groupBy(recipients, domainOf)
        const outcomes = new Map<string, RecipientOutcome>()
        yield* Effect.forEach(
          groups,
          ([domain, group]) =>
            Effect.map(
              domain === undefined ? Effect.succeed(group.map(undeliverable)) : toDomain(message, domain, group),
              (results) => {
                for (const outcome of results) {
                  outcomes.set(outcome.recipient, outcome)
                  message.report(outcome)
                }
              },
            ),
          { concurrency: DOMAINS_AT_ONCE, discard: true },
        )
        return recipients.map((recipient) => outcomes.get(recipient) ?? undeliverable(recipient))
      })
      return Transport.Transport.of({
        kind: "direct",
        deliver: (message, recipients) => Span.around(deliver(message, recipients), "DirectTransport.deliver"),
      })
    }),
  )

/** Returns the domain as DNS knows it; undefined for an address literal and for text that cannot be a name. */
const domainOf = (recipient: string): string | undefined => {
  const domain = domainToASCII(recipient.slice(recipient.lastIndexOf("@") + 1).toLowerCase())
  return domain === "" || /^\[|^[\d.]+$/u.test(domain) ? undefined : domain.replace(/\.$/u, "")
}

const undeliverable = (recipient: string): RecipientOutcome =>
  Transport.failed(recipient, "bad_domain", "the address has no domain that mail could be delivered to")

const unrouted = (
  recipient: string,
  hop: Transport.Hop,
  route: Exclude<MxRoute.MxRoute, { readonly _tag: "Hosts" }>,
): RecipientOutcome =>
  route._tag === "Unknown"
    ? Transport.deferred(recipient, hop, "dns", route.reason)
    : {
        ...Transport.deferred(recipient, hop, "bad_domain", route.reason),
        status: "bounced",
        enhanced_code: route.enhanced_code,
        suppress: "now",
      }
