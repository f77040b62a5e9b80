import { Array, Result, Schema } from "effect"
import * as Address from "../values/Address.ts"
import type * as Aggregate from "../stream/Aggregate.ts"
import * as Id from "../values/Id.ts"
import * as Timestamp from "../values/Timestamp.ts"

/**
 * One stream per address, with the id `streamId(address)`, so that adding an address twice is a conflict in the log.
 */
export const stream = "suppression" as const

export const streamId = (address: Address.Address): Address.Address => Address.keyOf(address)

export const Reason = Schema.Literals(["hard_bounce", "complaint", "manual", "unsubscribe"]).annotate({
  identifier: "SuppressionReason",
})
export type Reason = typeof Reason.Type

export const Event = Schema.TaggedUnion({
  SuppressionAdded: {
    suppression_id: Id.SuppressionId,
    /** In lower case, like the stream id. */
    address: Address.Address,
    reason: Reason,
    /** The message that caused the suppression. */
    email_id: Schema.NullOr(Id.EmailId),
    at: Timestamp.Timestamp,
  },
  SuppressionRemoved: {
    suppression_id: Id.SuppressionId,
    address: Address.Address,
    at: Timestamp.Timestamp,
  },
})
export type Event = typeof Event.Type

export type State =
  | { readonly _tag: "Absent" }
  | {
      readonly _tag: "Suppressed"
      readonly suppression_id: Id.SuppressionId
      readonly address: Address.Address
      readonly reason: Reason
      readonly email_id: Id.EmailId | null
      readonly created_at: Timestamp.Timestamp
    }

export const initial: State = { _tag: "Absent" }

export const evolve = (state: State, event: Event): State => {
  switch (event._tag) {
    case "SuppressionAdded":
      return state._tag === "Suppressed" ? state : suppressed(event)
    case "SuppressionRemoved":
      return initial
  }
}

const suppressed = ({
  suppression_id,
  address,
  reason,
  email_id,
  at,
}: Extract<Event, { _tag: "SuppressionAdded" }>): State => ({
  _tag: "Suppressed",
  suppression_id,
  address,
  reason,
  email_id,
  created_at: at,
})

/** The first reason stays: a later bounce of a suppressed address adds nothing. */
export class AlreadySuppressed extends Schema.TaggedError<AlreadySuppressed>()("AlreadySuppressed", {
  suppression_id: Id.SuppressionId,
  address: Address.Address,
  reason_given: Reason,
  created_at: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "already_suppressed"
  override get message() {
    return `${this.address} has been suppressed since ${this.created_at} (${this.reason_given}).`
  }
}

export class SuppressionNotFound extends Schema.TaggedError<SuppressionNotFound>()("SuppressionNotFound", {}) {
  readonly status = 404
  readonly code = "not_found"
  readonly reason = "suppression_not_found"
  override get message() {
    return "This address is not suppressed."
  }
}

type Decide<Error> = Aggregate.Decide<State, Event, Error>

export const add =
  (
    now: Timestamp.Timestamp,
    suppression_id: Id.SuppressionId,
    address: Address.Address,
    reason: Reason,
    email_id: Id.EmailId | null,
  ): Decide<AlreadySuppressed> =>
  (state) =>
    state._tag === "Suppressed"
      ? Result.fail(
          new AlreadySuppressed({
            suppression_id: state.suppression_id,
            address: state.address,
            reason_given: state.reason,
            created_at: state.created_at,
          }),
        )
      : Result.succeed(
          Array.of({
            _tag: "SuppressionAdded",
            suppression_id,
            address: Address.keyOf(address),
            reason,
            email_id,
            at: now,
          }),
        )

export const remove =
  (now: Timestamp.Timestamp): Decide<SuppressionNotFound> =>
  (state) =>
    state._tag === "Absent"
      ? Result.fail(new SuppressionNotFound())
      : Result.succeed(
          Array.of({
            _tag: "SuppressionRemoved",
            suppression_id: state.suppression_id,
            address: state.address,
            at: now,
          }),
        )
