import * as Id from "@waybill/domain/Id"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Schema } from "effect"

const at = Timestamp.Timestamp

/** One call, and how it ended. */
const Attempt = Schema.Struct({
  number: Schema.Natural,
  at,
  status_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String).annotate({ description: "Why there was no answer" }),
  duration_ms: Schema.NullOr(Schema.Natural),
  response: Schema.NullOr(Schema.String).annotate({ description: "The first 4 KB of the answer" }),
}).annotate({ identifier: "WebhookAttempt" })

const fields = {
  object: Schema.Literal("webhook_delivery"),
  id: Id.WebhookDeliveryId,
  webhook_id: Id.WebhookId,
  event_id: Schema.NullOr(Id.EventId).annotate({ description: "The event it is about; also the `webhook-id` header" }),
  type: Schema.String.annotate({ examples: ["email.delivered"] }),
  status: Schema.Literals(["pending", "delivered", "failed"]),
  attempts: Schema.Natural,
  created_at: at,
  last_attempt_at: Schema.NullOr(at),
  next_attempt_at: Schema.NullOr(at),
  delivered_at: Schema.NullOr(at),
  last_status_code: Schema.NullOr(Schema.Int),
}

export const Delivery = Schema.Struct(fields).annotate({ identifier: "WebhookDelivery" })
export type Delivery = typeof Delivery.Type

export const DeliveryDetail = Schema.Struct({
  ...fields,
  payload: Schema.NullOr(Schema.Record(Schema.String, Schema.Json)).annotate({ description: "The body that is sent" }),
  log: Schema.Array(Attempt),
}).annotate({ identifier: "WebhookDeliveryDetail" })
export type DeliveryDetail = typeof DeliveryDetail.Type

export const Replay = Schema.Struct({
  object: Schema.Literal("webhook_replay"),
  webhook_id: Id.WebhookId,
  queued: Schema.Natural.annotate({ description: "How many calls were queued" }),
}).annotate({ identifier: "WebhookReplay" })
