import * as Refusal from "../values/Refusal.ts"
import type * as Address from "../values/Address.ts"
import type * as Id from "../values/Id.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import type * as SuppressionState from "./SuppressionState.ts"

/** The first reason stays: a later bounce of a suppressed address adds nothing. */
export class AlreadySuppressed extends Refusal.of("AlreadySuppressed", 422, "already_suppressed")<{
  readonly suppression_id: Id.SuppressionId
  readonly address: Address.Address
  readonly reason_given: SuppressionState.Reason
  readonly created_at: Timestamp.Timestamp
}> {
  override readonly message = `${this.address} has been suppressed since ${this.created_at} (${this.reason_given}).`
}

/** Addresses that an account may change within a UTC day: each change is an event, which is kept for ever. */
export const MAX_CHANGES_PER_DAY = 500_000

export class TooManyChanges extends Refusal.of("TooManyChanges", 429, "suppression_changes")<{
  readonly retry_after_s: number
}> {
  override readonly message = `The limit is ${MAX_CHANGES_PER_DAY} changed addresses a day (UTC); retry in ${this.retry_after_s} s.`
}

export class SuppressionNotFound extends Refusal.of("SuppressionNotFound", 404, "suppression_not_found") {
  override readonly message = "This address is not suppressed."
}
