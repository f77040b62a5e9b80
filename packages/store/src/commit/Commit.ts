// Phases of a `PendingCommit`:
//
// | phase    | if the database is lost          | next phase                                                            |
// |----------|----------------------------------|-----------------------------------------------------------------------|
// | waiting  | refused: nothing was accepted    | sent: the COMMIT of its batch is sent; answered: it has an outcome    |
// | sent     | failed: the outcome is not known | answered: the batch has ended; waiting: the batch is tried once more  |
// | answered | keeps its outcome                | none: no transaction may make it take effect                          |

import type { AccountId } from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Data, Effect, type Exit, type Result } from "effect"
import type { EventKindsShape } from "../feed/EventKinds.ts"
import type { Committed, IdempotencyKeyReused, IdempotencyRef } from "../idempotency/IdempotencyRef.ts"
import type { StreamState } from "../streams/StreamState.ts"
import type { StreamStateCache } from "../streams/StreamStateCache.ts"
import type { Facts } from "./Facts.ts"
import type { Needs } from "../log/Fact.ts"
import type { AddRows } from "../log/BatchTable.ts"
import type { Provenance } from "../log/Provenance.ts"
import type { AnyAggregate, AnyEvent } from "../log/RecordedEvents.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Another worker holds the row's lease now, so the outcome that the former holder reports must not be recorded. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{ readonly id: string }> {}

/** The state and the facts that a decision can see. */
export interface View {
  /** State of a stream, with the events of earlier commits of the same batch. */
  readonly state: <State>(aggregate: AnyAggregate & { readonly initial: State }, id: string) => State
  readonly version: (id: string) => number
  readonly facts: Facts
  readonly now: Timestamp
}

export interface Append {
  readonly aggregate: AnyAggregate
  readonly id: string
  readonly events: ReadonlyArray<AnyEvent>
}

export interface Decision<A> {
  readonly append: ReadonlyArray<Append>
  /** Rows that do not follow from the events, such as content. */
  readonly rows?: ReadonlyArray<AddRows>
  /** Whether the answer is all that is wanted: nothing is written, and no answer stored under a key. */
  readonly isDryRun?: boolean
  readonly answer: A
}

/** A stream that a commit loads. */
export interface StreamOfCommit {
  readonly aggregate: AnyAggregate
  readonly id: string
  /** The id was made for this commit, so the stream is not read. */
  readonly isNew?: boolean
  /** State that the caller has read. The batch reads on from its last event. */
  readonly known?: StreamState
}

/** One caller's change of the log: committed as a whole or refused as a whole. */
export interface Commit<A, E> {
  readonly account_id: AccountId
  readonly streams: ReadonlyArray<StreamOfCommit>
  readonly needs?: Needs
  readonly decide: (view: View) => Result.Result<Decision<A>, E>
  /** Approximate number of bytes to write, which bounds the size of a batch. */
  readonly bytes?: number
}

/** A commit of an account that the caller of the work knows. */
export type Work<A, E> = Omit<Commit<A, E>, "account_id">

/** A commit whose answer is stored under an idempotency key; it fails with `IdempotencyKeyReused` for another request. */
export interface KeyedCommit<A, E> extends Commit<A, E> {
  readonly idempotency: IdempotencyRef & { readonly encode: (answer: A) => Uint8Array }
}

/** A commit by the worker that leases outbox rows. It ends the leases, or fails with `LeaseLost` if one has passed on. */
export interface LeasedCommit<A, E> extends Commit<A, E> {
  readonly leases: ReadonlyArray<{ readonly id: string; readonly token: string }>
}

/** A commit of any kind, as a batch takes it. */
export type AnyCommit<A, E> = Commit<A, E> &
  Partial<Pick<KeyedCommit<A, E>, "idempotency"> & Pick<LeasedCommit<A, E>, "leases">>

/** Commits a decision about several streams, with facts and content: all or nothing. */
export interface Transact {
  /** A repeated request with the key finds the answer of the first. */
  <A, E>(commit: KeyedCommit<A, E>): Effect.Effect<Committed<A>, E | IdempotencyKeyReused | StoreUnavailable>
  <A, E>(commit: LeasedCommit<A, E>): Effect.Effect<A, E | LeaseLost | StoreUnavailable>
  <A, E>(
    commit: Commit<A, E> & { readonly idempotency?: undefined; readonly leases?: undefined },
  ): Effect.Effect<A, E | StoreUnavailable>
}

/** Returns the answer of a commit without an idempotency key, which nothing replays. */
export const answerOf = <A, E>(committing: Effect.Effect<Committed<A>, E>): Effect.Effect<A, E> =>
  Effect.flatMap(committing, (committed) =>
    committed._tag === "Committed"
      ? Effect.succeed(committed.answer)
      : Effect.die("replayed without an idempotency key"),
  )

export type CommitOutcome = Exit.Exit<Committed<unknown>, unknown>

/**
 * How far a commit has come, shared by all its attempts. No transaction may make an `answered` one take effect. A `sent` one
 * is in a transaction whose COMMIT may have reached the server.
 */
export interface Progress {
  phase: "waiting" | "sent" | "answered"
}

/** A commit whose caller waits for the outcome. */
export interface PendingCommit {
  readonly commit: AnyCommit<unknown, unknown>
  readonly provenance: Provenance
  /** When the caller began to wait, on the steady clock. */
  readonly waitingSince: number
  readonly complete: (outcome: CommitOutcome) => void
  readonly progress: Progress
  /** Whether its streams were read outside the batches before, so that a batch reads all that is new, however much. */
  readonly wasSetAside?: boolean
}

/** Dependencies of committing, beside the storage. */
export interface CommitDeps {
  readonly kinds: EventKindsShape
  readonly cache: StreamStateCache
}
