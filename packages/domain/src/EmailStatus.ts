import { Schema } from "effect"

/** The states of a recipient and, folded, of a message: one vocabulary (contract §4). */
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

/** Nothing of ours will change it any more; only a report from outside may (delivered to bounced or complained). */
export const isFinal = (status: Status): boolean => status !== "queued" && status !== "deferred" && status !== "sent"

/** Which state speaks for the message when recipients differ: first found wins. */
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

/** The status of a message depends on what its recipients' states are, never on the order in which they came. */
export const ofRecipients = (recipients: Iterable<{ readonly status: Status }>): Status => {
  let best = PRECEDENCE.length
  for (const recipient of recipients) best = Math.min(best, PRECEDENCE.indexOf(recipient.status))
  // A message has at least one recipient; one without any would have nothing left to do.
  return PRECEDENCE[best] ?? "canceled"
}

export type Counts = { readonly [S in Status]?: number }

export const counts = (recipients: Iterable<{ readonly status: Status }>): Counts => {
  const found: { [S in Status]?: number } = {}
  for (const { status } of recipients) found[status] = (found[status] ?? 0) + 1
  return found
}
