import type { WebhookType } from "@waybill/domain/stream/PublicType"
import { Schema } from "effect"

/**
 * Resend's event types with ours. Resend's `email.sent` says that a message was accepted, as our `email.queued` does
 * for scheduled mail too; our `email.sent`, the acceptance by a relay, has no counterpart.
 */
const TYPES: Readonly<Record<string, WebhookType>> = {
  "email.sent": "email.queued",
  "email.scheduled": "email.queued",
  "email.delivered": "email.delivered",
  "email.delivery_delayed": "email.delivery_delayed",
  "email.complained": "email.complained",
  "email.bounced": "email.bounced",
  "email.opened": "email.opened",
  "email.clicked": "email.clicked",
  "email.failed": "email.failed",
  "email.suppressed": "email.suppressed",
}

const NAMES = Object.keys(TYPES)

/** The event types of a webhook, in Resend's names. */
export const Events = Schema.Array(
  Schema.String.check(Schema.makeFilter((name) => Object.hasOwn(TYPES, name) || `must be one of ${NAMES.join(", ")}`)),
)

export const toNative = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(names.map((name) => TYPES[name] ?? name)),
]

/** Returns all of Resend's types that a webhook with our types receives; a type that Resend does not have keeps its name. */
export const fromNative = (types: ReadonlyArray<string>): ReadonlyArray<string> =>
  types.includes("*") ? NAMES : types.flatMap((type) => namesOf(type))

/** Returns Resend's type of one event. */
export const nameOf = (type: string): string => namesOf(type)[0] ?? type

const namesOf = (type: string): ReadonlyArray<string> => {
  const names = NAMES.filter((name) => TYPES[name] === type)
  return names.length === 0 ? [type] : names
}
