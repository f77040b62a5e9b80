import { Clock, DateTime, Effect, Exit, Result } from "effect"
import { type Claim, claimKey, IDEMPOTENCY_TTL_MS, type StoredAnswer } from "../idempotency/Claim.ts"
import * as ClaimOnInsert from "../outbox/ClaimOnInsert.ts"
import type { TypedStreamRef } from "../streams/readLongStream.ts"
import * as StreamState from "../streams/StreamState.ts"
import type { StreamStateCache } from "../streams/StreamStateCache.ts"
import type { StreamTurns } from "../streams/StreamTurns.ts"
import { BatchWrites } from "./BatchWrites.ts"
import {
  type CommitDeps,
  type Committed,
  IdempotencyKeyReused,
  LeaseLost,
  type CommitOutcome,
  type PendingCommit,
} from "./Commit.ts"
import {
  type Facts,
  type LogTransaction,
  streamKey,
  type StorageError,
  type StreamRange,
  TryAgain,
} from "./LogStorage.ts"
import type { Stored } from "./RecordedEvents.ts"

/** After this many deferrals a long stream is read inside the batch anyway, so that its commit cannot starve. */
export const MAX_DEFERRALS = 3

/** A commit that waits until its long streams are read outside the batches, or until an earlier such commit is decided. */
export interface Deferred {
  readonly pending: PendingCommit
  /** Long streams to read. */
  readonly streams: ReadonlyArray<TypedStreamRef>
  /** Number of the earlier commit. */
  readonly behind: number | undefined
}

export interface BatchResult {
  readonly outcomes: ReadonlyMap<PendingCommit, CommitOutcome>
  /** Commits whose idempotency key another commit of the same batch has claimed: the next batch finds its answer. */
  readonly duplicates: ReadonlyArray<PendingCommit>
  readonly deferred: ReadonlyArray<Deferred>
  readonly events: ReadonlyArray<Stored>
  /** New deliveries of the batch that a pipeline of this process has claimed. */
  readonly claim: ClaimOnInsert.InsertClaim | undefined
}

/** Tries to commit a batch inside one transaction: reads everything, decides each commit, writes everything. */
export const attempt = Effect.fnUntraced(function* (
  deps: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
): Effect.fn.Return<BatchResult, StorageError> {
  const nowMillis = yield* Clock.currentTimeMillis
  const now = DateTime.formatIso(DateTime.makeUnsafe(nowMillis))
  const claims = batch.flatMap(({ commit }) => (commit.idempotency === undefined ? [] : [commit.idempotency]))
  // The three reads are sent together, in this order, and awaited once.
  const [storedAnswers, { long, streams }, facts] = yield* Effect.all(
    [
      claims.length === 0 ? Effect.succeed(new Map<string, StoredAnswer>()) : transaction.findAnswers(claims, now),
      loadStreams(deps, transaction, batch),
      transaction.readFacts(batch.map(needsOf), now),
    ],
    { concurrency: "unbounded" },
  )

  const expires_at = DateTime.formatIso(DateTime.makeUnsafe(nowMillis + IDEMPOTENCY_TTL_MS))
  const writes = new BatchWrites(deps, streams, facts, { now, nowMillis, expires_at })
  const decided = decideAll({ writes, facts, storedAnswers, long, turns: deps.turns }, batch)
  if (writes.answers.size > 0) {
    const taken = yield* transaction.insertAnswers([...writes.answers.values()], now)
    // A duplicate in another transaction was first. Decisions of this batch may depend on the commit that lost, so the
    // whole batch is decided again, and that commit then finds the stored answer.
    if (taken.size > 0) return yield* new TryAgain({ cause: "an idempotency key was taken by another transaction" })
  }
  const { content, events, released, changedStreams: touched, usage } = writes
  if (events.length === 0) return { ...decided, events, claim: undefined }
  const { arm, deliveries, disarm } = deps.consequences.work(touched, facts, now, () => deps.nextDeliveryId(nowMillis))
  const claim = yield* claimNew(deps, touched, content, arm, now)
  const outbox = { arm, claim, disarm, release: released }
  yield* transaction
    .write({ changedStreams: touched, events, content, usage, outbox, deliveries, now })
    .pipe(Effect.onError(() => Effect.sync(() => claim?.end("rolled back"))))
  return { ...decided, events, claim }
})

/** Lets the pipeline of this process claim the deliveries that begin with a batch. */
const claimNew = (
  { claimer }: CommitDeps,
  ...batch: Parameters<typeof ClaimOnInsert.newDeliveries>
): Effect.Effect<ClaimOnInsert.InsertClaim | undefined> => {
  const claiming = claimer()
  if (claiming === undefined) return Effect.undefined
  const deliveries = ClaimOnInsert.newDeliveries(...batch)
  return deliveries.length === 0 ? Effect.undefined : claiming.claim(deliveries)
}

const needsOf = ({ commit: { account_id, leases, needs } }: PendingCommit) => ({
  account_id,
  ...needs,
  ...(leases === undefined ? {} : { outbox: [...(needs?.outbox ?? []), ...leases.map(({ id }) => id)] }),
})

interface StreamToLoad extends TypedStreamRef {
  readonly cached: StreamState.StreamState
  /** Whether the stream is read to its end, however long it is. */
  readonly isReadWhole: boolean
}

interface LoadedStreams {
  readonly streams: ReadonlyMap<string, StreamState.StreamState>
  /** Keys of streams that have more events than a batch reads. */
  readonly long: ReadonlySet<string>
}

