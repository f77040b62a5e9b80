import { Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"

/** Maximum number of batches of an account that are paused or canceled at a time. */
export const MAX_CHANGED = 10

/** Metadata with the id of an email's batch. Stored mail and searches have this name, so it stays. */
const METADATA = "sendgrid.batch_id"
export const metadataOf = (batch_id: string) => ({ [METADATA]: batch_id })
export const idOf = (metadata: { readonly [name: string]: string } | undefined): string | undefined =>
  metadata?.[METADATA]

/** A paused batch is held when its time comes. The emails of a canceled one are canceled then. */
export const Status = Schema.Literals(["pause", "cancel"])
export type Status = typeof Status.Type

/**
 * Emails that are paused or canceled together: those that have the id of the batch, also if they are sent later. All other
 * batches are sent, and are not stored.
 */
export interface SendBatch {
  readonly batch_id: string
  readonly status: Status
}

/** Returns the batches after a change; `null` ends the pause or the cancellation of those emails whose time has not come. */
export const changed = (
  batches: ReadonlyArray<SendBatch>,
  batch_id: string,
  status: Status | null,
): ReadonlyArray<SendBatch> => [
  ...batches.filter((each) => each.batch_id !== batch_id),
  ...(status === null ? [] : [{ batch_id, status }]),
]

export class TooManyChanged extends Refusal.of("TooManySendBatchesChanged", 422, "too_many_batches") {
  override readonly message = `At most ${MAX_CHANGED} batches can be paused or canceled at a time. End another one first.`
}
