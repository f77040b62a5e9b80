import { Schema } from "effect"

/** Statuses of a recipient and, combined, of a message. */
export const Status = Schema.Literals([
  "queued",
  "deferred",
  "sent",
  "delivered",
  "bounced",
  "failed",
  "suppressed",
  "canceled",
  "complained",
]).annotate({ identifier: "EmailStatus" })
export type Status = typeof Status.Type

export const ALL = Status.literals

/**
 * Whether Waybill will not change the status any more. A later report may still turn delivered into bounced or
 * complained.
 */
export const isFinal = (status: Status): boolean => status !== "queued" && status !== "deferred" && status !== "sent"

/** Whether the message did not reach the recipient and nothing tries it any more. */
export const isGivenUp = (status: Status): boolean =>
  isFinal(status) && status !== "delivered" && status !== "complained"

/** Order in which recipients' statuses determine the message's status: the first that any recipient has. */
const PRECEDENCE: ReadonlyArray<Status> = [
  "complained",
  "deferred",
  "queued",
  "sent",
  "delivered",
  "bounced",
  "failed",
  "suppressed",
  "canceled",
]

/** Returns the status of a message, which depends on its recipients' statuses only, not on their order. */
export const ofRecipients = (recipients: Iterable<{ readonly status: Status }>): Status => {
  let best = PRECEDENCE.length
  for (const recipient of recipients) best = Math.min(best, PRECEDENCE.indexOf(recipient.status))
  // The fallback is for a message without recipients, which acceptance never creates.
  return PRECEDENCE[best] ?? "canceled"
}

export type Counts = { readonly [S in Status]?: number }

export const counts = (recipients: Iterable<{ readonly status: Status }>): Counts => {
  const result: { [S in Status]?: number } = {}
  for (const { status } of recipients) result[status] = (result[status] ?? 0) + 1
  return result
}