const loadStreams = Effect.fnUntraced(function* (
  { cache, shapes }: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
): Effect.fn.Return<LoadedStreams, StorageError> {
  const streams = new Map<string, StreamState.StreamState>()
  const long = new Set<string>()
  let toLoad = streamsToLoad(cache, batch)
  while (toLoad.size > 0) {
    const read = yield* transaction.readStreams([...toLoad.values()].map((stream) => rangeOf(cache, stream)))
    const changed = new Map<string, StreamToLoad>()
    for (const [key, stream] of toLoad) {
      const rows = read.get(key) ?? []
      if (!StreamState.isContinuedBy(stream.cached, rows)) {
        cache.delete(key)
        changed.set(key, { ...stream, cached: StreamState.initial(stream.aggregate) })
      } else if (rows.length > cache.maxStreamEvents && !stream.isReadWhole) long.add(key)
      else {
        const state = StreamState.advance(shapes, stream.cached, rows)
        streams.set(key, state)
        if (stream.cached.version > 0) cache.advance(key, state, rows)
      }
    }
    toLoad = changed
  }
  return { streams, long }
})

const streamsToLoad = (
  cache: StreamStateCache,
  batch: ReadonlyArray<PendingCommit>,
): ReadonlyMap<string, StreamToLoad> => {
  const toLoad = new Map<string, StreamToLoad>()
  for (const { commit, deferrals = 0, longStreams } of batch) {
    for (const { aggregate, id, isNew } of commit.streams) {
      if (isNew === true) continue
      const ref = { account_id: commit.account_id, stream_id: id }
      const key = streamKey(ref)
      const other = toLoad.get(key)
      toLoad.set(key, {
        ...ref,
        aggregate,
        cached: longStreams?.get(key) ?? other?.cached ?? cache.find(key, aggregate) ?? StreamState.initial(aggregate),
        isReadWhole: deferrals >= MAX_DEFERRALS || other?.isReadWhole === true,
      })
    }
  }
  return toLoad
}

/** Returns a range of one event more than a batch folds, to see whether the stream is longer. */
const rangeOf = (
  { maxStreamEvents }: StreamStateCache,
  { account_id, cached, isReadWhole, stream_id }: StreamToLoad,
): StreamRange => {
  const from = StreamState.readFrom(cached)
  return { account_id, stream_id, from, ...(isReadWhole ? {} : { to: from + maxStreamEvents }) }
}

interface DecisionInput {
  readonly writes: BatchWrites
  readonly facts: Facts
  readonly storedAnswers: ReadonlyMap<string, StoredAnswer>
  readonly long: LoadedStreams["long"]
  readonly turns: StreamTurns
}

const decideAll = (
  { facts, long, storedAnswers, turns, writes }: DecisionInput,
  batch: ReadonlyArray<PendingCommit>,
): Omit<BatchResult, "events" | "claim"> => {
  const outcomes = new Map<PendingCommit, CommitOutcome>()
  const duplicates: Array<PendingCommit> = []
  const deferred: Array<Deferred> = []
  const decided = new Set<number>()
  // A commit that was deferred is behind later ones in the queue.
  for (const pending of turns.isEmpty ? batch : batch.toSorted((one, other) => one.nth - other.nth)) {
    const { idempotency, leases } = pending.commit
    const key = idempotency === undefined ? undefined : claimKey(idempotency)
    const storedAnswer = key === undefined ? undefined : storedAnswers.get(key)
    const lostLease = leases?.find(({ id, token }) => facts.outbox(id)?.lease_token !== token)
    if (idempotency !== undefined && storedAnswer !== undefined)
      outcomes.set(pending, replay(idempotency, storedAnswer))
    else if (key !== undefined && writes.answers.has(key)) duplicates.push(pending)
    else if (lostLease !== undefined) outcomes.set(pending, Exit.fail(new LeaseLost({ id: lostLease.id })))
    else {
      const deferral = deferralOf(pending, long, turns, decided)
      if (deferral !== undefined) deferred.push(deferral)
      else {
        outcomes.set(pending, decide(writes, pending, key))
        decided.add(pending.nth)
      }
    }
  }
  return { outcomes, duplicates, deferred }
}

/** Returns how a commit is deferred; `undefined` for one that can be decided. */
const deferralOf = (
  pending: PendingCommit,
  long: LoadedStreams["long"],
  turns: StreamTurns,
  decided: ReadonlySet<number>,
): Deferred | undefined => {
  if (long.size === 0 && turns.isEmpty) return undefined
  const { commit, nth } = pending
  const streams = commit.streams.flatMap(({ aggregate, id, isNew }): ReadonlyArray<TypedStreamRef> =>
    isNew === true ? [] : [{ account_id: commit.account_id, stream_id: id, aggregate }],
  )
  const keys = streams.map(streamKey)
  const behind = turns.earliestBefore(nth, keys, decided)
  const toRead = behind === undefined ? streams.filter((stream) => long.has(streamKey(stream))) : []
  if (behind === undefined && toRead.length === 0) return undefined
  turns.add(nth, keys)
  return { pending, streams: toRead, behind }
}

/** Decides one commit. A decision or a fold that throws fails only its own caller. */
const decide = (writes: BatchWrites, pending: PendingCommit, claimKey: string | undefined): CommitOutcome => {
  try {
    const decision = pending.commit.decide(writes.view(pending.commit.account_id))
    if (Result.isFailure(decision)) return Exit.fail(decision.failure)
    const events = writes.add(pending, decision.success, claimKey)
    return Exit.succeed({ _tag: "Committed", answer: decision.success.answer, events })
  } catch (defect) {
    return Exit.die(defect)
  }
}

const replay = ({ fingerprint, key }: Claim, stored: StoredAnswer): CommitOutcome => {
  if (stored.fingerprint !== fingerprint) return Exit.fail(new IdempotencyKeyReused({ key }))
  const replayed: Committed<unknown> = { _tag: "Replayed", storedAnswer: stored.answer }
  return Exit.succeed(replayed)
}
