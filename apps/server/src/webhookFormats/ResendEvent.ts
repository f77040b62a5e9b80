import type * as Labels from "@waybill/domain/email/Labels"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import type { RecordSettings } from "../settings/Instance.ts"
import { presentDomain } from "../operate/presentDomain.ts"
import * as Uuids from "../requests/Uuids.ts"
import * as InboundRecords from "../inbound/InboundRecords.ts"
import * as ResendDomain from "./ResendDomain.ts"
import * as TestModeWords from "./TestModeWords.ts"
import * as ResendReceived from "./ResendReceived.ts"
import * as Tags from "./ResendTags.ts"

type Json = Readonly<Record<string, unknown>>

/** Returns the type of an event in Resend's webhooks, or `undefined` if Resend has no such event. */
export const typeOf = ({ event, event_type }: WebhookDeliveries.Dispatch): string | undefined => {
  // A test belongs to no service: every endpoint gets it.
  if (event_type === WebhookDeliveries.TEST_TYPE) return event_type
  return WebhookFormat.resendEventType(event_type, event !== null && event.data["scheduled_at"] !== null)
}

/**
 * Returns an event in the shape of Resend's webhooks, which is that of `WebhookEventPayload` in the package `resend`, and
 * whether it is about test mail, which Resend's has not.
 */
export const make = (dispatch: WebhookDeliveries.Dispatch, settings: RecordSettings): Json => {
  const { event, livemode } = dispatch
  return {
    type: typeOf(dispatch),
    ...TestModeWords.modeOf(livemode),
    created_at: WebhookDeliveries.occurredAt(dispatch),
    data: event === null ? {} : Uuids.spelled(dataOf(dispatch, event, settings)),
  }
}

const dataOf = (dispatch: WebhookDeliveries.Dispatch, event: Recorded, settings: RecordSettings): Json => {
  switch (event.stream) {
    case "domain":
      return dispatch.domain === null
        ? { id: event.stream_id }
        : ResendDomain.eventDataOf(presentDomain(dispatch.domain, settings))
    case "inbound":
      return ResendReceived.eventDataOf(InboundRecords.ofEvent(event.data, dispatch.livemode))
    case "suppression":
      return suppressionOf(dispatch, event)
    default:
      return { ...aboutEmail(dispatch, event), ...outcome(dispatch.event_type, event.data) }
  }
}

type Recorded = NonNullable<WebhookDeliveries.Dispatch["event"]>

/** A removal has the facts of what it removes. */
const suppressionOf = ({ removed }: WebhookDeliveries.Dispatch, { data }: Recorded): Json => {
  const { address, at, email_id = null, reason, suppression_id } = removed ?? data
  const origin = reason === "hard_bounce" ? "bounce" : reason === "complaint" ? reason : "manual"
  return { id: suppression_id, email: address, origin, source_id: email_id, created_at: at }
}

const aboutEmail = ({ email, headers }: WebhookDeliveries.Dispatch, { data, stream_id }: Recorded): Json => {
  const { recipient } = data
  if (email === null) return { email_id: stream_id }
  return {
    created_at: email["created_at"],
    email_id: stream_id,
    message_id: email["message_id"],
    from: email["from"],
    // An event about one of several recipients names that one, so that a bounce is not taken for all of them.
    to: typeof recipient === "string" ? [recipient] : email["to"],
    subject: email["subject"],
    tags: tagsOf(email),
    ...(Object.keys(headers).length === 0
      ? {}
      : { headers: Object.entries(headers).map(([name, value]) => ({ name, value })) }),
  }
}

const tagsOf = ({ metadata, tags }: Json): Json =>
  Object.fromEntries(
    Tags.of(tags as ReadonlyArray<string>, metadata as Labels.Metadata).map(({ name, value }) => [name, value]),
  )

const outcome = (type: string, facts: Json): Json => {
  switch (type) {
    case "email.bounced":
      return { bounce: bounceOf(facts) }
    case "email.failed":
      return { failed: { reason: textOf(facts, "Waybill could not deliver the email.") } }
    case "email.suppressed":
      return {
        suppressed: {
          message: `The recipient is on the suppression list of the account (${String(facts["reason"])}).`,
          type: "OnAccountSuppressionList",
        },
      }
    case "email.clicked":
      return {
        click: {
          ipAddress: facts["ip"] ?? "",
          link: facts["url"],
          timestamp: facts["at"],
          userAgent: facts["user_agent"] ?? "",
        },
      }
    default:
      return {}
  }
}

/** A hard bounce is permanent: programs stop sending to its address. All other bounces are about the email or its sender. */
const bounceOf = (facts: Json): Json => ({
  message: textOf(facts, "The recipient's server rejected the email."),
  subType: SUB_TYPES[String(facts["category"])] ?? "General",
  type: facts["bounce_type"] === "hard" ? "Permanent" : "Transient",
  diagnosticCode: diagnosticsOf(facts),
})

/** Returns the server's answer as reports about mail write it; a bounce without one has none. */
const diagnosticsOf = ({ code, enhanced_code, response }: Json): ReadonlyArray<string> => {
  const text = typeof response === "string" ? response : ""
  const enhanced = typeof enhanced_code === "string" && !text.includes(enhanced_code) ? enhanced_code : ""
  return typeof code === "number" ? [["smtp;", code, enhanced, text].filter((part) => part !== "").join(" ")] : []
}

const textOf = ({ category, response }: Json, otherwise: string): unknown => response ?? category ?? otherwise

const SUB_TYPES: Readonly<Record<string, string>> = {
  mailbox_full: "MailboxFull",
  too_large: "MessageTooLarge",
  content: "ContentRejected",
}
