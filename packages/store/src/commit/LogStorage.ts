import type { AccountId, WebhookDeliveryId } from "@waybill/domain/values/Id"
import type * as UnsentMail from "@waybill/domain/account/UnsentMail"
import { Data, type Effect } from "effect"
import type { AssumedGroup, Counted } from "../admission/AdmissionStatement.ts"
import type { AccountNeeds, AssumedFacts, Facts } from "../facts/Facts.ts"
import type { Claim, StoredAnswer } from "../idempotency/Claim.ts"
import type { AnyAggregate, EventRow, Recorded, Stored } from "./RecordedEvents.ts"

export interface StreamRef {
  readonly account_id: AccountId
  readonly stream_id: string
}
export const streamKey = (ref: StreamRef): string => `${ref.account_id}/${ref.stream_id}`

/** Events of a stream by version, both ends included; from its first event to its last by default. */
export interface StreamRange extends StreamRef {
  readonly from?: number
  readonly to?: number
}

export interface ContentRow {
  readonly account_id: AccountId
  readonly sha256: string
  readonly bytes: Uint8Array
  readonly expires_on: string
  /** Recipients of the message, if this is its body: a template holds only what several have got. */
  readonly sentTo?: string
}

/** Content of a message that was canceled before it was sent, which is removed within an hour. */
export interface CanceledContent {
  readonly account_id: AccountId
  readonly email_id: string
  /** UTC month in which the message was accepted. */
  readonly month: string
  readonly bytes: number
  /** Hash of each part, as often as the message has it. */
  readonly hashes: ReadonlyArray<string>
}

/** Change by a batch of the content that an account stores for unsent mail. */
export interface UnsentChange extends UnsentMail.Change {
  readonly account_id: AccountId
}

/** `available_at` of a row that waits for its test clock: no worker on real time ever comes to it. */
export const FAR_FUTURE = "9999-12-31T00:00:00.000Z"

export interface OutboxRow {
  readonly id: string
  readonly account_id: AccountId
  readonly kind: "delivery" | "webhook" | "domain_check" | "test_clock"
  readonly stream_id: string
  readonly available_at: string
  readonly attempt: number
  readonly payload: Readonly<Record<string, unknown>>
  /** The test clock that the row lives on, and its time on that clock. Absent or null on real time. */
  readonly clock?: string | null
  readonly clock_due?: string | null
}

/** Rows that the transaction which inserts them leases to a pipeline of its process. */
export interface RowClaim {
  readonly token: string
  /** Id of the process. */
  readonly owner: string
  /** Ids of the claimed rows, which may be none. */
  readonly ids: ReadonlySet<string>
}

/** One webhook call to make for one event. It is written in the transaction of the event, so it cannot be lost. */
export interface WebhookDelivery {
  /** Owner of the webhook. */
  readonly account_id: AccountId
  /** False if the event is one of test mail, so that its stream belongs to the test account. */
  readonly livemode: boolean
  readonly id: WebhookDeliveryId
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly stream_id: string
  readonly stream_version: number
  readonly created_at: string
}

/** A stream to which a batch appends, as it is after the batch. */
export interface ChangedStream extends StreamRef {
  readonly aggregate: AnyAggregate
  readonly version: number
  readonly state: unknown
  /** Events that the batch appends. */
  readonly added: ReadonlyArray<Recorded>
}

/** The last event of a stream when it was read, and the transaction that wrote its row. */
export type LastEvent = StreamRef & Pick<EventRow, "version" | "event_id" | "xmin">

/** Knowledge of a batch that its transaction did not read. Its writes check it, and fail if any of it does not hold. */
export interface Assumed {
  readonly lastEvents: ReadonlyArray<LastEvent>
  readonly leases: ReadonlyArray<{ readonly id: string; readonly token: string }>
  readonly facts: AssumedFacts
  /** Answers to idempotency keys that are assumed to be new. They are stored with the other writes. */
  readonly answers: ReadonlyArray<StoredAnswer>
}

/** Everything that a batch writes, apart from answers to idempotency keys of which it has read that they are new. */
export interface Write {
  readonly changedStreams: ReadonlyArray<ChangedStream>
  readonly events: ReadonlyArray<Stored>
  readonly content: ReadonlyArray<ContentRow>
  readonly usage: ReadonlyArray<{ readonly account_id: AccountId; readonly month: string; readonly delta: number }>
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

/** Maximum number of events of a page of the feed. */
export const MAX_FEED_PAGE = 1_000

export interface FeedQuery {
  readonly after: bigint
  readonly limit?: number
  readonly account_id?: string
  readonly types?: ReadonlyArray<string>
}

export interface FeedPage {
  readonly events: ReadonlyArray<Stored>
  /** Position after which the next page begins: the reader has now seen every matching event up to it. */
  readonly upTo: bigint
  /** Whether more matching events follow at once. */
  readonly more: boolean
}

/** Another transaction appended first, or the database asked for a retry: the batch is decided again from new state. */
export class TryAgain extends Data.TaggedError("TryAgain")<{ readonly cause: unknown }> {}
/** The database refuses one row of the batch; the other commits of the batch are not to blame. */
export class RowRejected extends Data.TaggedError("RowRejected")<{
  readonly cause: unknown
  /** Whether a unique value is taken. Decided again on its own, the commit sees that and can refuse in its own words. */
  readonly isDuplicate?: boolean
}> {}
/** The connection was lost, or none could be opened: the transaction may or may not have been committed. */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{ readonly cause: unknown }> {}
/** No row is to blame and a retry does not help: a missing privilege, a full disk, a statement that takes too long. */
export class Failed extends Data.TaggedError("Failed")<{ readonly cause: unknown }> {}
export type StorageError = TryAgain | RowRejected | OutcomeUnknown | Failed

/**
 * Accounts to which a transaction appends. An exclusive transaction has the accounts for itself, for two reasons: when it
 * changes a webhook, no event of the account is appended between its read of the subscriptions and its commit, so an event
 * is sent to exactly the webhooks that precede it in the log; when it decides by a count, the count cannot change.
 */
export interface TransactionScope {
  readonly accounts: ReadonlyArray<string>
  readonly isExclusive: boolean
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
