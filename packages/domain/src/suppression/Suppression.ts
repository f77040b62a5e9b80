import { Array, Result } from "effect"
import type * as Aggregate from "../values/Aggregate.ts"
import * as Address from "../values/Address.ts"
import type * as Id from "../values/Id.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import * as SuppressionRefusal from "./SuppressionRefusal.ts"
import type { Event, Reason, State } from "./SuppressionState.ts"

/** @public A part of the aggregate. */
export { Event, evolve, initial, type State } from "./SuppressionState.ts"

/**
 * One stream per address, with the id `streamId(address)`, so that adding an address twice is a conflict in the log.
 */
export const stream = "suppression" as const

export const streamId = (address: Address.Address): Address.Address => Address.keyOf(address)

type Decide<Error> = Aggregate.Decide<State, Event, Error>

export const add =
  (
    now: Timestamp.Timestamp,
    suppression_id: Id.SuppressionId,
    address: Address.Address,
    reason: Reason,
    email_id: Id.EmailId | null,
  ): Decide<SuppressionRefusal.AlreadySuppressed> =>
  (state) =>
    state._tag === "Suppressed"
      ? Result.fail(
          new SuppressionRefusal.AlreadySuppressed({
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
  (now: Timestamp.Timestamp): Decide<SuppressionRefusal.SuppressionNotFound> =>
  (state) =>
    state._tag === "Absent"
      ? Result.fail(new SuppressionRefusal.SuppressionNotFound())
      : Result.succeed(
          Array.of({
            _tag: "SuppressionRemoved",
            suppression_id: state.suppression_id,
            address: state.address,
            at: now,
          }),
        )
