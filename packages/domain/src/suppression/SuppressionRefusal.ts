import { Schema } from "effect"
import * as Address from "../values/Address.ts"
import * as Id from "../values/Id.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as SuppressionState from "./SuppressionState.ts"

/** The first reason stays: a later bounce of a suppressed address adds nothing. */
export class AlreadySuppressed extends Schema.TaggedError<AlreadySuppressed>()("AlreadySuppressed", {
  suppression_id: Id.SuppressionId,
  address: Address.Address,
  reason_given: SuppressionState.Reason,
  created_at: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "already_suppressed"
  override get message() {
    return `${this.address} has been suppressed since ${this.created_at} (${this.reason_given}).`
  }
}

/** Addresses that an account may change within a UTC day: each change is an event, which is kept for ever. */
export const MAX_CHANGES_PER_DAY = 500_000

export class TooManyChanges extends Schema.TaggedError<TooManyChanges>()("TooManyChanges", {
  retry_after_s: Schema.Int,
}) {
  readonly status = 429
  readonly reason = "suppression_changes"
  override get message() {
    return `The limit is ${MAX_CHANGES_PER_DAY} changed addresses a day (UTC); retry in ${this.retry_after_s} s.`
  }
}

export class SuppressionNotFound extends Schema.TaggedError<SuppressionNotFound>()("SuppressionNotFound", {}) {
  readonly status = 404
  readonly reason = "suppression_not_found"
  override get message() {
    return "This address is not suppressed."
  }
}
