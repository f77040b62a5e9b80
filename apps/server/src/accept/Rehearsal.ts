import { Context } from "effect"

/** Volume of the messages of a request that were decided before. */
export interface Sums {
  readonly recipients: number
  readonly scheduled_bytes: number
}

export const NOTHING: Sums = { recipients: 0, scheduled_bytes: 0 }

export const add = (sums: Sums, { recipients, scheduled_bytes }: Sums): Sums => ({
  recipients: sums.recipients + recipients,
  scheduled_bytes: sums.scheduled_bytes + scheduled_bytes,
})

/**
 * A batch that is decided as a send is, and of which nothing is written: nothing is accepted, counted or sent.
 * Several batches of one request add up in `sums`.
 */
export class Rehearsal {
  sums: Sums = NOTHING
}

/** The rehearsal that the call in progress is part of; `undefined` for a send. */
export const Current = Context.Reference<Rehearsal | undefined>("@waybill/server/accept/Rehearsal/Current", {
  defaultValue: () => undefined,
})
