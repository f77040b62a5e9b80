import type { AccountId, WebhookDeliveryId } from "@waybill/domain/values/Id"
import type { Tracking } from "@waybill/domain/email/Tracking"
import { Data, type Effect } from "effect"
import type { AnyAggregate, Read, Recorded, Stored } from "./RecordedEvents.ts"
import type { Tallied } from "./AccountCounts.ts"

export interface StreamRef {
  readonly account_id: AccountId
  readonly stream_id: string
}
export const refKey = (ref: StreamRef): string => `${ref.account_id}/${ref.stream_id}`

/** The events of a stream from one version to another, both included; without them from its first, and to its last. */
export interface Stretch extends StreamRef {
  readonly from?: number
  readonly to?: number
}

/** What a decision wants to know beyond its own streams. All needs of a flight are read together. */
export interface Needs {
  /** Sending domains, by name. */
  readonly domains?: ReadonlyArray<string>
  /** Addresses whose suppression matters, lower case. */
  readonly addresses?: ReadonlyArray<string>
  /** The account's plan, and what it has used of this UTC month, which is locked until the commit. */
  readonly month?: string
  /** Outbox rows to look at and to hold until the commit. */
  readonly outbox?: ReadonlyArray<string>
  /** How many of these the account has. Who asks flies alone, so that the number holds until the commit. */
  readonly tally?: Tallied
}

export interface DomainFact {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly tracking?: Tracking | null
}
export interface AccountFact {
  readonly plan: string
  readonly record: Readonly<Record<string, unknown>>
}
export interface LeaseFact {
  readonly id: string
  readonly lease_token: string | null
  readonly lease_until: string | null
  readonly attempt: number
}
export interface SubscriptionFact {
  readonly account_id: AccountId
  readonly id: string
  readonly events: ReadonlyArray<string>
}

export interface Facts {
  readonly account: (account: AccountId) => AccountFact | undefined
  readonly domain: (account: AccountId, name: string) => DomainFact | undefined
  readonly suppression: (account: AccountId, address: string) => string | undefined
  readonly used: (account: AccountId, month: string) => number
  readonly outbox: (id: string) => LeaseFact | undefined
  readonly tally: (account: AccountId, what: Tallied) => number
  readonly subscriptions: (account: AccountId) => ReadonlyArray<SubscriptionFact>
}

/** The claim on an idempotency key. `fingerprint` is a digest of the request, so another body is told apart. */
export interface Claim {
  readonly account_id: AccountId
  readonly route: string
  readonly key: string
  readonly fingerprint: string
}
export const claimKey = (claim: Claim): string => `${claim.account_id} ${claim.route} ${claim.key}`
export interface KeptAnswer extends Claim {
  readonly answer: Uint8Array
  readonly expires_at: string
}

export interface ContentRow {
  readonly account_id: AccountId
  readonly sha256: string
  readonly bytes: Uint8Array
  readonly expires_on: string
}

export interface OutboxRow {
  readonly id: string
  readonly account_id: AccountId
  readonly kind: "delivery" | "webhook" | "domain_check"
  readonly stream_id: string
  readonly available_at: string
  readonly attempt: number
  readonly payload: Readonly<Record<string, unknown>>
}

/** That a webhook is to be told of an event. Written with the event, so that it cannot be lost. */
export interface WebhookDelivery {
  readonly account_id: AccountId
  readonly id: WebhookDeliveryId
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly stream_id: string
  readonly stream_version: number
  readonly created_at: string
}

/** A stream as this flight leaves it. */
export interface Touched extends StreamRef {
  readonly aggregate: AnyAggregate
  readonly version: number
  readonly state: unknown
  /** The last of its events, which are new. */
  readonly added: ReadonlyArray<Recorded>
}

