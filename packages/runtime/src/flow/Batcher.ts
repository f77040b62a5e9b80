import { type Entry, Roster } from "../collections/Roster.ts"
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

/** Makes the item of a caller. */
export type MakeItem<Answer, Refusal, I> = (
  complete: Item<Answer, Refusal>["complete"],
  /** Whether the caller has been answered. */
  isCompleted: () => boolean,
) => I

export interface Batcher<Answer, Refusal, I extends Item<Answer, Refusal>> {
  /** Adds an item and waits until it is completed. */
  readonly submit: (makeItem: MakeItem<Answer, Refusal, I>) => Effect.Effect<Answer, Refusal>
  /** Adds an item again whose caller still waits. */
  readonly resubmit: (item: I) => Effect.Effect<void>
  /** Waits for an item and returns it with those behind it that fit into the same batch. */
  readonly take: Effect.Effect<ReadonlyArray<I>>
  /** Number of items that wait to be taken. */
  readonly waiting: () => number
  /** Runs once, as soon as so many items wait; replaced by the next call. */
  readonly onWaiting: (items: number, run: () => void) => void
  /** Returns the items that have been submitted and not completed, whether they wait or were taken. */
  readonly uncompleted: () => ReadonlyArray<I>
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

  const waiting = () => Queue.sizeUnsafe(queue) + (exclusive === undefined ? 0 : 1)
  let watch: { readonly items: number; readonly run: () => void } | undefined
  const notify = () => {
    if (watch === undefined || waiting() < watch.items) return
    const { run } = watch
    watch = undefined
    run()
  }

  const uncompleted = new Roster<I>()
  const track = (makeItem: MakeItem<Answer, Refusal, I>, answer: Item<Answer, Refusal>["complete"]): Entry<I> => {
    const complete: typeof answer = (outcome) => {
      if (uncompleted.remove(entry)) answer(outcome)
    }
    const entry = uncompleted.add(makeItem(complete, () => entry.place < 0))
    return entry
  }

  const waitForPlace = Effect.fnUntraced(function* (makeItem: MakeItem<Answer, Refusal, I>) {
    const outcome = Deferred.makeUnsafe<Answer, Refusal>()
    const entry = track(makeItem, (exit) => Deferred.doneUnsafe(outcome, exit))
    const isAdded = yield* Queue.offer(queue, entry.item)
    if (isAdded) return yield* Deferred.await(outcome)
    uncompleted.remove(entry)
    return yield* closed
  })

  return {
    submit: (makeItem) =>
      Effect.callback((resume) => {
        const entry = track(makeItem, resume)
        if (Queue.offerUnsafe(queue, entry.item)) return notify()
        uncompleted.remove(entry)
        resume(waitForPlace(makeItem))
      }),
    waiting,
    onWaiting: (items, run) => {
      watch = { items, run }
      notify()
    },
    uncompleted: () => uncompleted.items,
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
