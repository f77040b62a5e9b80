import { Schema } from "effect"
import * as Address from "../values/Address.ts"
import * as Id from "../values/Id.ts"
import * as Timestamp from "../values/Timestamp.ts"

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
