import type { PgClient } from "@effect/sql-pg"
import * as Content from "@waybill/store/content/Content"
import * as DomainKeys from "@waybill/store/secrets/DomainKeys"
import * as ExpiredKeys from "@waybill/store/idempotency/ExpiredKeys"
import * as DueRows from "@waybill/store/outbox/DueRows"
import * as Leases from "@waybill/store/outbox/Leases"
import { Processes } from "@waybill/store/outbox/Processes"
import * as Reclaim from "@waybill/store/outbox/Reclaim"
import * as Retention from "@waybill/store/erasure/Retention"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import { Duration, Effect, Layer, type Redacted, Scope } from "effect"
import { drainDeliveries, type Options as DeliveryOptions } from "./delivery/drainDeliveries.ts"
import { runTasks, type Tasks } from "./Graphile.ts"
import { SigningKeys } from "./delivery/SigningKeys.ts"

/** The longest pause between looks at what has come due: how late mail can be that another process has scheduled. */
export const RISE_EVERY = Duration.millis(500)
/** The shortest, so that a million messages scheduled a millisecond apart are not a million looks. */
export const RISE_PAUSE = Duration.millis(20)
/**
 * Leases that nobody renews are rare: their process would have to be alive and have lost them. Longer than its outcomes
 * wait for another try after an outage, since what two looks find is taken.
 */
export const EXPIRED_EVERY = Duration.seconds(15)

export interface Options<E, R, T> {
  readonly url: Redacted.Redacted
  readonly delivery: DeliveryOptions
  /** The tasks of others, built in the worker's scope: pipelines of their own, checks, tidying up. */
  readonly also?: Effect.Effect<Tasks<T>, E, R>
}

/** Everything that works in the background of one process. */
export const layer = <E = never, R = never, T = never>(options: Options<E, R, T>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      // There are 30 seconds to stop, for all of them together.
      const pipelines = yield* Scope.fork(yield* Effect.scope, "parallel")
      const deliveries = yield* Scope.provide(drainDeliveries(options.delivery), pipelines)
      const also: Tasks<T> = options.also === undefined ? {} : yield* Scope.provide(options.also, pipelines)
      yield* watch(rise, RISE_EVERY)
      yield* watch(Effect.as(yield* Reclaim.makeLook, EXPIRED_EVERY), EXPIRED_EVERY)
      const tasks: Tasks<T | PgClient.PgClient | Secrets> = {
        // The clock is the backstop of the wake-ups.
        drain_deliveries: { run: deliveries.kick, cron: "* * * * *" },
        expire_sandbox: { run: Sandbox.expire(), cron: "7 * * * *" },
        expire_content: { run: Content.expire(), cron: "17 * * * *" },
        expire_idempotency_keys: { run: ExpiredKeys.expire(), cron: "27 * * * *" },
        expire_history: { run: Retention.expire(), cron: "47 * * * *" },
        expire_unread_reports: { run: UnreadReports.expire(), cron: "57 * * * *" },
        sweep_secrets: {
          run: Effect.flatMap(Secrets, ({ sweep }) => Effect.andThen(DomainKeys.retire(), sweep)),
          cron: "37 3 * * *",
        },
        ...also,
      }
      yield* runTasks(options.url, tasks)
    }),
  ).pipe(
    Layer.provide(SigningKeys.layer),
    Layer.provide(
      Processes.layer({
        url: options.url,
        reclaim: (dead) => Effect.flatMap(Leases.inherit(dead), Reclaim.reclaim),
      }),
    ),
  )

/** Sleeps until the next row is due, if that is soon. */
const rise = Effect.map(DueRows.markReady(), ({ next_ms = Infinity }) =>
  Duration.max(RISE_PAUSE, Duration.min(RISE_EVERY, Duration.millis(Math.ceil(next_ms)))),
)

/** A look says how long the pause until the next may be; one that fails, `afterTrouble`. */
const watch = <R>(look: Effect.Effect<Duration.Duration, never, R>, afterTrouble: Duration.Duration) =>
  look.pipe(
    Effect.catchCause((cause) => Effect.as(Effect.logWarning("a look at the outbox failed", cause), afterTrouble)),
    Effect.flatMap(Effect.sleep),
    Effect.forever,
    Effect.forkScoped,
  )
