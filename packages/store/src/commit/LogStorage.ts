import type { Effect } from "effect"
import type { TransactionScope } from "../locks/AccountLocks.ts"
import type { FeedQuery, FeedPage } from "../feed/Feed.ts"
import type { StorageError } from "../postgres/StorageError.ts"
import type { StreamRange } from "../log/StreamRef.ts"
import type { Facts } from "./Facts.ts"
import type { WrittenBatch } from "../log/BatchTable.ts"
import type { AccountNeeds } from "../log/Fact.ts"
import type { IdempotencyRef, StoredAnswer } from "../idempotency/IdempotencyRef.ts"
import type { EventRow, Stored } from "../log/RecordedEvents.ts"

/** Everything that a batch writes. */
export interface Write extends Omit<WrittenBatch, "isPerTable"> {
  readonly events: ReadonlyArray<Stored>
}

/** A transaction on the log. */
export interface LogTransaction {
  readonly readStreams: (
    ranges: ReadonlyArray<StreamRange>,
  ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<EventRow>>, StorageError>
  readonly readFacts: (needs: ReadonlyArray<AccountNeeds>, now: string) => Effect.Effect<Facts, StorageError>
  /** Returns the answers stored under keys, which stay locked until the end of the transaction. */
  readonly findAnswers: (
    refs: ReadonlyArray<IdempotencyRef>,
    now: string,
  ) => Effect.Effect<ReadonlyMap<string, StoredAnswer>, StorageError>
  /** Sends the writes without waiting for them: an error shows only when the transaction ends. */
  readonly write: (write: Write) => Effect.Effect<void, StorageError>
}

/** Where the log is stored. Tests put faults around it. */
export interface LogStorage {
  readonly readStreams: LogTransaction["readStreams"]
  readonly feed: (query: FeedQuery) => Effect.Effect<FeedPage, StorageError>
  readonly transaction: <A>(
    scope: TransactionScope,
    body: (transaction: LogTransaction) => Effect.Effect<A, StorageError>,
    /** Runs when everything is written and only the COMMIT is left; not after an error. */
    onWritten?: Effect.Effect<unknown>,
  ) => Effect.Effect<A, StorageError>
  /** Returns whether an event of a transaction with unknown outcome is in the log; fails while that is not certain. */
  readonly isCommitted: (event: Stored, scope: TransactionScope) => Effect.Effect<boolean, StorageError>
}
