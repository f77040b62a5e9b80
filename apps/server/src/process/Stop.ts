import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Context, Duration, Effect, Layer } from "effect"

/** Time after which the process logs an error and exits by itself, shortly before a process manager kills it. */
export const LATEST_STOP = Duration.seconds(29)

/** Ends a process whose stop takes too long. A service that shares its process with others, as in tests, has another. */
export const Overdue = Context.Reference<Effect.Effect<void>>("@waybill/server/process/Stop/Overdue", {
  // Other processes detect that this one is gone and take over its leases.
  defaultValue: () =>
    Effect.andThen(
      Effect.logError("the stop took too long and was aborted; delivery attempts in progress are reported as lost"),
      Effect.sync(() => process.exit(1)),
    ),
})

interface StopShape {
  /** Begins the stop, unless it has begun already. */
  readonly begin: Effect.Effect<void>
  /** Start of the stop on the steady clock; the present time if no stop has begun. */
  readonly began: Effect.Effect<number>
}

/** When this process began to stop. All parts share one deadline. */
export const Stop = Context.Reference<StopShape>("@waybill/server/process/Stop", {
  defaultValue: () => ({ begin: Effect.void, began: MonotonicClock.millis }),
})

/** `overdue` runs when the stop takes too long; it ends the process. */
export const layer = (overdue: Effect.Effect<void>) =>
  Layer.sync(Stop, () => {
    let startedAt: number | undefined
    const began = Effect.map(MonotonicClock.millis, (now) => startedAt ?? now)
    const begin = Effect.gen(function* () {
      if (startedAt !== undefined) return
      startedAt = yield* MonotonicClock.millis
      yield* Effect.forkDetach(Effect.andThen(Effect.sleep(LATEST_STOP), overdue))
    })
    return { began, begin }
  })

/** Time left until the deadline `until` after the begin of the stop. */
export const left = (began: number, until: Duration.Duration): Effect.Effect<Duration.Duration> =>
  Effect.map(MonotonicClock.millis, (now) =>
    Duration.max(Duration.zero, Duration.subtract(until, Duration.millis(now - began))),
  )

/** Bounds a step of the stop that needs the database, and goes on without it: a database that hangs must not hold it up. */
export const within = <E>(step: Effect.Effect<unknown, E>, limit: Duration.Input): Effect.Effect<void> =>
  Effect.ignoreCause(Effect.timeoutOption(Effect.interruptible(step), limit))
