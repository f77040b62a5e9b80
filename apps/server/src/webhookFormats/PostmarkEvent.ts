import * as Uuid from "@waybill/domain/values/Uuid"
import type { Reason } from "@waybill/domain/suppression/SuppressionState"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as InboundRecords from "../inbound/InboundRecords.ts"
import * as Bounce from "./PostmarkBounce.ts"
import * as PostmarkInbound from "./PostmarkInbound.ts"
import * as Reader from "./PostmarkReader.ts"
import * as Words from "./PostmarkWords.ts"
import * as TestModeWords from "./TestModeWords.ts"

type Json = Readonly<Record<string, unknown>>

/** Returns the type of the record in Postmark's webhooks, or `undefined` if Postmark has no such event. */
export const typeOf = ({ event_type }: WebhookDeliveries.Dispatch): string | undefined =>
  // A test belongs to no service: every endpoint gets it.
  event_type === WebhookDeliveries.TEST_TYPE ? event_type : WebhookFormat.postmarkType(event_type)

/**
 * Returns an event in the shape of Postmark's webhooks, which is that of `BounceWebhook` and its siblings in the package
 * `postmark`, and whether it is about test mail, which Postmark's has not.
 */
export const make = (dispatch: WebhookDeliveries.Dispatch): Json => {
  const { event, livemode } = dispatch
  const base = {
    RecordType: typeOf(dispatch),
    MessageStream: Words.STREAM,
    ServerID: Words.SERVER_ID,
    ...TestModeWords.modeOf(livemode),
  }
  if (event === null) return base
  if (event.stream === "inbound")
    return {
      ...PostmarkInbound.fieldsOf(InboundRecords.ofEvent(event.data, livemode)),
      ...TestModeWords.modeOf(livemode),
    }
  const { Metadata, Tag } = Words.labelsOf({ ...Words.UNLABELED, ...dispatch.email })
  const id = event.stream === "email" ? event.stream_id : event.data["email_id"]
  const MessageID = typeof id === "string" ? Uuid.of(id) : null
  const labels = event.stream === "email" ? { Tag, Metadata } : { Metadata: {} }
  return { ...base, ...outcome(dispatch, event), MessageID: MessageID ?? "", ...labels }
}

type Recorded = NonNullable<WebhookDeliveries.Dispatch["event"]>

const outcome = (dispatch: WebhookDeliveries.Dispatch, { data }: Recorded): Json => {
  const at = WebhookDeliveries.occurredAt(dispatch)
  const Recipient = data["recipient"] ?? ""
  switch (dispatch.event_type) {
    case "email.delivered":
      return { Recipient, DeliveredAt: at, Details: Words.detailsOf(data) }
    case "email.bounced":
      return bounceOf(dispatch, data, "bounced")
    case "email.failed":
      return bounceOf(dispatch, data, "failed")
    case "email.complained":
      return { ...bounceOf(dispatch, data, "complained"), RecordType: "SpamComplaint" }
    case "email.opened":
      return { Recipient, ReceivedAt: at, FirstOpen: dispatch.is_first, ReadSeconds: 0, ...Reader.of(data) }
    case "email.clicked":
      return { Recipient, ReceivedAt: at, OriginalLink: data["url"], ClickLocation: "HTML", ...Reader.of(data) }
    case "suppression.added":
      return {
        Recipient: data["address"],
        ChangedAt: at,
        SuppressSending: true,
        ...Words.SUPPRESSIONS[data["reason"] as Reason],
      }
    default:
      return {
        Recipient: data["address"],
        ChangedAt: at,
        SuppressSending: false,
        SuppressionReason: null,
        Origin: "Customer",
      }
  }
}

const bounceOf = (dispatch: WebhookDeliveries.Dispatch, data: Json, status: Bounce.Outcome["status"]): Json => {
  const { email, event } = dispatch
  const { category = null, code = null, recipient, response = null } = data
  const record = { ...Words.UNLABELED, ...email, id: event?.stream_id } as unknown as Bounce.Message & {
    readonly recipients?: ReadonlyArray<{ readonly address: string }>
  }
  const nth = record.recipients?.findIndex(({ address }) => address === recipient) ?? 0
  const at = WebhookDeliveries.occurredAt(dispatch)
  return Bounce.of(record, nth, recipient as string, { status, category, code, response, at } as Bounce.Outcome)
}
