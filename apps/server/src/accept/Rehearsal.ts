import type { BatchAnswer } from "@waybill/api/schemas/send/Batch"
import { Context, Data } from "effect"

/** Volume of the messages of a request that were decided in earlier batches. */
export interface Sums {
  readonly recipients: number
  readonly scheduled_bytes: number
}

export const NOTHING: Sums = { recipients: 0, scheduled_bytes: 0 }

/**
 * A batch that is decided as a send is, in a transaction that ends without a change: nothing is accepted, counted or sent.
 * Several batches of one request add up in `sums`.
 */
export class Rehearsal {
  sums: Sums = NOTHING
}

/** The rehearsal that the call in progress is part of; `undefined` for a send. */
export const Current = Context.Reference<Rehearsal | undefined>("@waybill/server/accept/Rehearsal/Current", {
  defaultValue: () => undefined,
})

/** Ends the transaction of a rehearsal whose messages all could be accepted. */
export class Rehearsed extends Data.TaggedError("Rehearsed")<{
  readonly answer: BatchAnswer
  readonly sums: Sums
}> {}
