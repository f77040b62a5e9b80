import * as Batcher from "@waybill/runtime/flow/Batcher"
import { Effect, Exit } from "effect"

export interface Options<A, B, E> {
  /** Maximum number of items of a batch. */
  readonly maxItems?: number
  /** Processes a batch and returns one result for each item, in their order. */
  readonly run: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
}

interface Request<A, B, E> extends Batcher.Item<B | undefined, E> {
  readonly item: A
}

const CLOSED = Exit.die(new Error("batches are not processed any more"))

/**
 * Returns a function that processes an item together with those that arrive meanwhile, one batch at a time. Batches belong
 * to no scope, so that they end also if their callers are interrupted.
 */
export const inBatches = Effect.fnUntraced(function* <A, B, E>({ maxItems = Infinity, run }: Options<A, B, E>) {
  const requests = yield* Batcher.make<B | undefined, E, Request<A, B, E>>(
    { capacity: Infinity, maxItems: () => maxItems },
    CLOSED,
  )
  const runNext = Effect.gen(function* () {
    const batch = yield* requests.take
    const exit = yield* Effect.exit(run(batch.map(({ item }) => item)))
    for (const [nth, { complete }] of batch.entries()) complete(Exit.map(exit, (results) => results[nth]))
  })
  yield* Effect.forkDetach(Effect.forever(runNext))
  return (item: A): Effect.Effect<B | undefined, E> => requests.submit((complete) => ({ item, complete }))
})
