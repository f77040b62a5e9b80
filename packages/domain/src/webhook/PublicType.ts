import { Schema } from "effect"

/** Event types that a webhook can subscribe to (contract §8). */
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

/** Event types that appear in timelines and `GET /events`, but are not sent to webhooks. */
export type QuietType =
  | "email.attempt_lost"
  | "email.rescheduled"
  | "email.resent"
  | "inbound.route_applied"
  | "inbound.replied"
  | "inbound.forwarded"
  | "inbound.deleted"
  | "inbound.route_created"
  | "inbound.route_changed"
  | "inbound.route_deleted"
  | "domain.checked"
  | "domain.dkim_rotated"
  | "domain.dkim_activated"
  | "domain.ed25519_made"
  | "domain.ed25519_activated"
  | "domain.ed25519_suspended"
  | "domain.ed25519_removed"
  | "domain.transport_changed"
  | "domain.tracking_changed"
  | "domain.receiving_changed"
  | "domain.tracking_domain_set"
  | "domain.tracking_domain_removed"
  | "webhook.created"
  | "webhook.updated"
  | "webhook.secret_rotated"
  | "webhook.enabled"
  | "webhook.deleted"
  | "account.created"
  | "account.plan_changed"
  | "account.limits_changed"
  | "account.retention_changed"
  | "account.keeping_changed"
  | "account.links_changed"
  | "account.allowed_headers_changed"
  | "account.batch_changed"
  | "account.address_erased"
  | "member.invited"
  | "member.joined"
  | "member.role_changed"
  | "member.link_made"
  | "member.password_set"
  | "member.factors_removed"
  | "member.removed"
  | "template.created"
  | "template.changed"
  | "template.published"
  | "template.rolled_back"
  | "template.archived"
  | "test_clock.created"
  | "test_clock.advancing"
  | "test_clock.advanced"
  | "test_clock.ready"
  | "test_clock.reset"
  | "test_clock.deleted"

export type PublicType = WebhookType | QuietType

const WEBHOOK_TYPES: ReadonlySet<string> = new Set(WebhookType.literals)

export const isWebhookType = (type: string): type is WebhookType => WEBHOOK_TYPES.has(type)
