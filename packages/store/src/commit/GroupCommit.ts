import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Queue, type Scope } from "effect"
import * as Availability from "../availability/Availability.ts"
import { away, StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as Batcher from "@waybill/runtime/flow/Batcher"
import { readLongStream } from "./readLongStream.ts"
import type { StreamState } from "../streams/StreamState.ts"
import type * as BatchAttempt from "./BatchAttempt.ts"
import type { AnyCommit, CommitDeps, PendingCommit, Progress } from "./Commit.ts"
import type { Committed } from "../idempotency/IdempotencyRef.ts"
import * as CommitBatch from "./CommitBatch.ts"
import type { LogStorage } from "./LogStorage.ts"
import { streamKey } from "../log/StreamRef.ts"
import { Provenance } from "../log/Provenance.ts"

/** Maximum number of commits of a batch: enough to share the cost of a flush, few enough to keep a batch short. */
export const MAX_COMMITS_PER_BATCH = 100
/**
 * Up to this many waiting commits form one batch. Of more, a batch takes half, so that the process receives, decides and
 * answers the other half meanwhile; in a single batch, database and process would take turns at waiting for each other.
 */
export const MIN_SPLIT_COMMITS = 32
/**
 * A batch of fewer commits does not start while the previous one is flushed: it would cost Postgres as much as a large one, and
 * more commits arrive until then.
 */
export const MIN_OVERLAP_COMMITS = 16
/** A batch takes no more commits once it has this many bytes of content. */
export const MAX_BYTES_PER_BATCH = 256 * 1024
/** Maximum number of waiting commits; more callers wait until a place is free. */
export const MAX_COMMITS_WAITING = 10_000
/** Maximum number of long streams read at a time outside the batches. */
export const LONG_STREAM_READERS = 2

export interface GroupCommit {
  readonly submit: <A, E>(commit: AnyCommit<A, E>) => Effect.Effect<Committed<A>, E | StoreUnavailable>
}

export interface Deps extends CommitDeps {
  readonly storage: LogStorage
}

/**
 * Commits everything that waits when a batch starts in one transaction, each commit with an outcome of its own. There is
 * no timer: an idle system adds no latency, and a busy one fills its batches while the previous one is written. Batches are
 * sent on one connection, where Postgres runs one after the other: two at once would wait for each other's rows.
 */
export const make = Effect.fnUntraced(function* (
  deps: Deps,
): Effect.fn.Return<GroupCommit, StoreUnavailable, Scope.Scope> {
  const availability = yield* Availability.here
  /** Number of commits in the batches under way. */
  let committing = 0
  /** Number of commits that were submitted. */
  let submitted = 0
  const commits = yield* Batcher.make<Committed<unknown>, unknown, PendingCommit>(
    {
      capacity: MAX_COMMITS_WAITING,
      maxItems: (waiting) => {
        const half = Math.ceil((1 + waiting + committing) / 2)
        return Math.min(Math.max(half, MIN_SPLIT_COMMITS), MAX_COMMITS_PER_BATCH)
      },
      maxWeight: MAX_BYTES_PER_BATCH,
      weightOf: ({ commit }) => commit.bytes ?? 0,
      isExclusive: CommitBatch.isExclusive,
    },
    closed,
  )
  // Unbounded, because each commit set aside has a caller that already passed the bound of `commits`.
  const setAside = yield* Queue.unbounded<BatchAttempt.SetAside>()
  // Finalizers run in reverse order: this one when the batches under way have ended.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* commits.close
      // The outcome of a commit moves those that waited behind it to the queue.
      while (Queue.sizeUnsafe(setAside) > 0)
        Batcher.completeAll(
          (yield* Queue.clear(setAside)).map(({ pending }) => pending),
          closed,
        )
    }),
  )
  for (let reader = 0; reader < LONG_STREAM_READERS; reader++)
    yield* Effect.forkScoped(Effect.forever(readSetAside(deps, setAside, commits)))

  const commitBatch = (batch: ReadonlyArray<PendingCommit>, onWritten: Effect.Effect<unknown>) => {
    const endWait = availability.waiting()
    return Effect.suspend(() => {
      committing += batch.length
      return CommitBatch.commit({ ...deps, availability, onWritten, setAside }, batch)
    }).pipe(
      Effect.onInterrupt(() => Effect.sync(() => Batcher.completeAll(batch, closed))),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.andThen(
              Effect.logError(
                "group commit: a batch failed outside its error handling; its callers get the error",
                cause,
              ),
              // Commits that have an outcome already keep it.
              Effect.sync(() => Batcher.completeAll(batch, Exit.failCause(cause))),
            ),
      ),
      Effect.ensuring(
        Effect.sync(() => {
          committing -= batch.length
          endWait()
        }),
      ),
    )
  }
  yield* Effect.forkScoped(runBatches(commits, commitBatch), { startImmediately: true })

  yield* availability.onLost(() => {
    for (const { complete, progress } of commits.uncompleted())
      complete(Exit.fail(progress.phase === "sent" ? new StoreUnavailable({ why: "not-confirmed" }) : away()))
  })

  return {
    submit: <A, E>(commit: AnyCommit<A, E>) =>
      Effect.withFiber<Committed<A>, E | StoreUnavailable>((fiber) => {
        if (availability.problem() !== undefined) return Effect.fail(away())
        return commits.submit((complete) => {
          const nth = ++submitted
          const progress: Progress = { phase: "waiting" }
          return {
            commit: commit as AnyCommit<unknown, unknown>,
            provenance: fiber.getRef(Provenance),
            nth,
            waitingSince: MonotonicClock.millisOf(fiber.getRef(Clock.Clock)),
            progress,
            complete: (outcome) => {
              progress.phase = "answered"
              deps.turns.remove(nth)
              complete(outcome)
            },
          }
        }) as Effect.Effect<Committed<A>, E | StoreUnavailable>
      }),
  }
})

