import type { AccountId } from "@waybill/domain/values/Id"
import { Data, type Result } from "effect"
import type { Claim, ContentRow, Facts, Needs } from "./LogStorage.ts"
import type { AnyAggregate, AnyEvent, Stored } from "./RecordedEvents.ts"

/** The same key came with another request. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused")<{ readonly key: string }> {}
/** The row's lease has passed to somebody else: what its former holder saw is not its outcome any more. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{ readonly id: string }> {}

export interface View {
  /** The state of a stream, with all that earlier units of the same flight did to it. */
  readonly state: <State>(aggregate: AnyAggregate & { readonly initial: State }, id: string) => State
  readonly version: (id: string) => number
  readonly facts: Facts
  readonly now: string
}

export interface Append {
  readonly aggregate: AnyAggregate
  readonly id: string
  readonly events: ReadonlyArray<AnyEvent>
}

export interface Decision<A> {
  readonly append: ReadonlyArray<Append>
  readonly content?: ReadonlyArray<ContentRow>
  readonly answer: A
}

/** What one caller wants committed: decided as a whole, refused as a whole. */
export interface Unit<A, E> {
  readonly account_id: AccountId
  /** Streams to load. A `fresh` one has an id that was made for this unit, so nothing can be there yet. */
  readonly streams: ReadonlyArray<{ readonly aggregate: AnyAggregate; readonly id: string; readonly fresh?: boolean }>
  readonly needs?: Needs
  readonly decide: (view: View) => Result.Result<Decision<A>, E>
  readonly idempotency?: Claim & { readonly encode: (answer: A) => Uint8Array }
  /** The unit settles these leased outbox rows, if the leases still hold. */
  readonly leases?: ReadonlyArray<{ readonly id: string; readonly token: string }>
  /** Roughly what travels, for the size of a flight. */
  readonly bytes?: number
}

export type Committed<A> =
  | { readonly _tag: "Committed"; readonly answer: A; readonly events: ReadonlyArray<Stored> }
  /** Done before, under the same idempotency key: the answer that was given then. */
  | { readonly _tag: "Replayed"; readonly kept: Uint8Array }
