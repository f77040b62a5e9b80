import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Aggregates from "@waybill/domain/stream/Aggregates"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as WebhookPayload from "../../apps/server/src/worker/webhooks/WebhookPayload.ts"

/** docs/events.md is written from the events themselves: `npm run generate events`. A test holds it current. */
export const FILE = fileURLToPath(new URL("../../docs/events.md", import.meta.url))
const FIXTURES = new URL("../../test/fixtures/events/", import.meta.url)

/** When each event happens, for people. */
const WHEN: Readonly<Record<DomainEvent.PublicType, string>> = {
  "email.queued": "An email is accepted.",
  "email.sent": "A relay that confirms the delivery later has accepted the email for a recipient.",
  "email.delivered": "The receiving server has accepted the email for a recipient.",
  "email.delivery_delayed": "The receiving server has deferred the email. It will be tried again.",
  "email.bounced":
    "The receiving server has refused the email for a recipient, at once or by a report. A hard bounce suppresses the address.",
  "email.complained": "A recipient has reported the email as spam. The address is suppressed.",
  "email.failed": "The email was not delivered to a recipient within the time for attempts, or cannot be.",
  "email.suppressed": "A recipient is suppressed, so that the email is not sent there.",
  "email.canceled": "A scheduled email was canceled.",
  "email.opened": "A recipient has opened the email; only with tracking.",
  "email.clicked": "A recipient has clicked a link; only with tracking.",
  "email.received": "Mail came in at an address of the account.",
  "email.attempt_lost": "A process ended during an attempt, so that its outcome is not known.",
  "email.rescheduled": "A scheduled email has got another time.",
  "email.resent": "The email was sent again, as a new one.",
  "inbound.route_applied": "A route was applied to received mail.",
  "inbound.replied": "Received mail was answered.",
  "inbound.forwarded": "Received mail was forwarded.",
  "inbound.deleted": "Received mail was deleted.",
  "inbound.route_created": "A route for received mail was created.",
  "inbound.route_changed": "A route for received mail was changed.",
  "inbound.route_deleted": "A route for received mail was deleted.",
  "domain.created": "A domain was added.",
  "domain.checked": "The DNS records of a domain were checked.",
  "domain.verified": "A domain is verified: mail can be sent from it.",
  "domain.degraded": "A record of a verified domain is missing or wrong.",
  "domain.failed": "The DKIM record of a domain was not found in time.",
  "domain.deleted": "A domain was removed.",
  "domain.dkim_rotated": "A domain has got a new DKIM key, which is not in use yet.",
  "domain.dkim_activated": "A new DKIM key of a domain signs from now on.",
  "domain.ed25519_made": "A domain has got an Ed25519 key.",
  "domain.ed25519_activated": "The Ed25519 key of a domain signs from now on.",
  "domain.ed25519_suspended": "The Ed25519 key of a domain does not sign, because its record is missing.",
  "domain.ed25519_removed": "The Ed25519 key of a domain was removed.",
  "domain.transport_changed": "An operator chose another transport for a domain.",
  "domain.tracking_changed": "The tracking of a domain was changed.",
  "domain.receiving_changed": "Receiving mail was turned on or off for a domain.",
  "domain.tracking_domain_set": "A domain has got a tracking domain.",
  "domain.tracking_domain_removed": "The tracking domain of a domain was removed.",
  "suppression.added": "An address is suppressed.",
  "suppression.removed": "An address is no longer suppressed.",
  "api_key.created": "An API key was created.",
  "api_key.revoked": "An API key was revoked.",
  "webhook.created": "A webhook was created.",
  "webhook.updated": "A webhook was changed.",
  "webhook.secret_rotated": "A webhook has got a new secret.",
  "webhook.enabled": "A webhook was enabled again.",
  "webhook.disabled": "A webhook was disabled, because its endpoint answered 410 or failed for days.",
  "webhook.deleted": "A webhook was deleted.",
  "account.created": "The account was created.",
  "account.plan_changed": "The account has another plan.",
  "account.limits_changed": "The account has other limits.",
  "account.retention_changed": "The account keeps its data for another time.",
  "account.keeping_changed": "The account changed what is kept of its mail.",
  "account.links_changed": "The tracked links of the account were stopped or allowed.",
  "account.allowed_headers_changed": "The account may send other headers.",
  "account.batch_changed": "A batch of scheduled mail was paused, canceled or resumed.",
  "account.address_erased": "An address was erased from the log.",
  "member.invited": "A person was invited to the account.",
  "member.joined": "A member has signed in for the first time.",
  "member.role_changed": "A member has another role.",
  "member.link_made": "A link for a new password was created for a member.",
  "member.password_set": "A member has set a password.",
  "member.factors_removed": "The second factors of a member were removed.",
  "member.removed": "A member was removed.",
  "template.created": "A template was created.",
  "template.changed": "The draft or the settings of a template were changed.",
  "template.published": "A version of a template was published.",
  "template.rolled_back": "A former version of a template is in use again.",
  "template.archived": "A template was archived.",
  "test_clock.created": "A test clock was created.",
  "test_clock.advancing": "A test clock begins to advance.",
  "test_clock.advanced": "A test clock shows a later time.",
  "test_clock.ready": "All that was due on a test clock is done.",
  "test_clock.reset": "A test clock was set back with all its mail removed.",
  "test_clock.deleted": "A test clock was deleted.",
}

