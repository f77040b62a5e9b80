import { Schema } from "effect"
import * as PublicType from "../stream/PublicType.ts"

/** Whose payload an endpoint receives: Waybill's own, or the one that programs written for Resend expect. */
export const Format = Schema.Literals(["waybill", "resend"]).annotate({ identifier: "WebhookFormat" })
export type Format = typeof Format.Type

export const DEFAULT_FORMAT: Format = "waybill"

/** Whether a webhook of this format has the `svix-*` headers, unless it was created or changed with another value. */
export const hasSvixHeaders = (format: Format): boolean => format === "resend"

/** Subscription to `email.queued` of emails that are scheduled, and of no others. */
export const SCHEDULED = "email.scheduled"

/** Resend's names of the events that both services have. */
const RESEND_TYPES: ReadonlyMap<string, string> = new Map<PublicType.WebhookType, string>([
  ["email.queued", SCHEDULED],
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

/** Event types that webhooks of the format `resend` can receive. */
export const RESEND_SUBSCRIPTIONS: ReadonlyArray<PublicType.WebhookType> = [...RESEND_TYPES.keys()].filter(
  PublicType.isWebhookType,
)

/** Returns Resend's name of an event type, or `undefined` if Resend has no such event. */
export const resendTypeOf = (type: string): string | undefined => RESEND_TYPES.get(type)

/** Returns the event type that has this name at Resend, or `undefined` if Waybill has no such event. */
export const typeOfResend = (name: string): PublicType.WebhookType | undefined =>
  RESEND_SUBSCRIPTIONS.find((type) => RESEND_TYPES.get(type) === name)

/** Whether events of this type, or of any type for `*`, can be sent in a format. */
export const has = (format: Format, subscription: string): boolean =>
  format === "waybill" || subscription === "*" || RESEND_TYPES.has(subscription)

/** Returns the event types that are sent to a webhook: its subscriptions as far as its format has such events. */
export const received = (format: Format, events: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (format === "waybill") return events
  const types = events.includes("*") ? RESEND_SUBSCRIPTIONS : events.filter((type) => RESEND_TYPES.has(type))
  // Resend reports the scheduling of an email, not its acceptance.
  return types.map((type) => (type === "email.queued" ? SCHEDULED : type))
}

/** Whether subscriptions, as returned by `received`, contain an event of this type. */
export const matches = (received: ReadonlyArray<string>, type: PublicType.PublicType, isScheduled: boolean): boolean =>
  PublicType.isWebhookType(type) &&
  (received.includes("*") ||
    received.includes(type) ||
    (type === "email.queued" && isScheduled && received.includes(SCHEDULED)))