export interface Write {
  readonly touched: ReadonlyArray<Touched>
  readonly events: ReadonlyArray<Stored>
  readonly content: ReadonlyArray<ContentRow>
  readonly usage: ReadonlyArray<{ readonly account_id: AccountId; readonly month: string; readonly delta: number }>
  readonly outbox: {
    readonly arm: ReadonlyArray<OutboxRow>
    readonly disarm: ReadonlyArray<string>
    /** Rows whose lease ends with this commit, because its holder settles them. */
    readonly release: ReadonlyArray<string>
  }
  readonly deliveries: ReadonlyArray<WebhookDelivery>
  readonly now: string
}

/** A page of the feed, unless the reader asks for less. */
export const MAX_FEED_PAGE = 1_000

export interface FeedQuery {
  readonly after: bigint
  readonly limit?: number
  readonly account_id?: string
  readonly types?: ReadonlyArray<string>
}

export interface FeedPage {
  readonly events: ReadonlyArray<Stored>
  /** Everything up to here has been seen by who has seen this page: the place to go on from, and to write down. */
  readonly upTo: bigint
  /** There were more of them than were asked for. */
  readonly more: boolean
}

/** Decide again on fresh history: somebody else appended first, or the database asked for another try. */
export class TryAgain extends Data.TaggedError("TryAgain")<{ readonly cause: unknown }> {}
/** One row of the flight is not acceptable to the database; the others are innocent. */
export class Poisoned extends Data.TaggedError("Poisoned")<{
  readonly cause: unknown
  /** Somebody else has the unique value. Alone, the unit decides again, sees so, and can refuse in its own words. */
  readonly contested?: boolean
}> {}
/** The connection went away, or none could be had: the transaction may or may not have been committed. */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{ readonly cause: unknown }> {}
/** Nobody's row is at fault and no patience helps: a missing right, a full disk, a statement that takes too long. */
export class Failed extends Data.TaggedError("Failed")<{ readonly cause: unknown }> {}
export type LedgerError = TryAgain | Poisoned | OutcomeUnknown | Failed

/**
 * Whose events a transaction appends. A flight that changes who is told of an account's events flies `alone`: no event of
 * the account is appended between its reading of the subscriptions and its commit, so that each event is told to exactly
 * those webhooks that stand before it in the log. So does one that is decided by how many the account has of something.
 */
export interface Scope {
  readonly accounts: ReadonlyArray<string>
  readonly alone: boolean
}

/** One transaction on the log. */
export interface Page {
  readonly streams: (
    stretches: ReadonlyArray<Stretch>,
  ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<Read>>, LedgerError>
  readonly facts: (
    needs: ReadonlyArray<Needs & { readonly account_id: AccountId }>,
    now: string,
  ) => Effect.Effect<Facts, LedgerError>
  readonly answers: (
    claims: ReadonlyArray<Claim>,
    now: string,
  ) => Effect.Effect<ReadonlyMap<string, KeptAnswer>, LedgerError>
  /** Keeps the answers; returns the claims that another transaction took first. */
  readonly keep: (answers: ReadonlyArray<KeptAnswer>, now: string) => Effect.Effect<ReadonlySet<string>, LedgerError>
  /** Only the end of the transaction tells whether it could be written. */
  readonly write: (write: Write) => Effect.Effect<void, LedgerError>
}

/** Where the log is kept: in Postgres, or in memory for tests. */
export interface Ledger {
  readonly streams: Page["streams"]
  readonly feed: (query: FeedQuery) => Effect.Effect<FeedPage, LedgerError>
  readonly transaction: <A>(
    scope: Scope,
    body: (page: Page) => Effect.Effect<A, LedgerError>,
    /** Told when all is written and has only to be flushed; not told where it failed before. */
    written?: Effect.Effect<unknown>,
  ) => Effect.Effect<A, LedgerError>
  /** After an unknown outcome: is this very event of their flight in the log? Fails while that is not certain yet. */
  readonly landed: (event: Stored, scope: Scope) => Effect.Effect<boolean, LedgerError>
}
