import { Deferred, Effect, Exit, Queue } from "effect"

/** A request that waits to be done together with others. */
export interface Item<Answer, Refusal> {
  /** Answers the caller; only the first call has an effect. */
  readonly complete: (outcome: Exit.Exit<Answer, Refusal>) => void
}

export interface Options<I> {
  /** Items that wait beyond this number make their callers wait for a free place. */
  readonly capacity: number
  /** Returns the maximum number of items of a batch, given the number of items that wait behind its first one. */
  readonly maxItems: (waiting: number) => number
  /** A batch takes no more items once it has reached this weight. */
  readonly maxWeight?: number
  readonly weightOf?: (item: I) => number
  /** Tells items that need a batch of their own; with such items only one fiber may take batches. */
  readonly isExclusive?: (item: I) => boolean
}

export interface Batcher<Answer, Refusal, I extends Item<Answer, Refusal>> {
  /** Adds an item and waits until it is completed. */
  readonly submit: (makeItem: (complete: Item<Answer, Refusal>["complete"]) => I) => Effect.Effect<Answer, Refusal>
  /** Adds an item again whose caller still waits. */
  readonly resubmit: (item: I) => Effect.Effect<void>
  /** Waits for an item and returns it with those behind it that fit into the same batch. */
  readonly take: Effect.Effect<ReadonlyArray<I>>
  /** Number of items that wait to be taken. */
  readonly waiting: () => number
  /** Items that have been submitted and not completed, whether they wait or were taken. */
  readonly uncompleted: ReadonlySet<I>
  /** Completes all items that wait, and all that are submitted later, with the given outcome. */
  readonly close: Effect.Effect<void>
}

/**
 * Collects requests for a statement or a transaction of the database that does many of them at once. There is no timer:
 * a batch holds what waits when it is taken, so an idle system adds no latency and a busy one fills its batches.
 */
export const make = Effect.fnUntraced(function* <Answer, Refusal, I extends Item<Answer, Refusal>>(
  { capacity, isExclusive = () => false, maxItems, maxWeight = Infinity, weightOf = () => 0 }: Options<I>,
  closed: Exit.Exit<never>,
): Effect.fn.Return<Batcher<Answer, Refusal, I>> {
  const queue = yield* Queue.bounded<I>(capacity)
  // An exclusive item that was taken from the queue behind a batch; it becomes the next batch.
  let exclusive: I | undefined

  const collect = (first: I): ReadonlyArray<I> => {
    const batch = [first]
    if (isExclusive(first)) return batch
    const limit = maxItems(Queue.sizeUnsafe(queue))
    for (let weight = weightOf(first); batch.length < limit && weight < maxWeight;) {
      const next = Queue.takeUnsafe(queue)
      if (next === undefined || Exit.isFailure(next)) break
      if (isExclusive(next.value)) {
        exclusive = next.value
        break
      }
      batch.push(next.value)
      weight += weightOf(next.value)
    }
    return batch
  }

  const uncompleted = new Set<I>()
  const track = (makeItem: MakeItem, complete: Item<Answer, Refusal>["complete"]): I => {
    const item = makeItem((outcome) => {
      if (uncompleted.delete(item)) complete(outcome)
    })
    uncompleted.add(item)
    return item
  }

  type MakeItem = Parameters<Batcher<Answer, Refusal, I>["submit"]>[0]
  const waitForPlace = Effect.fnUntraced(function* (makeItem: MakeItem) {
    const outcome = Deferred.makeUnsafe<Answer, Refusal>()
    const item = track(makeItem, (exit) => Deferred.doneUnsafe(outcome, exit))
    const isAdded = yield* Queue.offer(queue, item)
    if (isAdded) return yield* Deferred.await(outcome)
    uncompleted.delete(item)
    return yield* closed
  })

  return {
    submit: (makeItem) =>
      Effect.callback((resume) => {
        const item = track(makeItem, resume)
        if (Queue.offerUnsafe(queue, item)) return
        uncompleted.delete(item)
        resume(waitForPlace(makeItem))
      }),
    waiting: () => Queue.sizeUnsafe(queue) + (exclusive === undefined ? 0 : 1),
    uncompleted,
    resubmit: (item) =>
      Effect.map(Queue.offer(queue, item), (isAdded) => {
        if (!isAdded) item.complete(closed)
      }),
    take: Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const first = exclusive === undefined ? restore(Queue.take(queue)) : Effect.succeed(exclusive)
        exclusive = undefined
        return Effect.map(first, collect)
      }),
    ),
    close: Effect.gen(function* () {
      exclusive?.complete(closed)
      // Each item that leaves the queue makes a place for a caller who waits for one.
      while (Queue.sizeUnsafe(queue) > 0) completeAll(yield* Queue.clear(queue), closed)
      yield* Queue.shutdown(queue)
    }),
  }
})

export const completeAll = <Answer, Refusal>(
  items: ReadonlyArray<Item<Answer, Refusal>>,
  outcome: Exit.Exit<Answer, Refusal>,
): void => {
  for (const item of items) item.complete(outcome)
}
