import { Schema } from "effect"
import * as Table from "../values/Table.ts"
import { nearestName } from "../values/nearestName.ts"

/** Event types that a webhook can subscribe to. */
export const WebhookType = Schema.Literals([
  "email.queued",
  "email.sent",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.canceled",
  "email.opened",
  "email.clicked",
  "email.received",
  "domain.created",
  "domain.verified",
  "domain.degraded",
  "domain.failed",
  "domain.deleted",
  "suppression.added",
  "suppression.removed",
  "api_key.created",
  "api_key.revoked",
  "webhook.disabled",
]).annotate({ identifier: "WebhookType" })
export type WebhookType = typeof WebhookType.Type

const WEBHOOK_TYPES: ReadonlySet<string> = new Set(WebhookType.literals)

export const isWebhookType = (type: string): type is WebhookType => WEBHOOK_TYPES.has(type)

/** Types of emails by words that states of recipients and other services have for them. */
const OTHER_WORDS: Readonly<Record<string, WebhookType>> = {
  accepted: "email.queued",
  processed: "email.queued",
  scheduled: "email.queued",
  delivery: "email.delivered",
  deferred: "email.delivery_delayed",
  delayed: "email.delivery_delayed",
  bounce: "email.bounced",
  rejected: "email.bounced",
  dropped: "email.suppressed",
  complaint: "email.complained",
  spam: "email.complained",
  spamcomplaint: "email.complained",
  spamreport: "email.complained",
  open: "email.opened",
  click: "email.clicked",
  inbound: "email.received",
}

/** Returns the type that another name stands for, such as `email.deferred` or `SpamComplaint`, or that is near to it. */
export const nearestType = (name: string): WebhookType | undefined =>
  Table.at(
    OTHER_WORDS,
    name
      .toLowerCase()
      .replace(/^email\./u, "")
      .replaceAll(/[^a-z]/gu, ""),
  ) ?? (nearestName(name, WebhookType.literals) as WebhookType | undefined)
