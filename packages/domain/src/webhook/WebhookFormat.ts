import { Schema } from "effect"
import * as Table from "../values/Table.ts"
import * as WebhookType from "./WebhookType.ts"

/** Shape of the payload of calls: Waybill's own, or the one that programs written for another service expect. */
export const Format = Schema.Literals(["waybill", "resend", "postmark", "sendgrid"]).annotate({
  identifier: "WebhookFormat",
})
export type Format = typeof Format.Type

export const DEFAULT_FORMAT: Format = "waybill"

/** Whether a webhook of this format has the `svix-*` headers, unless it was created or changed with another value. */
export const hasSvixHeaders = (format: Format): boolean => format === "resend"
/** Whether calls of this format are signed by ECDSA too. */
export const hasEcdsa = (format: Format): boolean => format === "sendgrid"

/** Two parts of `email.queued` that webhooks of the format `resend` receive as different events. */
const SCHEDULED = "email.scheduled"
const UNSCHEDULED = "email.unscheduled"

/** The part of `suppression.added` that webhooks of the format `sendgrid` receive: recipients who unsubscribed. */
const UNSUBSCRIBED = "suppression.unsubscribed"

/**
 * Resend's names of the events that both services have. Resend's `email.sent` is the acceptance of an email that is not
 * scheduled; ours, that a relay took the email, has no counterpart there.
 */
const RESEND_TYPES: ReadonlyMap<string, string> = new Map<WebhookType.WebhookType, string>([
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
  ["email.received", "email.received"],
  ["suppression.added", "suppression.added"],
  ["suppression.removed", "suppression.removed"],
  ["domain.created", "domain.created"],
  ["domain.verified", "domain.updated"],
  ["domain.degraded", "domain.updated"],
  ["domain.failed", "domain.updated"],
  ["domain.deleted", "domain.deleted"],
])

/** Postmark's records of the events that both services have. What could not be delivered is a bounce there too. */
const POSTMARK_TYPES: ReadonlyMap<string, string> = new Map<WebhookType.WebhookType, string>([
  ["email.delivered", "Delivery"],
  ["email.bounced", "Bounce"],
  ["email.failed", "Bounce"],
  ["email.complained", "SpamComplaint"],
  ["email.opened", "Open"],
  ["email.clicked", "Click"],
  ["email.received", "Inbound"],
  ["suppression.added", "SubscriptionChange"],
  ["suppression.removed", "SubscriptionChange"],
])

/**
 * SendGrid's names of the events that both services have. A bounce that suppresses nobody is a `blocked` one there, and so is
 * an email that was tried in vain. Of the suppressions, it reports only those by recipients.
 */
const SENDGRID_TYPES: ReadonlyMap<string, string> = new Map<WebhookType.WebhookType, string>([
  ["email.queued", "processed"],
  ["email.delivered", "delivered"],
  ["email.delivery_delayed", "deferred"],
  ["email.bounced", "bounce"],
  ["email.failed", "bounce"],
  ["email.suppressed", "dropped"],
  ["email.complained", "spamreport"],
  ["email.opened", "open"],
  ["email.clicked", "click"],
  ["email.received", "inbound"],
  ["suppression.added", "unsubscribe"],
])

/** Names of the events that a format has; Waybill's own has all, under their names. */
const TYPES: { readonly [F in Exclude<Format, "waybill">]: ReadonlyMap<string, string> } = {
  resend: RESEND_TYPES,
  postmark: POSTMARK_TYPES,
  sendgrid: SENDGRID_TYPES,
}

/** Event types that webhooks of the format `resend` can receive. */
export const RESEND_SUBSCRIPTIONS: ReadonlyArray<WebhookType.WebhookType> = [...RESEND_TYPES.keys()].filter(
  WebhookType.isWebhookType,
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

/** Returns SendGrid's name of an event, or `undefined` if SendGrid has no such event. */
export const sendGridType = (type: string, facts: Facts): string | undefined =>
  type === "suppression.added" && !facts.isUnsubscribe ? undefined : SENDGRID_TYPES.get(type)

/** Returns the subscriptions that have this name at Resend; none if Waybill has no such event. */
export const typesOfResend = (name: string): ReadonlyArray<WebhookType.WebhookType> =>
  RESEND_SUBSCRIPTIONS.filter((type) => RESEND_TYPES.get(type) === name)

/** Whether events of this type, or of any type for `*`, can be sent in a format. */
export const has = (format: Format, subscription: string): boolean =>
  format === "waybill" || subscription === "*" || TYPES[format].has(subscription)

/** Returns the events that are sent to a webhook: its subscriptions as far as its format has such events. */
export const received = (format: Format, events: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (format === "waybill") return events
  const types = events.includes("*")
    ? [...TYPES[format].keys()].filter((type) => !isApart(format, type))
    : events.filter((type) => TYPES[format].has(type))
  return types.map((type) => Table.at(PARTS[format] ?? {}, type) ?? type)
}

/** Whether a service sends such events to an address of their own, in a form of their own: `*` does not stand for them. */
const isApart = (format: Format, type: string): boolean => format !== "resend" && type === "email.received"

/** The parts of events that a format receives in the place of all of them. */
const PARTS: Partial<Readonly<Record<Format, Readonly<Record<string, string>>>>> = {
  resend: { "email.queued": SCHEDULED, "email.sent": UNSCHEDULED },
  sendgrid: { "suppression.added": UNSUBSCRIBED },
}

/** Facts of an event that decide about it beside its type. */
export interface Facts {
  /** Whether it is about an email that was accepted for later. */
  readonly isScheduled: boolean
  /** Whether it is a suppression because the recipient unsubscribed. */
  readonly isUnsubscribe: boolean
}

/** Whether an event of this type is among those that `received` returns. */
export const matches = (received: ReadonlyArray<string>, type: string, facts: Facts): boolean =>
  WebhookType.isWebhookType(type) &&
  (received.includes("*") ||
    received.includes(type) ||
    (type === "email.queued" && received.includes(facts.isScheduled ? SCHEDULED : UNSCHEDULED)) ||
    (type === "suppression.added" && facts.isUnsubscribe && received.includes(UNSUBSCRIBED)))

/** Event types that are sent, for a query of the log. */
export interface Selection {
  readonly types: ReadonlyArray<string>
  /** Which `email.queued` are sent: those of scheduled emails, of the others, or of all (`null`). */
  readonly scheduled: boolean | null
  /** Whether only those `suppression.added` are sent whose recipients unsubscribed. */
  readonly unsubscribes: boolean
}

export const select = (received: ReadonlyArray<string>): Selection => {
  const later = matches(received, "email.queued", { isScheduled: true, isUnsubscribe: true })
  const now = matches(received, "email.queued", { isScheduled: false, isUnsubscribe: true })
  const all = [true, false].map((isScheduled) => ({ isScheduled, isUnsubscribe: true }))
  return {
    types: WebhookType.WebhookType.literals.filter((type) => all.some((facts) => matches(received, type, facts))),
    scheduled: later === now ? null : later,
    unsubscribes: !matches(received, "suppression.added", { isScheduled: false, isUnsubscribe: false }),
  }
}
