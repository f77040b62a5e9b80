import { Clock, DateTime, Effect, Exit, Result } from "effect"
import * as RememberedAdmissions from "../admission/RememberedAdmissions.ts"
import { type Claim, claimKey, IDEMPOTENCY_TTL_MS, type StoredAnswer } from "../idempotency/Claim.ts"
import * as ClaimOnInsert from "../deliveries/ClaimOnInsert.ts"
import { type LoadedStreams, loadStreams } from "./loadStreams.ts"
import type { TypedStreamRef } from "./readLongStream.ts"
import type { StreamTurns } from "../streams/StreamTurns.ts"
import * as BatchFacts from "./BatchFacts.ts"
import { BatchWrites } from "./BatchWrites.ts"
import {
  type CommitDeps,
  type Committed,
  IdempotencyKeyReused,
  LeaseLost,
  type CommitOutcome,
  type PendingCommit,
} from "./Commit.ts"
import type { Facts } from "../facts/Facts.ts"
import type { Assumed, LogTransaction } from "./LogStorage.ts"
import { streamKey } from "../log/StreamRef.ts"
import { type StorageError, TryAgain } from "../postgres/StorageError.ts"
import type { Stored } from "../log/RecordedEvents.ts"

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
  readonly xmin: LogTransaction["xmin"]
  /** Tells the requests that the transaction has admitted how they were counted. */
  readonly noteCounted: () => void
  /** Whether the writes check something that the batch did not read. */
  readonly hasAssumed: boolean
}

const NO_ANSWERS = Effect.succeed<ReadonlyMap<string, StoredAnswer>>(new Map())

/**
 * Tries to commit a batch inside one transaction: reads what it needs, decides each commit, writes everything. If
 * `mayAssume`, it does not read what its commits or this process know already: its writes check that.
 */
export const attempt = Effect.fnUntraced(function* (
  deps: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
  mayAssume: boolean,
): Effect.fn.Return<BatchResult, StorageError> {
  const nowMillis = yield* Clock.currentTimeMillis
  const now = DateTime.formatIso(DateTime.makeUnsafe(nowMillis))
  const claims = batch.flatMap(({ commit }) => (commit.idempotency === undefined ? [] : [commit.idempotency]))
  const areNew = mayAssume && deps.keys.areNew(claims)
  deps.keys.add(claims)
  const noteCounted = yield* admit(transaction, batch)
  // The three reads are sent together, in this order, and awaited once.
  const [storedAnswers, { assumed: lastEvents, long, streams }, { assumed: factsAssumed, facts }] = yield* Effect.all(
    [
      areNew || claims.length === 0 ? NO_ANSWERS : transaction.findAnswers(claims, now),
      loadStreams(deps, transaction, batch, mayAssume),
      BatchFacts.load(deps, transaction, batch, now, mayAssume),
    ],
    { concurrency: "unbounded" },
  )

  const expires_at = DateTime.formatIso(DateTime.makeUnsafe(nowMillis + IDEMPOTENCY_TTL_MS))
  const writes = new BatchWrites(deps, streams, facts, { now, nowMillis, expires_at })
  const decided = decideAll({ writes, facts, storedAnswers, long, turns: deps.turns }, batch)
  const answers = [...writes.answers.values()]
  const assumed = assumedBy(decided, lastEvents, factsAssumed, areNew ? answers : undefined)
  if (assumed === undefined) {
    deps.remembered.doubt(decided.refused.map((pending) => BatchFacts.needsOf(pending, false)))
    return yield* new TryAgain({ cause: "a refusal is decided from what was read" })
  }
  deps.remembered.noteUsage(writes.usage)
  if (answers.length > assumed.answers.length) {
    const taken = yield* transaction.insertAnswers(answers, now)
    // A duplicate in another transaction was first. Decisions of this batch may depend on the commit that lost, so the
    // whole batch is decided again, and that commit then finds the stored answer.
    if (taken.size > 0) return yield* new TryAgain({ cause: "an idempotency key was taken by another transaction" })
  }
  const { content, events, released, changedStreams: touched, unsent, usage } = writes
  const { xmin } = transaction
  const hasAssumed = assumed !== BatchFacts.NOTHING_ASSUMED || noteCounted !== nothingToNote
  const result = { ...decided, events, xmin, noteCounted, hasAssumed }
  if (events.length === 0) return { ...result, claim: undefined }
  const { arm, canceled, deliveries, disarm } = deps.consequences.work(touched, facts, now, () =>
    deps.nextDeliveryId(nowMillis),
  )
  const claim = yield* claimNew(deps, touched, content, arm, now)
  const outbox = { arm, claim, disarm, release: released }
  yield* transaction
    .write({ changedStreams: touched, events, content, usage, unsent, canceled, outbox, deliveries, assumed, now })
    .pipe(Effect.onError(() => Effect.sync(() => claim?.end("rolled back"))))
  return { ...result, claim }
})

