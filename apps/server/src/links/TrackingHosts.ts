import * as Domains from "@waybill/store/readmodels/Domains"
import { Context, Duration, Effect, Layer } from "effect"
import { type KnownSet, knownSet } from "../live/knownSet.ts"

/** How often a node looks which names of customers lead here, which is how soon it knows of one. */
export const TRACKING_HOSTS_EVERY = Duration.seconds(10)

/** Names of customers that links lead over, and nothing else is served under. There is none where the operator wants none. */
export const TrackingHosts = Context.Reference<KnownSet>("@waybill/server/http/TrackingHosts", {
  defaultValue: () => ({ has: () => false }),
})

/**
 * `own` are names under which the service itself is reached, whatever a customer's DNS says of them. Tests don't wait for
 * seconds.
 */
export const layer = (own: ReadonlyArray<string>, every: Duration.Duration = TRACKING_HOSTS_EVERY) =>
  Layer.effect(
    TrackingHosts,
    knownSet(
      "which names of customers lead here",
      every,
      Effect.map(Domains.trackingNames(), (names) =>
        names.filter((name) => !own.some((each) => normal(each) === name)),
      ),
    ),
  )

interface Headers {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

/**
 * Whether a browser asks under such a name. A proxy may tell it apart from its own, and one before it or behind it may have
 * added another; saying so gains nobody anything.
 */
export const isAsked = (hosts: KnownSet, headers: Headers): boolean =>
  named(headers["host"]).some(hosts.has) || named(headers["x-forwarded-host"]).some(hosts.has)

const named = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  header === undefined ? [] : String(header).split(",").map(normal)

/** As the log bears it: without a port, and without the dot at its end. */
export const normal = (host: string): string =>
  host
    .trim()
    .replace(/\.?(?::\d*)?$/u, "")
    .toLowerCase()
