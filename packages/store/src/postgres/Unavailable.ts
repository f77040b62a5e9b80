import type { Refusal } from "@waybill/domain/values/Refusal"
import { Data } from "effect"

/** Seconds that a client should wait before it sends a request again. */
export const RETRY_SECONDS = 5

/** The database cannot be used for now. Nothing was accepted, so the same request can be sent again. */
export class Unavailable extends Data.TaggedError("Unavailable")<{}> implements Refusal {
  readonly status = 503
  readonly code = "internal_error"
  readonly reason = "unavailable"
  readonly retry_after_s = RETRY_SECONDS
  override get message() {
    return `The service cannot use its database at the moment. Nothing was accepted; send the request again after ${this.retry_after_s} s.`
  }
}

/**
 * The database did not confirm a commit that it may have made. A 500, because the contract promises for every 503 that
 * nothing was accepted.
 */
export class NotConfirmed extends Data.TaggedError("NotConfirmed")<{}> implements Refusal {
  readonly status = 500
  readonly code = "internal_error"
  readonly reason = "outcome_unknown"
  override get message() {
    return (
      "The database did not confirm this request in time, so it may or may not have been accepted. Send it again with the " +
      "same Idempotency-Key; a request that had none may take effect twice, so look for its effect first."
    )
  }
}
