import { Deferred, Effect } from "effect"

/**
 * Runs an effect at most once at a time: callers that arrive meanwhile get the same result. The effect continues if the
 * caller that started it is interrupted.
 */
export const shareRunning = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  let running: Deferred.Deferred<A, E> | undefined
  const start = Effect.suspend(() => {
    const result = Deferred.makeUnsafe<A, E>()
    running = result
    const run = Effect.ensuring(
      effect,
      Effect.sync(() => (running = undefined)),
    )
    return Effect.andThen(Effect.forkDetach(Deferred.into(run, result)), Deferred.await(result))
  })
  return Effect.suspend(() => (running === undefined ? start : Deferred.await(running)))
}
