import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import * as Livemode from "./Livemode.ts"
import * as Page from "./Page.ts"

const at = Timestamp.Timestamp
const headers = Schema.Record(Schema.String, Schema.String)

/** Characters of a response that lists show. */
export const LAST_ANSWER_CHARS = 200

/** One call of a webhook: request and response. */
const Attempt = Schema.Struct({
  at,
  url: Schema.String,
  address: Schema.NullOr(Schema.String).annotate({ description: "The IP address that the host name resolved to" }),
  request_headers: headers,
  status: Schema.NullOr(Schema.Int),
  response_headers: headers,
  response_body: Schema.NullOr(Schema.String).annotate({ description: "The first 4 KB" }),
  duration_ms: Schema.Natural,
  error: Schema.NullOr(Schema.String).annotate({ description: "Why there was no complete response" }),
  called: Schema.optionalKey(Schema.Literal(false)).annotate({
    description:
      "`false` if nothing was called, such as for a disabled webhook; `error` says why. It does not count as an attempt. Absent otherwise",
  }),
}).annotate({ identifier: "WebhookAttempt" })

export const Status = Schema.Literals(["pending", "delivered", "failed"])

const fields = {
  object: Schema.Literal("webhook_delivery"),
  id: Id.WebhookDeliveryId,
  webhook_id: Id.WebhookId,
  event_id: Id.EventId,
  event_type: Schema.String.annotate({ examples: ["email.delivered"] }),
  livemode: Livemode.field("False for an event of test mail"),
  status: Status.annotate({
    description: "`pending` until a call is accepted (`delivered`) or the delivery is given up (`failed`)",
  }),
  attempts: Schema.Natural.annotate({ description: "Calls that were made" }),
  created_at: at,
  next_attempt_at: Schema.NullOr(at).annotate({
    description:
      "When the next call is due; `null` if none is. While the endpoint is at its limit of simultaneous calls, which is lower while it does not answer, other calls are held: their time is moved on by seconds to five minutes",
  }),
  delivered_at: Schema.NullOr(at),
  last_status: Schema.NullOr(Schema.Int).annotate({
    description: "HTTP status of the last call that was made; `null` if there was none, or no response",
  }),
  last_answer: Schema.NullOr(Schema.String).annotate({
    description: `The first ${LAST_ANSWER_CHARS} characters of the last response, or why there was none, or why nothing was called; \`null\` if it was empty`,
  }),
  email_id: Schema.NullOr(Id.EmailId).annotate({
    description: "The email that the event is about; `null` for other events",
  }),
  recipient: Schema.NullOr(Schema.String).annotate({
    description:
      "The recipient that the event is about, or the first one of its email; `null` for events that are not about an email",
  }),
}

export const Delivery = Schema.Struct(fields).annotate({ identifier: "WebhookDelivery" })
export type Delivery = typeof Delivery.Type

export const DeliveryDetail = Schema.Struct({
  ...fields,
  request_body: Schema.String.annotate({
    description:
      "The body of an attempt now: the event as JSON, in the webhook's format; empty if that format has no such event",
  }),
  history: Schema.Array(Attempt).annotate({ description: "Every attempt, oldest first, and why a call was not made" }),
}).annotate({ identifier: "WebhookDeliveryDetail" })
export type DeliveryDetail = typeof DeliveryDetail.Type

export const Replay = Schema.Struct({
  object: Schema.Literal("webhook_replay"),
  webhook_id: Id.WebhookId,
  queued: Schema.Natural.annotate({ description: "Number of queued calls" }),
  has_more: Schema.Boolean.annotate({
    description: "Whether the range has more events than one replay takes; continue with `next_position`",
  }),
  next_position: Schema.NullOr(Page.Position).annotate({
    description: "The `after_position` of the next replay of this range; `null` if all of it is queued",
  }),
}).annotate({ identifier: "WebhookReplay" })
