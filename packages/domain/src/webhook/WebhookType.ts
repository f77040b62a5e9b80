import { Schema } from "effect"

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
