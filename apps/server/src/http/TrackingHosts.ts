import * as Domains from "@waybill/store/Domains"
import { Context, Duration, Effect, Layer } from "effect"
import { type KnownSet, knownSet } from "../knownSet.ts"

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
      Effect.map(Domains.trackingNames(), (names) => names.filter((name) => !own.includes(name))),
    ),
  )

interface Headers {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

/** Whether a browser asks under such a name. A proxy may tell it apart from its own; saying so gains nobody anything. */
export const isAsked = (hosts: KnownSet, headers: Headers): boolean =>
  [headers["host"], headers["x-forwarded-host"]].some(
    (host) => typeof host === "string" && host !== "" && hosts.has(normal(host)),
  )

/** As the log bears it: without a port, and without the dot at its end. */
export const normal = (host: string): string => host.replace(/\.?(?::\d+)?$/u, "").toLowerCase()
