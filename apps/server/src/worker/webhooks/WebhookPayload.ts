import type * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import type { RecordSettings } from "../../settings/Instance.ts"
import * as InboundRecords from "../../inbound/InboundRecords.ts"
import * as PostmarkEvent from "../../webhookFormats/PostmarkEvent.ts"
import * as ResendEvent from "../../webhookFormats/ResendEvent.ts"
import * as SendGridEvent from "../../webhookFormats/SendGridEvent.ts"

/** Version of the payload. Fields may be added within a version, but none is changed or removed. */
export const API_VERSION = "v1"

type Json = Readonly<Record<string, unknown>>

/** Whether the format of the webhook has this event. */
export const isInFormat = (dispatch: WebhookDeliveries.Dispatch): boolean => FORMATS[dispatch.format].has(dispatch)

/**
 * Returns the body of a call, in the format that the webhook has now; empty if that format has no such event. It is built
 * from the log at dispatch, so that a replay of last month's event has last month's facts. The DNS records of a domain
 * follow from the settings too.
 */
export const bodyOf = (dispatch: WebhookDeliveries.Dispatch, settings: RecordSettings): string =>
  isInFormat(dispatch) ? JSON.stringify(FORMATS[dispatch.format].make(dispatch, settings)) : ""

/** The parts of a delivery that Waybill's own format is made from. */
type Fact = Pick<
  WebhookDeliveries.Dispatch,
  "event_id" | "event_type" | "livemode" | "created_at" | "webhook_id" | "event" | "email"
>

/** Returns the payload in Waybill's own format. */
export const native = (dispatch: Fact): Json => ({
  id: dispatch.event_id,
  type: dispatch.event_type,
  api_version: API_VERSION,
  livemode: dispatch.livemode,
  created_at: WebhookDeliveries.occurredAt(dispatch),
  // Orders the events of one object. The position in the log would reveal how much other accounts send.
  sequence: dispatch.event === null ? null : dispatch.event.version,
  data: data(dispatch),
})

const data = ({ email, event, event_type, livemode, webhook_id }: Fact): Json => {
  if (event === null) return event_type === WebhookDeliveries.TEST_TYPE ? { webhook_id, test: true } : {}
  switch (event.stream) {
    case "email":
      return { ...aboutEmail(event.stream_id, email), ...outcome(event_type, event.data), actor: event.meta.actor }
    case "inbound": {
      if (event_type !== "email.received") return { ...event.data, actor: event.meta.actor }
      return InboundRecords.ofEvent(event.data, livemode)
    }
    case "inbound_route":
      return { route_id: event.stream_id, ...event.data, actor: event.meta.actor }
    case "api_key":
      return { key_id: event.stream_id, ...without(event.data, ["hash"]), actor: event.meta.actor }
    case "domain":
      return { domain_id: event.stream_id, ...without(event.data, ["dkim"]), actor: event.meta.actor }
    default:
      return { ...event.data, actor: event.meta.actor }
  }
}

const aboutEmail = (email_id: string, email: Json | null): Json =>
  email === null
    ? { email_id }
    : {
        email_id,
        message_id: email["message_id"],
        from: email["from"],
        to: email["to"],
        subject: email["subject"],
        tags: email["tags"],
        metadata: email["metadata"],
      }

const BOUNCED: ReadonlyArray<string> = ["email.bounced", "email.failed", "email.delivery_delayed"]

const outcome = (type: string, facts: Json): Json => {
  // The other facts of the acceptance are in the fields of the message.
  if (type === "email.queued") return { scheduled_at: facts["scheduled_at"] }
  if (!BOUNCED.includes(type)) return without(facts, ["at"])
  const { bounce_type, category, code, enhanced_code, recipient, response, ...rest } = facts
  return {
    recipient,
    bounce: { type: bounce_type ?? "transient", code, enhanced_code, category, message: response },
    ...without(rest, ["at"]),
  }
}

const without = (facts: Json, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => !names.includes(name)))

const FORMATS: {
  readonly [F in WebhookFormat.Format]: {
    readonly has: (dispatch: WebhookDeliveries.Dispatch) => boolean
    readonly make: (dispatch: WebhookDeliveries.Dispatch, settings: RecordSettings) => Json | ReadonlyArray<Json>
  }
} = {
  waybill: { has: () => true, make: native },
  resend: { has: (dispatch) => ResendEvent.typeOf(dispatch) !== undefined, make: ResendEvent.make },
  postmark: { has: (dispatch) => PostmarkEvent.typeOf(dispatch) !== undefined, make: PostmarkEvent.make },
  sendgrid: { has: (dispatch) => SendGridEvent.typeOf(dispatch) !== undefined, make: SendGridEvent.make },
}
