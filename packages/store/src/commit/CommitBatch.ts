import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Cause, Effect, Option } from "effect"
import type { AvailabilityShape } from "../availability/Availability.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { away } from "../postgres/StoreUnavailable.ts"
import { completeAll } from "@waybill/runtime/flow/Batcher"
import * as Metrics from "../log/Metrics.ts"
import * as BatchAttempt from "./BatchAttempt.ts"
import type { CommitDeps, PendingCommit } from "./Commit.ts"
import type { LogStorage } from "./LogStorage.ts"
import type { TransactionScope } from "../locks/AccountLocks.ts"
import { type StorageError, TryAgain } from "../postgres/StorageError.ts"
import type { Stored } from "../log/RecordedEvents.ts"

/** Maximum number of attempts at a batch that meets conflicts or deadlocks, before its callers get the error. */
export const MAX_TRIES = 8
/**
 * How long a caller waits for a database that restarts or fails over. Longer than `IDLE_IN_TRANSACTION_TIMEOUT`, after
 * which Postgres itself ends a transaction whose client is gone.
 */
export const PATIENCE_MS = 15_000
const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 250

export interface Deps extends CommitDeps {
  readonly storage: LogStorage
  /** Reads the streams of a commit outside the batches and submits it again, while others go on. */
  readonly setAside: (pending: PendingCommit) => Effect.Effect<unknown>
  /** Runs when the batch is written and only its COMMIT is left. */
  readonly onWritten: Effect.Effect<unknown>
  readonly availability: AvailabilityShape
}

type Batch = ReadonlyArray<PendingCommit>

/** Commits a batch: splits it and retries until each of its commits has an outcome or is set aside. */
export const commit = (deps: Deps, wanted: Batch, tries = 1): Effect.Effect<void> =>
  Effect.suspend(() => {
    let attempted: BatchAttempt.BatchResult | undefined
    const batch = wanted.filter(isUnanswered)
    if (batch.length === 0) return Effect.void
    for (const { progress } of batch) progress.phase = "waiting"
    return deps.storage
      .transaction(
        scopeOf(batch),
        (transaction) =>
          Effect.flatMap(BatchAttempt.attempt(deps, transaction, batch), (result) => {
            // A caller who was told meanwhile that nothing was accepted must find nothing in the log.
            if (!batch.every(isUnanswered)) return Effect.fail(new TryAgain({ cause: "a caller has been answered" }))
            // The COMMIT follows at once.
            for (const { progress } of batch) progress.phase = "sent"
            attempted = result
            return Effect.succeed(result)
          }),
        deps.onWritten,
      )
      .pipe(
        // Chooses the next step here and runs it after the handlers, so that an error in it never repeats the batch.
        Effect.map((result) => complete(deps, result)),
        Effect.catch((error) => Effect.succeed(recover(deps, batch, tries, error, attempted))),
        Effect.catchDefect((defect) => Effect.succeed(split(deps, batch, defect))),
        Effect.flatten,
      )
  })

/** Returns whether a commit needs a batch of its own: it changes who receives events, or decides by a count. */
export const isExclusive = ({ commit }: PendingCommit): boolean =>
  commit.needs?.countOf !== undefined || commit.streams.some(({ aggregate }) => aggregate.stream === "webhook")

const scopeOf = (batch: Batch): TransactionScope => ({
  accounts: [...new Set(batch.map(({ commit }) => commit.account_id))],
  isExclusive: batch.some(isExclusive),
})

/** Gives the callers of a committed batch their outcomes, and commits its duplicates in another batch. */
const complete = (deps: Deps, result: BatchAttempt.BatchResult) =>
  Effect.suspend(() => {
    const { duplicates, events, outcomes, setAside } = result
    Metrics.batchCommitted(outcomes.size, events)
    for (const [pending, outcome] of outcomes) pending.complete(outcome)
    const others = duplicates.length === 0 ? Effect.void : commit(deps, duplicates)
    return setAside.length === 0 ? others : Effect.andThen(Effect.forEach(setAside, deps.setAside), others)
  })

