import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, type Scope, Semaphore } from "effect"
import * as Availability from "../availability/Availability.ts"
import { away, StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import * as Batcher from "@waybill/runtime/flow/Batcher"
import { readLongStream } from "./readLongStream.ts"
import type { AnyCommit, CommitDeps, PendingCommit, Progress } from "./Commit.ts"
import type { Committed } from "../idempotency/IdempotencyRef.ts"
import * as CommitBatch from "./CommitBatch.ts"
import type { LogStorage } from "./LogStorage.ts"
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
): Effect.fn.Return<GroupCommit, StoreUnavailable, Availability.Availability | Scope.Scope> {
  const availability = yield* Availability.here
  /** Number of commits in the batches under way. */
  let committing = 0
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
  // Finalizers run in reverse order: this one when the batches under way and the readers of long streams have ended.
  yield* Effect.addFinalizer(() => Effect.map(commits.close, () => Batcher.completeAll(commits.uncompleted(), closed)))
  const scope = yield* Effect.scope
  const readers = Semaphore.makeUnsafe(LONG_STREAM_READERS)
  const setAside = (pending: PendingCommit) =>
    Effect.forkIn(Effect.flatMap(readers.withPermit(readStreams(deps, pending)), commits.resubmit), scope)

  const commitBatch = (batch: ReadonlyArray<PendingCommit>, onWritten: Effect.Effect<unknown>) => {
    const endWait = availability.waiting()
    return Effect.suspend(() => {
      committing += batch.length
      return CommitBatch.commit({ ...deps, availability, onWritten, setAside }, batch)
    }).pipe(
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
          const progress: Progress = { phase: "waiting" }
          return {
            commit: commit as AnyCommit<unknown, unknown>,
            provenance: fiber.getRef(Provenance),
            waitingSince: MonotonicClock.millisOf(fiber.getRef(Clock.Clock)),
            progress,
            complete: (outcome) => {
              progress.phase = "answered"
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
 * Runs the batches, at most two at a time. The batch after one that is under way starts at the first of these moments:
 *
 * - as many commits wait as that batch has: it is sent behind it
 * - that batch is written, and at least `MIN_OVERLAP_COMMITS` wait: its reads follow while that batch is flushed
 * - that batch has ended
 *
 * It does not start sooner: it would take fewer commits. The end of the service interrupts the waiting between batches, and no
 * batch that is under way.
 */
const runBatches = (commits: Commits, commitBatch: CommitBatchFn): Effect.Effect<never> =>
  Effect.uninterruptibleMask((restore) => runBatchesWith(restore, commits, commitBatch))

const runBatchesWith = Effect.fnUntraced(function* (
  restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>,
  commits: Commits,
  commitBatch: CommitBatchFn,
): Effect.fn.Return<never> {
  let endOfPrevious: Effect.Effect<unknown> = Effect.void
  for (;;) {
    const batch = yield* restore(commits.take)
    const isWrittenOrManyWait = Deferred.makeUnsafe<void>()
    const setWritten = Deferred.succeed(isWrittenOrManyWait, undefined)
    const many = Math.max(batch.length, MIN_SPLIT_COMMITS)
    commits.onWaiting(many, () => Deferred.doneUnsafe(isWrittenOrManyWait, Exit.void))
    // A batch that fails is never written, but the next one may start.
    const running = yield* Effect.forkChild(Effect.ensuring(commitBatch(batch, setWritten), setWritten), {
      startImmediately: true,
      uninterruptible: true,
    })
    const end = Fiber.await(running)
    yield* restore(Deferred.await(isWrittenOrManyWait))
    yield* restore(commits.waiting() < MIN_OVERLAP_COMMITS ? end : endOfPrevious)
    endOfPrevious = end
    // The commits that other fibers submit in this turn belong to the next batch as well.
    yield* restore(Effect.yieldNow)
  }
})

/** Reads the streams of a commit outside the batches. An error is ignored: the batch meets it as well and handles it. */
const readStreams = (deps: Deps, pending: PendingCommit): Effect.Effect<PendingCommit> => {
  const { commit } = pending
  const { account_id, streams } = commit
  return Effect.forEach(streams, (stream) =>
    stream.isNew === true
      ? Effect.succeed(stream)
      : Effect.map(
          readLongStream(deps, deps.storage.readStreams, { ...stream, account_id, stream_id: stream.id }),
          (known) => ({ ...stream, known }),
        ),
  ).pipe(
    Effect.catchCause(() => Effect.succeed(streams)),
    Effect.map((read) => ({ ...pending, commit: { ...commit, streams: read }, wasSetAside: true })),
  )
}
