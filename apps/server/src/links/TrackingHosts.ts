import * as Domains from "@waybill/store/readmodels/Domains"
import { Context, Duration, Effect, Layer } from "effect"
import { AT_HOME, type CachedSet, cachedSet } from "../process/cachedSet.ts"

/** Interval at which a node reloads customers' tracking domains; also the delay until a new one works. */
export const TRACKING_HOSTS_EVERY = Duration.seconds(10)

/** Customers' domains that serve tracked links and nothing else. */
export class TrackingHosts extends Context.Service<TrackingHosts, CachedSet>()("@waybill/server/links/TrackingHosts") {}

/** No domains, where the operator has not enabled TRACKING_DOMAINS. */
export const none = Layer.succeed(TrackingHosts, { has: () => false })

/**
 * `ownNames` are names of the service itself; they are never treated as a customer's, whatever DNS says. Tests pass a
 * shorter interval.
 */
export const layer = (ownNames: ReadonlyArray<string>, every: Duration.Duration = TRACKING_HOSTS_EVERY) =>
  Layer.effect(
    TrackingHosts,
    cachedSet(
      "customers' tracking domains",
      every,
      Effect.map(Domains.trackingNames(), (names) =>
        names.filter((name) => !ownNames.some((own) => normal(own) === name)),
      ),
      AT_HOME,
    ),
  )

interface Headers {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

/**
 * Returns whether a request arrived under a customer's tracking domain. Both Host and X-Forwarded-Host count, since
 * proxies differ in which one they keep; claiming such a name only takes access away.
 */
export const isCustomerHost = (hosts: CachedSet, headers: Headers): boolean =>
  namesIn(headers["host"]).some(hosts.has) || namesIn(headers["x-forwarded-host"]).some(hosts.has)

const namesIn = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  header === undefined ? [] : String(header).split(",").map(normal)

/** Normalizes a host as the log stores it: lower case, without port and trailing dot. */
export const normal = (host: string): string =>
  host
    .trim()
    .replace(/\.?(?::\d*)?$/u, "")
    .toLowerCase()