/** Chooses the recovery from how the transaction ended. */
const recover = (
  deps: Deps,
  batch: Batch,
  tries: number,
  error: StorageError,
  attempted: BatchAttempt.BatchResult | undefined,
): Effect.Effect<void> => {
  switch (error._tag) {
    case "TryAgain":
      return retry(deps, batch, tries, error)
    case "RowRejected":
      return error.isDuplicate === true && batch.length === 1
        ? retry(deps, batch, tries, error)
        : split(deps, batch, error.cause)
    case "AccountElsewhere":
    case "DirectoryAway":
      return split(deps, batch, error.cause)
    case "Failed":
      return refuse(deps, batch, error.cause)
    case "OutcomeUnknown": {
      const witness = attempted?.events[0]
      return attempted === undefined || witness === undefined
        ? retryAfterLoss(deps, batch, tries, error)
        : resolveOutcome(deps, batch, attempted, witness, error)
    }
  }
}

const retry = (deps: Deps, batch: Batch, tries: number, error: StorageError): Effect.Effect<void> =>
  tries >= MAX_TRIES
    ? fail(batch, error.cause)
    : Effect.andThen(tries === 1 ? Effect.void : pause(tries), commit(deps, batch, tries + 1))

/** Commits the halves of a batch one after the other, until the commit that causes the error is alone. */
const split = (deps: Deps, batch: Batch, cause: unknown): Effect.Effect<void> => {
  if (batch.length <= 1) return fail(batch, cause)
  const middle = Math.ceil(batch.length / 2)
  // The next batch must not overtake the second half.
  const first = commit({ ...deps, onWritten: Effect.void }, batch.slice(0, middle))
  return Effect.andThen(first, commit(deps, batch.slice(middle)))
}

/** Retries a batch whose connection was lost before anything could be committed, for callers that may wait longer. */
const retryAfterLoss = Effect.fnUntraced(function* (
  deps: Deps,
  batch: Batch,
  tries: number,
  error: StorageError,
): Effect.fn.Return<void> {
  yield* pause(tries)
  const now = yield* MonotonicClock.millis
  yield* fail(
    batch.filter((pending) => !isPatient(pending, now)),
    deps.availability.isWatched ? away() : error,
  )
  const patient = batch.filter((pending) => isPatient(pending, now))
  if (patient.length > 0) yield* commit(deps, patient, tries + 1)
})

/**
 * Finds out whether a batch was committed whose connection was lost during the COMMIT, by one of its events. The batch
 * must not be retried before the log gives an answer; without one, the callers learn that the outcome is unknown.
 */
const resolveOutcome = Effect.fnUntraced(function* (
  deps: Deps,
  batch: Batch,
  attempted: BatchAttempt.BatchResult,
  witness: Stored,
  error: StorageError,
): Effect.fn.Return<void> {
  for (let tries = 1; ; tries++) {
    const isCommitted = yield* Effect.option(deps.storage.isCommitted(witness, scopeOf(batch)))
    if (Option.isSome(isCommitted) && isCommitted.value) return yield* complete(deps, attempted)
    const now = yield* MonotonicClock.millis
    // A connection that ends at each COMMIT would otherwise be tried without end.
    if (!batch.some((pending) => isUnanswered(pending) && isPatient(pending, now))) return yield* fail(batch, error)
    if (Option.isSome(isCommitted)) return yield* commit(deps, batch)
    yield* pause(tries)
  }
})

/** Fails a batch that no row is to blame for; tells its callers if the database refuses all writes for now. */
const refuse = (deps: Deps, batch: Batch, cause: unknown): Effect.Effect<void> =>
  Effect.flatMap(deps.availability.report(Cause.fail(cause)), (isUnavailable) =>
    fail(batch, isUnavailable ? away() : cause),
  )

const isUnanswered = ({ progress }: PendingCommit): boolean => progress.phase !== "answered"

const isPatient = ({ waitingSince }: PendingCommit, now: number): boolean => now - waitingSince < PATIENCE_MS

const pause = (tries: number): Effect.Effect<void> =>
  Effect.interruptible(Effect.sleep(Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS)))

const fail = (batch: Batch, error: unknown): Effect.Effect<void> =>
  Effect.sync(() => completeAll(batch, SqlErrors.outcomeOf(error)))
