import { Schema } from "effect"
import * as PublicType from "./PublicType.ts"

/** Shape of the payload of calls: Waybill's own, or the one that programs written for another service expect. */
export const Format = Schema.Literals(["waybill", "resend", "postmark"]).annotate({ identifier: "WebhookFormat" })
export type Format = typeof Format.Type

export const DEFAULT_FORMAT: Format = "waybill"

/** Whether a webhook of this format has the `svix-*` headers, unless it was created or changed with another value. */
export const hasSvixHeaders = (format: Format): boolean => format === "resend"

/** Two parts of `email.queued` that webhooks of the format `resend` receive as different events. */
const SCHEDULED = "email.scheduled"
const UNSCHEDULED = "email.unscheduled"

/**
 * Resend's names of the events that both services have. Resend's `email.sent` is the acceptance of an email that is not
 * scheduled; ours, that a relay took the email, has no counterpart there.
 */
const RESEND_TYPES: ReadonlyMap<string, string> = new Map<PublicType.WebhookType, string>([
  ["email.queued", "email.scheduled"],
  ["email.sent", "email.sent"],
  ["email.delivered", "email.delivered"],
  ["email.delivery_delayed", "email.delivery_delayed"],
  ["email.bounced", "email.bounced"],
  ["email.complained", "email.complained"],
  ["email.failed", "email.failed"],
  ["email.suppressed", "email.suppressed"],
  ["email.opened", "email.opened"],
  ["email.clicked", "email.clicked"],
])

/** Postmark's records of the events that both services have. What could not be delivered is a bounce there too. */
const POSTMARK_TYPES: ReadonlyMap<string, string> = new Map<PublicType.WebhookType, string>([
  ["email.delivered", "Delivery"],
  ["email.bounced", "Bounce"],
  ["email.failed", "Bounce"],
  ["email.complained", "SpamComplaint"],
  ["email.opened", "Open"],
  ["email.clicked", "Click"],
  ["suppression.added", "SubscriptionChange"],
  ["suppression.removed", "SubscriptionChange"],
])

/** Names of the events that a format has; Waybill's own has all, under their names. */
const TYPES: { readonly [F in Exclude<Format, "waybill">]: ReadonlyMap<string, string> } = {
  resend: RESEND_TYPES,
  postmark: POSTMARK_TYPES,
}

/** Event types that webhooks of the format `resend` can receive. */
export const RESEND_SUBSCRIPTIONS: ReadonlyArray<PublicType.WebhookType> = [...RESEND_TYPES.keys()].filter(
  PublicType.isWebhookType,
)

/** Returns Resend's name of a subscription, or `undefined` if Resend has no such event. */
export const resendTypeOf = (type: string): string | undefined => RESEND_TYPES.get(type)

/** Returns Resend's type of an event, or `undefined` if Resend has no such event. */
export const resendEventType = (type: string, isScheduled: boolean): string | undefined => {
  if (type === "email.queued") return isScheduled ? "email.scheduled" : "email.sent"
  return type === "email.sent" ? undefined : RESEND_TYPES.get(type)
}

/** Returns Postmark's type of record for an event, or `undefined` if Postmark has no such event. */
export const postmarkType = (type: string): string | undefined => POSTMARK_TYPES.get(type)

/** Returns the subscription that has this name at Resend, or `undefined` if Waybill has no such event. */
export const typeOfResend = (name: string): PublicType.WebhookType | undefined =>
  RESEND_SUBSCRIPTIONS.find((type) => RESEND_TYPES.get(type) === name)

/** Whether events of this type, or of any type for `*`, can be sent in a format. */
export const has = (format: Format, subscription: string): boolean =>
  format === "waybill" || subscription === "*" || TYPES[format].has(subscription)

/** Returns the events that are sent to a webhook: its subscriptions as far as its format has such events. */
export const received = (format: Format, events: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (format === "waybill") return events
  const types = events.includes("*") ? [...TYPES[format].keys()] : events.filter((type) => TYPES[format].has(type))
  if (format !== "resend") return types
  return types.map((type) => (type === "email.queued" ? SCHEDULED : type === "email.sent" ? UNSCHEDULED : type))
}

/** Whether an event of this type is among those that `received` returns. */
export const matches = (received: ReadonlyArray<string>, type: PublicType.PublicType, isScheduled: boolean): boolean =>
  PublicType.isWebhookType(type) &&
  (received.includes("*") ||
    received.includes(type) ||
    (type === "email.queued" && received.includes(isScheduled ? SCHEDULED : UNSCHEDULED)))

/** Event types that are sent, for a query of the log. */
export interface Selection {
  readonly types: ReadonlyArray<PublicType.PublicType>
  /** Which `email.queued` are sent: those of scheduled emails, of the others, or of all (`null`). */
  readonly scheduled: boolean | null
}

export const select = (received: ReadonlyArray<string>): Selection => {
  const later = matches(received, "email.queued", true)
  const now = matches(received, "email.queued", false)
  return {
    types: PublicType.WebhookType.literals.filter(
      (type) => matches(received, type, true) || matches(received, type, false),
    ),
    scheduled: later === now ? null : later,
  }
}
