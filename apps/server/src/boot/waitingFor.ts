import { Duration, Effect } from "effect"

/** Whoever has waited this long says for what, and again as often. */
export const SAY_EVERY = Duration.seconds(5)

/** What takes long without a word looks as if it hung. */
export const waitingFor =
  (what: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.raceFirst(
      self,
      Effect.forever(Effect.andThen(Effect.sleep(SAY_EVERY), Effect.logInfo(`still waiting for ${what}`))),
    )
