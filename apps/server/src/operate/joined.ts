import { Deferred, Effect } from "effect"

/**
 * An effect that is under way once at most: callers that come meanwhile wait for the same result. It goes on when the
 * caller that began it is interrupted.
 */
export const joined = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  let underWay: Deferred.Deferred<A, E> | undefined
  const begin = Effect.suspend(() => {
    const result = Deferred.makeUnsafe<A, E>()
    underWay = result
    const run = Effect.ensuring(
      effect,
      Effect.sync(() => (underWay = undefined)),
    )
    return Effect.andThen(Effect.forkDetach(Deferred.into(run, result)), Deferred.await(result))
  })
  return Effect.suspend(() => (underWay === undefined ? begin : Deferred.await(underWay)))
}
