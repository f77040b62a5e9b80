import { Deferred, Effect, Exit } from "effect"

export interface Options<A, B, E> {
  /** Maximum number of items of a batch. */
  readonly maxItems?: number
  /** Processes a batch and returns one result for each item, in their order. */
  readonly run: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
}

/**
 * Collects items that arrive at the same time, or while a batch runs, and processes them in one batch at a time. A batch
 * belongs to no scope, so that it ends also if the callers are interrupted.
 */
export const make = <A, B, E = never>({ maxItems = Infinity, run }: Options<A, B, E>) => {
  const waiting: Array<{ readonly item: A; readonly done: Deferred.Deferred<B | undefined, E> }> = []
  let isRunning = false

  const runAll: Effect.Effect<void> = Effect.suspend(() => {
    const batch = waiting.splice(0, maxItems)
    isRunning = batch.length > 0
    if (!isRunning) return Effect.void
    return Effect.exit(run(batch.map(({ item }) => item))).pipe(
      Effect.andThen((exit) =>
        Effect.sync(() => {
          for (const [i, { done }] of batch.entries())
            Deferred.doneUnsafe(
              done,
              Exit.map(exit, (results) => results[i]),
            )
        }),
      ),
      Effect.andThen(runAll),
    )
  })

  return (item: A): Effect.Effect<B | undefined, E> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<B | undefined, E>()
      waiting.push({ item, done })
      if (isRunning) return Deferred.await(done)
      isRunning = true
      return Effect.andThen(Effect.forkDetach(Effect.andThen(Effect.yieldNow, runAll)), Deferred.await(done))
    })
}
