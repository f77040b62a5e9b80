import * as Id from "@waybill/domain/Id"
import * as Timestamp from "@waybill/domain/Timestamp"
import * as Webhook from "@waybill/domain/Webhook"
import * as WebhookUrl from "@waybill/domain/WebhookUrl"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "./ApiError.ts"
import { Authorization } from "./Authorization.ts"
import { about } from "./Endpoint.ts"
import * as Idempotency from "./Idempotency.ts"
import { optional } from "./Optional.ts"
import * as Page from "./Page.ts"
import * as Rules from "./Rules.ts"
import { Validation } from "./Validation.ts"
import { Delivery, DeliveryDetail, Replay } from "./WebhookDelivery.ts"

/** Subscriptions to more than all types cannot be. */
export const MAX_EVENTS = 50

const at = Timestamp.Timestamp

const fields = {
  object: Schema.Literal("webhook"),
  id: Id.WebhookId,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  description: Schema.NullOr(Schema.String),
  enabled: Schema.Boolean,
  disabled_reason: Schema.NullOr(Webhook.DisabledReason),
  created_at: at,
  updated_at: at,
}

export const WebhookRecord = Schema.Struct(fields).annotate({ identifier: "Webhook" })
export type WebhookRecord = typeof WebhookRecord.Type

export const WithSecret = Schema.Struct({
  ...fields,
  secret: Schema.String.annotate({
    description: "Verifies signatures (Standard Webhooks). Shown at creation and rotation only.",
    examples: ["whsec_…"],
  }),
}).annotate({ identifier: "WebhookWithSecret" })

export const Deleted = Schema.Struct({
  object: Schema.Literal("webhook"),
  id: Id.WebhookId,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "WebhookDeleted" })

const events = Schema.Array(Webhook.Subscription).check(Rules.items(1, MAX_EVENTS, "types"))
const Description = Webhook.Description

const Creation = Schema.Struct({
  url: WebhookUrl.FromText,
  events: events.annotate({ description: "Types to be called for, or `*` for all" }),
  description: optional(Description, "For people"),
  enabled: optional(Schema.Boolean, "`true` unless said otherwise"),
}).annotate({ identifier: "WebhookCreation" })

const Change = Schema.Struct({
  url: Schema.optionalKey(WebhookUrl.FromText),
  events: Schema.optionalKey(events),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  enabled: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "WebhookChange", description: "What is absent stays as it is" })

const Range = Schema.Struct({
  created_after: Timestamp.FromIso,
  created_before: Timestamp.FromIso,
  after_position: optional(Page.From, "Goes on with a range: the `next_position` of the replay before"),
  events: optional(events, "Only these types; all that the webhook subscribes to unless said otherwise"),
})
  .check(
    Schema.makeFilter(
      ({ created_after, created_before }) =>
        created_after < created_before || { path: ["created_before"], issue: "must lie after `created_after`" },
    ),
  )
  .annotate({ identifier: "WebhookReplayRange" })

const params = { id: Id.WebhookId }
const deliveryParams = { id: Id.WebhookId, delivery_id: Id.WebhookDeliveryId }
const headers = Idempotency.headers
const scope = "webhooks:manage"
const accepted = HttpApiSchema.status(202)

export class Webhooks extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("list", "/webhooks", { success: Page.of(WebhookRecord) }).annotateMerge(
      about("List webhooks", scope, "All webhooks of the account, newest first."),
    ),
    HttpApiEndpoint.get("get", "/webhooks/:id", { params, success: WebhookRecord }).annotateMerge(
      about("Get a webhook", scope, "Its record; the secret is not shown again."),
    ),
    HttpApiEndpoint.post("create", "/webhooks", {
      headers,
      payload: Creation,
      success: Idempotency.replayable(WithSecret.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Create a webhook",
        scope,
        `Its URL is called for every event of the types it subscribes to, signed with the secret that is shown here. At most ${Webhook.MAX_WEBHOOKS} for an account, else 422 \`too_many_webhooks\`.`,
      ),
    ),
    HttpApiEndpoint.patch("update", "/webhooks/:id", {
      params,
      payload: Change,
      success: WebhookRecord,
      error: ApiError.Unprocessable,
    }).annotateMerge(about("Change a webhook", scope, "Its URL, types, description, and whether it is called.")),
    HttpApiEndpoint.delete("remove", "/webhooks/:id", { params, success: Deleted }).annotateMerge(
      about("Delete a webhook", scope, "It is not called any more."),
    ),
    HttpApiEndpoint.post("test", "/webhooks/:id/test", {
      params,
      headers,
      success: Idempotency.replayable(Delivery.pipe(accepted)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Test a webhook",
        scope,
        "Queues a call with a made-up event; the answer is its delivery, to be looked at again.",
      ),
    ),
    HttpApiEndpoint.post("rotateSecret", "/webhooks/:id/rotate-secret", {
      params,
      headers,
      success: Idempotency.replayable(WithSecret),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about("Rotate a webhook's secret", scope, "The old secret signs beside the new one for 24 hours."),
    ),
    HttpApiEndpoint.get("deliveries", "/webhooks/:id/deliveries", {
      params,
      query: { limit: Page.limit(), after: Schema.optionalKey(Id.WebhookDeliveryId) },
      success: Page.of(Delivery),
    }).annotateMerge(about("List a webhook's deliveries", scope, "Newest first.")),
    HttpApiEndpoint.get("delivery", "/webhooks/:id/deliveries/:delivery_id", {
      params: deliveryParams,
      success: DeliveryDetail,
    }).annotateMerge(about("Get a webhook delivery", scope, "With what was sent and every attempt.")),
    HttpApiEndpoint.post("replayDelivery", "/webhooks/:id/deliveries/:delivery_id/replay", {
      params: deliveryParams,
      headers,
      success: Idempotency.replayable(Delivery.pipe(accepted)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about("Replay a webhook delivery", scope, "Queues it once more, with the same event and the same `webhook-id`."),
    ),
    HttpApiEndpoint.post("replay", "/webhooks/:id/replay", {
      params,
      headers,
      payload: Range,
      success: Idempotency.replayable(Replay.pipe(accepted)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Replay a range of events",
        scope,
        "Also for a webhook that is younger than the events. Where one replay does not take the whole range, the next goes on at `next_position`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Webhooks", description: "Where events are pushed to." })) {}
