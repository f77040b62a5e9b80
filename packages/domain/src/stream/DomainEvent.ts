import { Schema } from "effect"
import type * as Timestamp from "../values/Timestamp.ts"
import * as Aggregates from "./Aggregates.ts"
import * as Upcast from "./Upcast.ts"

export const DomainEvent = Schema.Union(Object.values(Aggregates.aggregates).map(({ Event }) => Event))
export type DomainEvent = typeof DomainEvent.Type
export type Tag = DomainEvent["_tag"]

/** Public type of each event, used in webhooks, timelines and feeds. Neither column is ever renamed. */
const PUBLIC_TYPES = {
  EmailQueued: "email.queued",
  EmailSent: "email.sent",
  EmailDelivered: "email.delivered",
  EmailDeferred: "email.delivery_delayed",
  EmailBounced: "email.bounced",
  EmailComplained: "email.complained",
  EmailFailed: "email.failed",
  EmailSuppressed: "email.suppressed",
  EmailCanceled: "email.canceled",
  EmailOpened: "email.opened",
  EmailClicked: "email.clicked",
  EmailAttemptLost: "email.attempt_lost",
  EmailRescheduled: "email.rescheduled",
  EmailResent: "email.resent",
  EmailReceived: "email.received",
  RouteApplied: "inbound.route_applied",
  InboundReplied: "inbound.replied",
  InboundForwarded: "inbound.forwarded",
  InboundDeleted: "inbound.deleted",
  InboundRouteCreated: "inbound.route_created",
  InboundRouteChanged: "inbound.route_changed",
  InboundRouteDeleted: "inbound.route_deleted",
  DomainAdded: "domain.created",
  DomainChecked: "domain.checked",
  DomainVerified: "domain.verified",
  DomainDegraded: "domain.degraded",
  DomainFailed: "domain.failed",
  DkimRotated: "domain.dkim_rotated",
  DkimActivated: "domain.dkim_activated",
  Ed25519Made: "domain.ed25519_made",
  Ed25519Activated: "domain.ed25519_activated",
  Ed25519Suspended: "domain.ed25519_suspended",
  Ed25519Removed: "domain.ed25519_removed",
  DomainTransportChanged: "domain.transport_changed",
  DomainTrackingChanged: "domain.tracking_changed",
  DomainReceivingChanged: "domain.receiving_changed",
  TrackingDomainSet: "domain.tracking_domain_set",
  TrackingDomainRemoved: "domain.tracking_domain_removed",
  DomainRemoved: "domain.deleted",
  KeyCreated: "api_key.created",
  TestKeyCreated: "api_key.created",
  KeyRevoked: "api_key.revoked",
  SuppressionAdded: "suppression.added",
  SuppressionRemoved: "suppression.removed",
  WebhookCreated: "webhook.created",
  WebhookUpdated: "webhook.updated",
  WebhookSecretRotated: "webhook.secret_rotated",
  WebhookEnabled: "webhook.enabled",
  WebhookDisabled: "webhook.disabled",
  WebhookDeleted: "webhook.deleted",
  AccountCreated: "account.created",
  PlanChanged: "account.plan_changed",
  LimitsChanged: "account.limits_changed",
  RetentionChanged: "account.retention_changed",
  KeepingChanged: "account.keeping_changed",
  LinksChanged: "account.links_changed",
  AllowedHeadersChanged: "account.allowed_headers_changed",
  SendBatchChanged: "account.batch_changed",
  AddressErased: "account.address_erased",
  MemberInvited: "member.invited",
  MemberJoined: "member.joined",
  MemberRoleChanged: "member.role_changed",
  MemberLinkMade: "member.link_made",
  MemberPasswordSet: "member.password_set",
  MemberFactorsRemoved: "member.factors_removed",
  MemberRemoved: "member.removed",
  TemplateCreated: "template.created",
  TemplateChanged: "template.changed",
  TemplatePublished: "template.published",
  TemplateRolledBack: "template.rolled_back",
  TemplateArchived: "template.archived",
  TestClockCreated: "test_clock.created",
  TestClockAdvancing: "test_clock.advancing",
  TestClockAdvanced: "test_clock.advanced",
  TestClockReady: "test_clock.ready",
  TestClockReset: "test_clock.reset",
  TestClockDeleted: "test_clock.deleted",
} as const satisfies { readonly [T in Tag]: string }
export type PublicType = (typeof PUBLIC_TYPES)[Tag]

export const TAGS = Object.keys(PUBLIC_TYPES) as ReadonlyArray<Tag>

export const publicType = (tag: Tag): PublicType => PUBLIC_TYPES[tag]

/** Returns the tags of a public type, for `?types=` of a feed. */
export const tagsOf = (type: string): ReadonlyArray<Tag> => TAGS.filter((tag) => PUBLIC_TYPES[tag] === type)

export const occurredAt = (event: DomainEvent): Timestamp.Timestamp =>
  event._tag === "EmailQueued" ? event.created_at : event.at

export const { schemaVersion, upcast } = Upcast.make(Upcast.STEPS)

/** Returns the kind under which nodes announce that they can read an event: its type and the version of its data. */
export const eventKind = (type: string): string => `${type}/${schemaVersion(type)}`

/** Every event kind that this release can read, older versions included. */
export const EVENT_KINDS: ReadonlyArray<string> = TAGS.flatMap((tag) =>
  Array.from({ length: schemaVersion(tag) }, (_, nth) => `${tag}/${nth + 1}`),
)
