import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { Context, Duration, Effect, Layer } from "effect"

/** What a service is given to stop, all its parts together, by those who kill it then. */
export const STOP_TIMEOUT = Duration.seconds(30)
/** Whoever is not done by then is not waited for: better a word than a kill. */
export const LATEST_STOP = Duration.seconds(29)

interface Shape {
  /** It begins now, unless it has begun. */
  readonly begin: Effect.Effect<void>
  /** By the steady clock; now, where nobody has said that it began. */
  readonly began: Effect.Effect<number>
}

/** When this process began to stop: what one part has used of the time, the next one has no more. */
export const Stop = Context.Reference<Shape>("@waybill/server/Stop", {
  defaultValue: () => ({ begin: Effect.void, began: SteadyClock.millis }),
})

/** `overdue` ends the process. */
export const layer = (overdue: Effect.Effect<void>) =>
  Layer.sync(Stop, () => {
    let known: number | undefined
    const began = Effect.map(SteadyClock.millis, (now) => known ?? now)
    const begin = Effect.gen(function* () {
      if (known !== undefined) return
      known = yield* SteadyClock.millis
      yield* Effect.forkDetach(Effect.andThen(Effect.sleep(LATEST_STOP), overdue))
    })
    return { began, begin }
  })

/** What is left until so long after the beginning. */
export const left = (began: number, until: Duration.Duration): Effect.Effect<Duration.Duration> =>
  Effect.map(SteadyClock.millis, (now) =>
    Duration.max(Duration.zero, Duration.subtract(until, Duration.millis(now - began))),
  )
