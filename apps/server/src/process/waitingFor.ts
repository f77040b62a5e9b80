import { Duration, Effect } from "effect"

/** Interval of the messages about a long wait. */
export const REPORT_EVERY = Duration.seconds(5)

/** Logs what a slow start is waiting for, so that it does not look stuck. */
export const waitingFor =
  (what: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.raceFirst(
      self,
      Effect.forever(Effect.andThen(Effect.sleep(REPORT_EVERY), Effect.logInfo(`still waiting for ${what}`))),
    )
