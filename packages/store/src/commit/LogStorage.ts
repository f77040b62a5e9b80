import type { Effect } from "effect"
import type { AddedUsage } from "../facts/FactChecks.ts"
import type { HeldLease, OutboxRow, RowClaim } from "../outbox/OutboxRow.ts"
import type { TransactionScope } from "../locks/AccountLocks.ts"
import type { FeedQuery, FeedPage } from "../feed/Feed.ts"
import type { StorageError } from "../postgres/StorageError.ts"
import type { WebhookDelivery } from "../webhooks/WebhookDelivery.ts"
import type { CanceledContent } from "../content/CanceledContent.ts"
import type { UnsentChange } from "../facts/UnsentChanges.ts"
import type { ContentRow } from "../content/StoredContent.ts"
import type { LastEvent, ChangedStream, StreamRange } from "../log/StreamRef.ts"
import type { AssumedGroup, Counted } from "../admission/AdmissionStatement.ts"
import type { AccountNeeds, AssumedFacts, Facts } from "../facts/Facts.ts"
import type { Claim, StoredAnswer } from "../idempotency/Claim.ts"
import type { EventRow, Stored } from "../log/RecordedEvents.ts"

/** Knowledge of a batch that its transaction did not read. Its writes check it, and fail if any of it does not hold. */
export interface Assumed {
  readonly lastEvents: ReadonlyArray<LastEvent>
  readonly leases: ReadonlyArray<HeldLease>
  readonly facts: AssumedFacts
  /** Answers to idempotency keys that are assumed to be new. They are stored with the other writes. */
  readonly answers: ReadonlyArray<StoredAnswer>
}

/** Everything that a batch writes, apart from answers to idempotency keys of which it has read that they are new. */
export interface Write {
  readonly changedStreams: ReadonlyArray<ChangedStream>
  readonly events: ReadonlyArray<Stored>
  readonly content: ReadonlyArray<ContentRow>
  readonly usage: ReadonlyArray<AddedUsage>
  readonly unsent: ReadonlyArray<UnsentChange>
  readonly canceled: ReadonlyArray<CanceledContent>
  readonly outbox: {
    readonly arm: ReadonlyArray<OutboxRow>
    /** Rows to insert with a lease. */
    readonly claim?: RowClaim | undefined
    readonly disarm: ReadonlyArray<string>
    /** Rows whose lease ends with this batch, because its holder settles them. */
    readonly release: ReadonlyArray<string>
  }
  readonly deliveries: ReadonlyArray<WebhookDelivery>
  readonly assumed: Assumed
  readonly now: string
}

/** A transaction on the log. */
export interface LogTransaction {
  /** Returns the `xmin` of rows that the transaction writes, once it is committed; undefined if it is not known. */
  readonly xmin: () => string | undefined
  /**
   * Counts requests by keys that are assumed to be valid, and checks that. Returns what was counted, once the transaction is
   * committed; undefined if it is not known.
   */
  readonly admit: (
    groups: ReadonlyArray<AssumedGroup>,
  ) => Effect.Effect<() => ReadonlyArray<Counted> | undefined, StorageError>
  readonly readStreams: (
    ranges: ReadonlyArray<StreamRange>,
  ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<EventRow>>, StorageError>
  readonly readFacts: (needs: ReadonlyArray<AccountNeeds>, now: string) => Effect.Effect<Facts, StorageError>
  readonly findAnswers: (
    claims: ReadonlyArray<Claim>,
    now: string,
  ) => Effect.Effect<ReadonlyMap<string, StoredAnswer>, StorageError>
  /** Stores answers and returns the keys of the claims that another transaction took first. */
  readonly insertAnswers: (
    answers: ReadonlyArray<StoredAnswer>,
    now: string,
  ) => Effect.Effect<ReadonlySet<string>, StorageError>
  /** Sends the writes without waiting for them: an error shows only when the transaction ends. */
  readonly write: (write: Write) => Effect.Effect<void, StorageError>
}

/** Where the log is stored: in Postgres, or in memory for tests. */
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
