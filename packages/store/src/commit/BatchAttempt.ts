import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect, Exit, Result } from "effect"
import { answerKey, IDEMPOTENCY_TTL_MS, replay, type StoredAnswer } from "../idempotency/IdempotencyRef.ts"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import { loadStreams } from "./loadStreams.ts"
import { BatchWrites } from "./BatchWrites.ts"
import { type CommitDeps, LeaseLost, type CommitOutcome, type PendingCommit } from "./Commit.ts"
import type { Facts } from "./Facts.ts"
import type { AccountNeeds } from "../log/Fact.ts"
import type { LogTransaction } from "./LogStorage.ts"
import { streamKey } from "../log/StreamRef.ts"
import type { StreamState } from "../streams/StreamState.ts"
import type { StorageError } from "../postgres/StorageError.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import type { Stored } from "../log/RecordedEvents.ts"

export interface BatchResult {
  readonly outcomes: ReadonlyMap<PendingCommit, CommitOutcome>
  /** Commits whose idempotency key another commit of the same batch has as well: the next batch finds its answer. */
  readonly duplicates: ReadonlyArray<PendingCommit>
  /** Commits whose streams are too long for a batch and have to be read outside it. */
  readonly setAside: ReadonlyArray<PendingCommit>
  readonly events: ReadonlyArray<Stored>
}

const NO_ANSWERS = Effect.succeed<ReadonlyMap<string, StoredAnswer>>(new Map())

/** Tries to commit a batch inside one transaction: reads what it needs, decides each commit, writes everything. */
export const attempt = Effect.fnUntraced(function* (
  deps: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
): Effect.fn.Return<BatchResult, StorageError> {
  const nowMillis = yield* Clock.currentTimeMillis
  const now = Timestamp.fromMillis(nowMillis)
  const refs = batch.flatMap(({ commit }) => (commit.idempotency === undefined ? [] : [commit.idempotency]))
  // The three reads are sent together, in this order, and awaited once.
  const [storedAnswers, streams, facts] = yield* Effect.all(
    [
      refs.length === 0 ? NO_ANSWERS : transaction.findAnswers(refs, now),
      loadStreams(deps, transaction, batch),
      transaction.readFacts(batch.map(needsOf), now),
    ],
    { concurrency: "unbounded" },
  )

  const expires_at = Timestamp.fromMillis(nowMillis + IDEMPOTENCY_TTL_MS)
  const writes = new BatchWrites(deps, streams, facts, { now, nowMillis, expires_at })
  const decided = decideAll({ writes, facts, storedAnswers, streams }, batch)
  const { changedStreams, events, rows } = writes
  if (events.length > 0 || rows.of(StoredAnswers.table).length > 0) {
    writes.follow(changedStreams)
    yield* transaction.write({ changedStreams, events, rows, now })
  }
  return { ...decided, events }
})

/** Returns what a commit needs to know, with the leases of its rows. */
const needsOf = ({ commit: { account_id, leases, needs } }: PendingCommit): AccountNeeds => ({
  account_id,
  ...needs,
  ...(leases === undefined ? {} : { outbox: [...(needs?.outbox ?? []), ...leases.map(({ id }) => id)] }),
})

type Decided = Pick<BatchResult, "outcomes" | "duplicates" | "setAside">

interface DecisionInput {
  readonly writes: BatchWrites
  readonly facts: Facts
  readonly storedAnswers: ReadonlyMap<string, StoredAnswer>
  readonly streams: ReadonlyMap<string, StreamState>
}

const decideAll = (
  { facts, storedAnswers, streams, writes }: DecisionInput,
  batch: ReadonlyArray<PendingCommit>,
): Decided => {
  const outcomes = new Map<PendingCommit, CommitOutcome>()
  const duplicates: Array<PendingCommit> = []
  const setAside: Array<PendingCommit> = []
  for (const pending of batch) {
    const { idempotency, leases } = pending.commit
    const key = idempotency === undefined ? undefined : answerKey(idempotency)
    const storedAnswer = key === undefined ? undefined : storedAnswers.get(key)
    const lostLease = leases?.find(({ id, token }) => facts.outbox(id)?.lease_token !== token)
    if (idempotency !== undefined && storedAnswer !== undefined)
      outcomes.set(pending, replay(idempotency, storedAnswer))
    else if (key !== undefined && writes.rows.at(StoredAnswers.table, key) !== undefined) duplicates.push(pending)
    else if (lostLease !== undefined) outcomes.set(pending, Exit.fail(new LeaseLost({ id: lostLease.id })))
    else if (!hasStreams(pending, streams)) setAside.push(pending)
    else outcomes.set(pending, decide(writes, pending))
  }
  return { outcomes, duplicates, setAside }
}

const hasStreams = ({ commit: { account_id, streams } }: PendingCommit, read: DecisionInput["streams"]): boolean =>
  streams.every(({ id, isNew }) => isNew === true || read.has(streamKey({ account_id, stream_id: id })))

/** Decides one commit. A decision or a fold that throws fails only its own caller. */
const decide = (writes: BatchWrites, pending: PendingCommit): CommitOutcome => {
  try {
    const decision = pending.commit.decide(writes.view(pending.commit.account_id))
    if (Result.isFailure(decision)) return Exit.fail(decision.failure)
    if (!writes.isReadable(decision.success)) return Exit.fail(new StoreUnavailable({ why: "upgrading" }))
    if (decision.success.isDryRun !== true) writes.add(pending, decision.success)
    return Exit.succeed({ _tag: "Committed", answer: decision.success.answer })
  } catch (defect) {
    return Exit.die(defect)
  }
}
