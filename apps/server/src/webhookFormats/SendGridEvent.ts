import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import type { Reason } from "@waybill/domain/suppression/SuppressionState"
import * as Table from "@waybill/domain/values/Table"
import * as Labels from "@waybill/domain/email/Labels"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as InboundRecords from "../inbound/InboundRecords.ts"
import * as SendGridInbound from "./SendGridInbound.ts"
import * as Words from "./PostmarkWords.ts"
import * as TestModeWords from "./TestModeWords.ts"

type Json = Readonly<Record<string, unknown>>

/** Returns the name of an event in SendGrid's webhooks, or `undefined` if SendGrid has no such event. */
export const typeOf = ({ event, event_type }: WebhookDeliveries.Dispatch): string | undefined => {
  // A test belongs to no service: every endpoint gets it.
  if (event_type === WebhookDeliveries.TEST_TYPE) return event_type
  return WebhookFormat.sendGridType(event_type, {
    isScheduled: false,
    isUnsubscribe: event?.data["reason"] === "unsubscribe",
  })
}

/**
 * Returns an event in the shape of SendGrid's event webhook: a list with an event for each recipient, each with whether it is
 * about test mail, which SendGrid's has not.
 */
export const make = (dispatch: WebhookDeliveries.Dispatch): Json | ReadonlyArray<Json> => {
  const { email, event, event_id, livemode } = dispatch
  const name = typeOf(dispatch)
  const at = Timestamp.toMillis(String(WebhookDeliveries.occurredAt(dispatch)) as Timestamp.Timestamp)
  const base = { event: name, timestamp: Math.floor(at / Timestamp.SECOND), ...TestModeWords.modeOf(livemode) }
  if (event === null) return [{ email: "", ...base, sg_event_id: event_id }]
  // The call has a form of these fields, and those of the content.
  if (event.stream === "inbound") return SendGridInbound.fieldsOf(InboundRecords.ofEvent(event.data, livemode))
  const { metadata, tags } = { ...Words.UNLABELED, ...email } as Words.Labeled
  const categories = Labels.labelsOf(tags, metadata)
  const about = {
    // The names of arguments are the sender's, and take the place of nothing else.
    ...Labels.pairsOf(metadata),
    ...(categories.length === 0 ? {} : { category: categories }),
    ...base,
    ...(email === null ? {} : { "smtp-id": email["message_id"] }),
    ...messageOf(event),
    ...outcome(dispatch.event_type, event.data),
  }
  return recipientsOf(dispatch, event.data).map((address, nth) => ({
    ...about,
    email: address,
    sg_event_id: nth === 0 ? event_id : `${event_id}.${nth}`,
  }))
}

type Recorded = NonNullable<WebhookDeliveries.Dispatch["event"]>

/** The id of an email is the one that the answer to its send had, as `X-Message-Id`. */
const messageOf = ({ data, stream, stream_id }: Recorded): Json => {
  const id = stream === "email" ? stream_id : data["email_id"]
  return typeof id === "string" ? { sg_message_id: id } : {}
}

/** An email is accepted for all its recipients at once; of an open or a click of a shared copy, nobody knows by whom. */
const recipientsOf = ({ email, event_type }: WebhookDeliveries.Dispatch, data: Json): ReadonlyArray<unknown> => {
  const all = (email?.["recipients"] ?? []) as ReadonlyArray<{ readonly address: string }>
  return event_type === "email.queued"
    ? all.map(({ address }) => address)
    : [data["recipient"] ?? data["address"] ?? ""]
}

const outcome = (type: string, data: Json): Json => {
  switch (type) {
    case "email.queued": {
      const { scheduled_at } = data
      const seconds = Timestamp.toMillis(String(scheduled_at) as Timestamp.Timestamp) / Timestamp.SECOND
      return scheduled_at === null ? {} : { send_at: Math.floor(seconds) }
    }
    case "email.delivered":
      return { response: Words.detailsOf(data), ...tlsOf(data) }
    case "email.delivery_delayed":
      return { response: Words.detailsOf(data), attempt: String(data["attempt"]), ...tlsOf(data) }
    case "email.bounced":
    case "email.failed":
      return bounceOf(type, data)
    case "email.suppressed":
      return { reason: DROPPED[data["reason"] as Reason] }
    case "email.opened":
      return readerOf(data)
    case "email.clicked":
      return { ...readerOf(data), url: data["url"] }
    default:
      return {}
  }
}

/** A `bounce` suppresses its recipient, a `blocked` one does not. */
const bounceOf = (type: string, data: Json): Json => {
  const { category, enhanced_code } = data
  const isHard = type === "email.bounced" && DeliveryOutcome.bounceType(category as string | null) === "hard"
  return {
    type: isHard ? "bounce" : "blocked",
    reason: Words.detailsOf(data) || String(category ?? ""),
    ...(typeof enhanced_code === "string" ? { status: enhanced_code } : {}),
    bounce_classification: Table.at(CLASSIFICATIONS, String(category)) ?? "Unclassified",
    ...tlsOf(data),
  }
}

const tlsOf = ({ tls }: Json): Json => (typeof tls === "string" ? { tls: 1 } : {})

const readerOf = ({ ip, user_agent }: Json): Json => ({ useragent: user_agent ?? "", ip: ip ?? "" })

/** SendGrid's reasons of an email that it did not try to deliver. */
const DROPPED: { readonly [R in Reason]: string } = {
  hard_bounce: "Bounced Address",
  complaint: "Spam Reporting Address",
  unsubscribe: "Unsubscribed Address",
  manual: "Unsubscribed Address",
}

const CLASSIFICATIONS: Readonly<Record<string, string>> = {
  invalid_recipient: "Invalid Address",
  bad_domain: "Invalid Address",
  mailbox_inactive: "Mailbox Unavailable",
  mailbox_full: "Mailbox Unavailable",
  content: "Content",
  too_large: "Content",
  blocked: "Reputation",
  policy: "Reputation",
  throttled: "Frequency/Volume",
  greylisted: "Frequency/Volume",
  auth: "Technical",
  protocol: "Technical",
  connection: "Technical",
  tls: "Technical",
  dane: "Technical",
  dns: "Technical",
}