/** State of the recipient or the object after an event, as records and searches name it. */
const STATE: Partial<Record<DomainEvent.PublicType, string>> = {
  "email.queued": "queued",
  "email.sent": "sent",
  "email.delivered": "delivered",
  "email.delivery_delayed": "deferred",
  "email.bounced": "bounced",
  "email.complained": "complained",
  "email.failed": "failed",
  "email.suppressed": "suppressed",
  "email.canceled": "canceled",
  "domain.created": "pending",
  "domain.verified": "verified",
  "domain.degraded": "degraded",
  "domain.failed": "failed",
}

const EMAIL = {
  message_id: "<msg_01m7ynaym0e008000000000001@acme.test>",
  from: "Acme <hi@acme.test>",
  to: ["ana@example.org"],
  subject: "Your receipt",
  tags: ["receipt"],
  metadata: { order: "7041" },
}

const IDS: Readonly<Record<string, string>> = {
  email: "msg_01m7ynaym0e008000000000001",
  inbound: "inb_01m7ynaym0e008000000000001",
  domain: "dom_01m7ynaym0e008000000000001",
  api_key: "key_01m7ynaym0e008000000000001",
}

const payloadOf = (type: DomainEvent.PublicType): string => {
  const [tag] = DomainEvent.tagsOf(type)
  if (tag === undefined) throw new Error(`no event has the type ${type}`)
  const { data } = JSON.parse(readFileSync(new URL(`${tag}.v1.json`, FIXTURES), "utf8")) as { readonly data: object }
  const stream = Aggregates.streamOf(tag)
  if (stream === undefined) throw new Error(`no stream has ${tag}`)
  const event = {
    stream,
    stream_id: IDS[stream] ?? `${stream}_01m7ynaym0e008000000000001`,
    version: 2,
    data,
    meta: { actor: { type: "system", id: null } },
  }
  const shown = WebhookType.isWebhookType(type)
    ? WebhookPayload.native({
        event_id: "evt_01m7ynaym0e008000000000001",
        event_type: type,
        livemode: true,
        created_at: "2026-11-21T09:30:00.000Z",
        webhook_id: "",
        event,
        email: stream === "email" ? EMAIL : null,
      } as unknown as Parameters<typeof WebhookPayload.native>[0])
    : { object: "event", type, stream, stream_id: event.stream_id, version: 2, data }
  return JSON.stringify(shown)
}

const tableOf = (types: ReadonlyArray<DomainEvent.PublicType>): string => {
  const hasStates = types.some((type) => STATE[type] !== undefined)
  const head = ["event", "when", ...(hasStates ? ["state after it"] : [])]
  const rows = types.map((type) => {
    const state = STATE[type] === undefined ? "" : `\`${STATE[type]}\``
    return [`\`${type}\``, WHEN[type], ...(hasStates ? [state] : [])]
  })
  const lines = [head, ...rows].map((cells) => `| ${cells.join(" | ")} |`)
  return lines.toSpliced(1, 0, `|${head.map(() => "---|").join("")}`).join("\n")
}

const section = (title: string, types: ReadonlyArray<DomainEvent.PublicType>, how: string): ReadonlyArray<string> => [
  `## ${title}`,
  tableOf(types),
  how,
  ["```json", ...types.map(payloadOf), "```"].join("\n"),
]

/** Returns the text of the document. The site makes a page of each row of its tables and of the line with that type. */
export const written = (): string => {
  const types = (Object.keys(WHEN) as Array<DomainEvent.PublicType>).toSorted()
  const isSent = (type: DomainEvent.PublicType) => WebhookType.isWebhookType(type)
  return [
    "# Events",
    "<!-- Written by npm run generate. -->",
    "Each change of an account is an event in its log. [Receive webhooks](webhooks.md) explains how events are sent, signed and\nrepeated; `GET /v1/events` reads all of them in order. New types and new fields may appear: ignore those that you do not\nknow.",
    ...section(
      "Sent to webhooks",
      types.filter(isSent),
      "Sent as this body, with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`:",
    ),
    ...section(
      "Only in the log",
      types.filter((type) => !isSent(type)),
      "Not sent to webhooks. In `GET /v1/events`, shortened:",
    ),
    "",
  ]
    .join("\n\n")
    .replace(/\n+$/u, "\n")
}