const nothingToNote = () => {}

/** Counts the requests of a batch that are not admitted yet. */
const admit = (
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
): Effect.Effect<() => void, StorageError> => {
  const requests = batch.flatMap(({ commit: { admission } }) =>
    admission === undefined || admission.isCounted ? [] : [admission],
  )
  if (requests.length === 0) return Effect.succeed(nothingToNote)
  const windows = RememberedAdmissions.windowsOf(requests)
  const groups = [...windows.values()].map(({ group, requests }) => ({ ...group, requests: requests.length }))
  return Effect.map(transaction.admit(groups), (counted) => () => RememberedAdmissions.noteCounted(windows, counted()))
}

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

/**
 * Returns what the writes have to check. Undefined if a commit that relies on an assumption is refused or appends nothing: that
 * is an answer, and nothing would check it, or a quota is exceeded only by the most that may have been used.
 */
const assumedBy = (
  { outcomes, refused }: Pick<Decided, "outcomes" | "refused">,
  lastEvents: LoadedStreams["assumed"],
  { facts, leases: areLeases }: BatchFacts.BatchFacts["assumed"],
  /** Answers whose keys are assumed to be new; undefined if the keys were read. */
  answers: Assumed["answers"] | undefined,
): Assumed | undefined => {
  const reliesOnMemory = ({ commit: { idempotency, needs } }: PendingCommit) =>
    (facts !== undefined && needs !== undefined) || (answers !== undefined && idempotency !== undefined)
  if (refused.some(reliesOnMemory)) return undefined
  if (lastEvents.size === 0 && !areLeases && facts === undefined && !answers?.length) return BatchFacts.NOTHING_ASSUMED
  const leases: Array<Assumed["leases"][number]> = []
  for (const [{ commit }, outcome] of outcomes) {
    const held = areLeases ? (commit.leases ?? []) : []
    leases.push(...held)
    const reliesOnItsOwn =
      held.length > 0 || commit.streams.some(({ id }) => lastEvents.has(streamKey({ ...commit, stream_id: id })))
    const appends = Exit.isSuccess(outcome) && outcome.value._tag === "Committed" && outcome.value.events.length > 0
    if (reliesOnItsOwn && !appends) return undefined
  }
  return { lastEvents: [...lastEvents.values()], leases, facts: facts ?? BatchFacts.NO_FACTS, answers: answers ?? [] }
}

interface Decided extends Pick<BatchResult, "outcomes" | "duplicates" | "deferred"> {
  /** Commits that are refused, or a part of which is. */
  readonly refused: ReadonlyArray<PendingCommit>
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
): Decided => {
  const outcomes = new Map<PendingCommit, CommitOutcome>()
  const refused: Array<PendingCommit> = []
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
        const outcome = decide(writes, pending, key)
        outcomes.set(pending, outcome.exit)
        if (outcome.hasRefused) refused.push(pending)
        decided.add(pending.nth)
      }
    }
  }
  return { outcomes, duplicates, deferred, refused }
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
const decide = (
  writes: BatchWrites,
  pending: PendingCommit,
  claimKey: string | undefined,
): { readonly exit: CommitOutcome; readonly hasRefused: boolean } => {
  try {
    const decision = pending.commit.decide(writes.view(pending.commit.account_id))
    if (Result.isFailure(decision)) return { exit: Exit.fail(decision.failure), hasRefused: true }
    const { answer, hasRefused = false } = decision.success
    const events = writes.add(pending, decision.success, claimKey)
    return { exit: Exit.succeed({ _tag: "Committed", answer, events }), hasRefused: hasRefused || events.length === 0 }
  } catch (defect) {
    return { exit: Exit.die(defect), hasRefused: true }
  }
}

const replay = ({ fingerprint, key }: Claim, stored: StoredAnswer): CommitOutcome => {
  if (stored.fingerprint !== fingerprint) return Exit.fail(new IdempotencyKeyReused({ key }))
  const replayed: Committed<unknown> = { _tag: "Replayed", storedAnswer: stored.answer }
  return Exit.succeed(replayed)
}
