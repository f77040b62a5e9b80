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
 * A dry run of sends: messages are decided about as in a send, and nothing is accepted, counted or sent. Several requests
 * of one dry run add up in `sums`.
 */
export class DryRun {
  sums: Sums = NOTHING
}

/** The dry run that the call in progress is part of; `undefined` for a send. */
export const Current = Context.Reference<DryRun | undefined>("@waybill/server/accept/DryRun/Current", {
  defaultValue: () => undefined,
})
