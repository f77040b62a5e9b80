import type * as Address from "../values/Address.ts"
import type * as EmailEvent from "./EmailEvent.ts"
import type * as EmailStatus from "./EmailStatus.ts"
import type * as DeliveryOutcome from "./DeliveryOutcome.ts"
import type * as SuppressionState from "../suppression/SuppressionState.ts"
import * as Timestamp from "../values/Timestamp.ts"

export type Kind = "to" | "cc" | "bcc"

export interface Recipient {
  readonly address: Address.Address
  readonly kind: Kind
  readonly status: EmailStatus.Status
  readonly attempts: number
  /** Attempts whose outcome is unknown, because the process that made them stopped before it recorded one. */
  readonly lost: number
  readonly last_event_at: Timestamp.Timestamp
  readonly delivered_at: Timestamp.Timestamp | null
  readonly next_attempt_at: Timestamp.Timestamp | null
  /** The last response of the receiving server; `null` before the first. */
  readonly smtp: Omit<DeliveryOutcome.ServerResponse, "attempt"> | null
  readonly suppression: SuppressionState.Reason | null
}

/** The events that are about one recipient and may change its state. */
export type Event = Extract<
  EmailEvent.Event,
  {
    readonly _tag:
      | "EmailSuppressed"
      | "EmailSent"
      | "EmailDelivered"
      | "EmailDeferred"
      | "EmailBounced"
      | "EmailFailed"
      | "EmailAttemptLost"
      | "EmailComplained"
  }
>

export const make = (address: Address.Address, kind: Kind, at: Timestamp.Timestamp): Recipient => ({
  address,
  kind,
  status: "queued",
  attempts: 0,
  lost: 0,
  last_event_at: at,
  delivered_at: null,
  next_attempt_at: null,
  smtp: null,
  suppression: null,
})

const OPEN: ReadonlyArray<EmailStatus.Status> = ["queued", "deferred", "sent"]
const UNCONFIRMED: ReadonlyArray<EmailStatus.Status> = ["queued", "deferred"]

/**
 * The statuses from which each event moves a recipient. Delivered, bounced and complained only move
 * upwards, so a report that arrives before the delivery result leads to the same status as one that arrives after it.
 */
const ALLOWED_FROM: {
  readonly [Tag in Exclude<Event["_tag"], "EmailAttemptLost">]: ReadonlyArray<EmailStatus.Status>
} = {
  EmailSuppressed: UNCONFIRMED,
  EmailSent: UNCONFIRMED,
  EmailDeferred: UNCONFIRMED,
  EmailFailed: UNCONFIRMED,
  EmailDelivered: OPEN,
  EmailBounced: [...OPEN, "delivered"],
  EmailComplained: [...OPEN, "delivered", "bounced"],
}

const STATUS_AFTER: { readonly [Tag in keyof typeof ALLOWED_FROM]: EmailStatus.Status } = {
  EmailSuppressed: "suppressed",
  EmailSent: "sent",
  EmailDeferred: "deferred",
  EmailFailed: "failed",
  EmailDelivered: "delivered",
  EmailBounced: "bounced",
  EmailComplained: "complained",
}

export const STATUS_TAGS = Object.keys(ALLOWED_FROM) as ReadonlyArray<keyof typeof ALLOWED_FROM>

/** Whether this event changes a recipient in that status. Events that change nothing are not appended. */
export const accepts = (recipient: Pick<Recipient, "status">, tag: keyof typeof ALLOWED_FROM): boolean =>
  ALLOWED_FROM[tag].includes(recipient.status)

/** Returns the status of a recipient after an event that it accepts. */
export const statusAfter = (tag: keyof typeof ALLOWED_FROM): EmailStatus.Status => STATUS_AFTER[tag]

/** Whether canceling or rescheduling the message still affects this recipient. */
export const isUnfinished = (recipient: Pick<Recipient, "status">): boolean => UNCONFIRMED.includes(recipient.status)

/** Applies an event. Total: an event that does not fit leaves the status unchanged, even in a damaged history. */
export const evolve = (recipient: Recipient, event: Event): Recipient => {
  const last_event_at = Timestamp.latest(recipient.last_event_at, event.at)
  if (event._tag === "EmailAttemptLost")
    return event.attempt > recipient.attempts
      ? { ...recipient, attempts: event.attempt, lost: recipient.lost + 1, last_event_at }
      : { ...recipient, last_event_at }
  const changesStatus = accepts(recipient, event._tag)
  const status = changesStatus ? STATUS_AFTER[event._tag] : recipient.status
  const delivered_at =
    event._tag === "EmailDelivered" && recipient.delivered_at === null && isReached(status)
      ? event.at
      : recipient.delivered_at
  const next_attempt_at = !changesStatus
    ? recipient.next_attempt_at
    : event._tag === "EmailDeferred"
      ? event.next_attempt_at
      : null
  if (event._tag === "EmailSuppressed")
    return {
      ...recipient,
      status,
      last_event_at,
      next_attempt_at,
      suppression: changesStatus ? event.reason : recipient.suppression,
    }
  if (event._tag === "EmailComplained") return { ...recipient, status, last_event_at, next_attempt_at }
  return {
    ...recipient,
    status,
    last_event_at,
    delivered_at,
    next_attempt_at,
    attempts: Math.max(recipient.attempts, event.attempt),
    smtp: changesStatus ? words(event) : recipient.smtp,
  }
}

/** Whether a delivery time still applies to this status: a later bounce or complaint does not undo a delivery. */
const isReached = (status: EmailStatus.Status): boolean =>
  status === "delivered" || status === "bounced" || status === "complained"

const words = (event: DeliveryOutcome.ServerResponse): Omit<DeliveryOutcome.ServerResponse, "attempt"> => ({
  code: event.code,
  enhanced_code: event.enhanced_code,
  response: event.response,
  mx: event.mx,
  tls: event.tls,
  duration_ms: event.duration_ms,
  category: event.category,
})

export const cancel = (recipient: Recipient, at: Timestamp.Timestamp): Recipient =>
  isUnfinished(recipient)
    ? {
        ...recipient,
        status: "canceled",
        next_attempt_at: null,
        last_event_at: Timestamp.latest(recipient.last_event_at, at),
      }
    : recipient
