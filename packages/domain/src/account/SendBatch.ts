import { Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"

/** Maximum number of batches of an account that are paused or canceled at a time, as at SendGrid. */
export const MAX_CHANGED = 10

/** Name of the metadata by which an email belongs to a batch. */
export const METADATA = "sendgrid.batch_id"

/** A paused batch is held when its time comes. The emails of a canceled one are canceled then. */
export const Status = Schema.Literals(["pause", "cancel"])
export type Status = typeof Status.Type

/** A batch that is paused or canceled. All others are sent. */
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

export class AlreadyChanged extends Refusal.of("SendBatchAlreadyChanged", 422, "batch_already_changed")<{
  readonly status_set: Status
}> {
  override readonly message = `This batch has the status ${this.status_set} already. Change it with PATCH, or end it with DELETE.`
}

export class TooManyChanged extends Refusal.of("TooManySendBatchesChanged", 422, "too_many_batches") {
  override readonly message = `At most ${MAX_CHANGED} batches can be paused or canceled at a time. End one with DELETE first.`
}

export class NotChanged extends Refusal.of("SendBatchNotChanged", 404, "batch_not_changed") {
  override readonly message = "No batch with this id is paused or canceled."
}