const closed = Exit.die(new Error("the event store is closed"))

type Commits = Batcher.Batcher<Committed<unknown>, unknown, PendingCommit>
type CommitBatchFn = (batch: ReadonlyArray<PendingCommit>, onWritten: Effect.Effect<unknown>) => Effect.Effect<void>

/**
 * Starts a batch behind the previous one when as many commits wait as that has, or when that is written and fewer wait, so that
 * its reads follow while the previous one is flushed. It does not start sooner: it would take fewer commits.
 *
 * The end of the service interrupts the waiting between batches, and no batch that is under way.
 */
const runBatches = (commits: Commits, commitBatch: CommitBatchFn): Effect.Effect<never> =>
  Effect.uninterruptibleMask((restore) => runBatchesWith(restore, commits, commitBatch))

const runBatchesWith = Effect.fnUntraced(function* (
  restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>,
  commits: Commits,
  commitBatch: CommitBatchFn,
): Effect.fn.Return<never> {
  for (let previous: Fiber.Fiber<void> | undefined; ;) {
    const batch = yield* restore(commits.take)
    const mayFollow = Deferred.makeUnsafe<void>()
    const setWritten = Deferred.succeed(mayFollow, undefined)
    commits.onWaiting(Math.max(batch.length, MIN_SPLIT_COMMITS), () => Deferred.doneUnsafe(mayFollow, Exit.void))
    const current = yield* Effect.forkChild(
      // A batch that fails is never written, but the next one may start.
      Effect.ensuring(commitBatch(batch, setWritten), setWritten),
      { startImmediately: true, uninterruptible: true },
    )
    yield* restore(Deferred.await(mayFollow))
    if (commits.waiting() < MIN_OVERLAP_COMMITS) yield* restore(Fiber.await(current))
    else if (previous !== undefined) yield* restore(Fiber.await(previous))
    previous = current
    // The commits that other fibers submit in this turn belong to the next batch as well.
    yield* restore(Effect.yieldNow)
  }
})

/**
 * Reads the long streams of one commit set aside, if any, and submits it again. An error of the read is ignored: the batch meets it
 * as well and handles it.
 */
const readSetAside = (
  deps: Deps,
  setAside: Queue.Queue<BatchAttempt.SetAside>,
  commits: Commits,
): Effect.Effect<void> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { pending, streams } = yield* restore(Queue.take(setAside))
      const longStreams = new Map<string, StreamState>(pending.longStreams)
      const timesSetAside = (pending.timesSetAside ?? 0) + (streams.length > 0 ? 1 : 0)
      const read = Effect.forEach(streams, (stream) =>
        Effect.map(readLongStream(deps, deps.storage.readStreams, stream), (state) =>
          longStreams.set(streamKey(stream), state),
        ),
      )
      yield* restore(Effect.ignoreCause(read)).pipe(
        Effect.andThen(restore(commits.resubmit({ ...pending, longStreams, timesSetAside }))),
        Effect.onInterrupt(() => Effect.sync(() => pending.complete(closed))),
      )
    }),
  )
