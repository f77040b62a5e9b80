import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as WebhookState from "@waybill/domain/webhook/WebhookState"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Page from "../schemas/Page.ts"
import * as Checks from "../schemas/Checks.ts"
import { Validation } from "../middleware/Validation.ts"
import * as WebhookDelivery from "../schemas/WebhookDelivery.ts"

/** Above the number of types that exist. */
export const MAX_EVENTS = 50

const at = Timestamp.Timestamp

const SVIX_HEADERS =
  "Whether calls have the headers `svix-id`, `svix-timestamp` and `svix-signature` beside `webhook-*`, with the same values"

const INCLUDE_RAW =
  "Whether calls for received mail in the formats `postmark` and `sendgrid` have the mail as it came, as `RawEmail` or `email`"

const fields = {
  object: Schema.Literal("webhook"),
  id: Id.WebhookId,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  description: Schema.NullOr(Schema.String),
  format: WebhookFormat.Format,
  svix_headers: Schema.Boolean.annotate({ description: SVIX_HEADERS }),
  include_raw: Schema.optionalKey(Schema.Literal(true)).annotate({ description: `${INCLUDE_RAW}. Absent if not` }),
  enabled: Schema.Boolean,
  disabled_reason: Schema.NullOr(WebhookState.DisabledReason),
  public_key: Schema.NullOr(Schema.String).annotate({
    description:
      "Verifies the signatures of the format `sendgrid` (ECDSA, SPKI in base64), until the secret is rotated; `null` for other formats",
  }),
  created_at: at,
  updated_at: at,
}

export const WebhookRecord = Schema.Struct(fields).annotate({ identifier: "Webhook" })
export type WebhookRecord = typeof WebhookRecord.Type

/** A webhook with what its endpoint answered. */
export const ListedWebhook = Schema.Struct({
  ...fields,
  failing_since: Schema.NullOr(at).annotate({
    description:
      "Time of the first failed call after the last successful one, once it is five minutes ago; `null` while the endpoint accepts calls",
  }),
  last_call: Schema.NullOr(
    Schema.Struct({
      delivery_id: Id.WebhookDeliveryId,
      at,
      status: Schema.NullOr(Schema.Int).annotate({
        description: "HTTP status of the response; `null` if there was none",
      }),
      duration_ms: Schema.Natural,
      error: Schema.NullOr(Schema.String).annotate({ description: "Why there was no complete response" }),
      answer: Schema.NullOr(Schema.String).annotate({
        description: `The first ${WebhookDelivery.LAST_ANSWER_CHARS} characters of the response; \`null\` if it was empty`,
      }),
    }),
  ).annotate({
    description:
      "The last call; `null` if there was none. Calls that failed are found among the newest 200 deliveries that were called, accepted ones among the newest 10,000, in a list 1,000",
  }),
}).annotate({ identifier: "ListedWebhook" })
export type ListedWebhook = typeof ListedWebhook.Type

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

const events = Schema.Array(WebhookState.Subscription).check(Checks.items(1, MAX_EVENTS, "types"))
const Description = Webhook.Description

const Creation = Schema.Struct({
  url: WebhookUrl.FromText,
  events: events.annotate({ description: "Event types to receive, or `*` for all, including future ones" }),
  description: optional(Description, "Optional description"),
  format: optional(
    WebhookFormat.Format,
    "Payload of the calls: Waybill's own (`waybill`, by default), or that of another service, which has fewer events",
  ),
  svix_headers: optional(Schema.Boolean, `${SVIX_HEADERS}. \`true\` by default for the format \`resend\``),
  include_raw: optional(Schema.Boolean, INCLUDE_RAW),
  enabled: optional(Schema.Boolean, "`true` by default"),
})
  .check(
    Schema.makeFilter(({ events, format }) => {
      const nth = events.findIndex((type) => !WebhookFormat.has(format ?? WebhookFormat.DEFAULT_FORMAT, type))
      return nth < 0 || { path: ["events", nth], issue: `is not an event of the format \`${format}\`` }
    }),
  )
  .annotate({ identifier: "WebhookCreation" })

const Change = Schema.Struct({
  url: Schema.optionalKey(WebhookUrl.FromText),
  events: Schema.optionalKey(events),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  format: Schema.optionalKey(WebhookFormat.Format),
  svix_headers: Schema.optionalKey(Schema.Boolean.annotate({ description: SVIX_HEADERS })),
  include_raw: Schema.optionalKey(Schema.Boolean.annotate({ description: INCLUDE_RAW })),
  enabled: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "WebhookChange", description: "Fields that are left out stay as they are" })

const Range = Schema.Struct({
  created_after: Timestamp.FromIso,
  created_before: Timestamp.FromIso,
  after_position: optional(Page.From, "Continues a range: the `next_position` of the previous replay"),
  events: optional(events, "Only these types; by default all that the webhook subscribes to"),
})
  .check(
    Schema.makeFilter(
      ({ created_after, created_before }) =>
        created_after < created_before || { path: ["created_before"], issue: "must be after `created_after`" },
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
    HttpApiEndpoint.get("list", "/webhooks", { success: Page.of(ListedWebhook) }).annotateMerge(
      annotate("List webhooks", scope, "All webhooks of the account, newest first."),
    ),
    HttpApiEndpoint.get("get", "/webhooks/:id", { params, success: ListedWebhook }).annotateMerge(
      annotate("Get a webhook", scope, "The record of the webhook, without the secret."),
    ),
    HttpApiEndpoint.post("create", "/webhooks", {
      headers,
      payload: Creation,
      success: Idempotency.replayable(WithSecret.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Create a webhook",
        scope,
        `The URL is called for every event of the subscribed types, signed with the secret in this response. An account has at most ${Webhook.MAX_WEBHOOKS} webhooks, else 422 \`too_many_webhooks\`.`,
      ),
    ),
    HttpApiEndpoint.patch("update", "/webhooks/:id", {
      params,
      payload: Change,
      success: WebhookRecord,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Update a webhook",
        scope,
        "Changes URL, event types, description, format, headers, and whether the webhook is enabled.",
      ),
    ),
    HttpApiEndpoint.delete("remove", "/webhooks/:id", { params, success: Deleted }).annotateMerge(
      annotate("Delete a webhook", scope, "The URL is no longer called."),
    ),
    HttpApiEndpoint.post("test", "/webhooks/:id/test", {
      params,
      headers,
      success: Idempotency.replayable(WebhookDelivery.Delivery.pipe(accepted)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Test a webhook",
        scope,
        "Queues a call with a test event. The response is its delivery, whose status can be queried.",
      ),
    ),
    HttpApiEndpoint.post("rotateSecret", "/webhooks/:id/rotate-secret", {
      params,
      headers,
      success: Idempotency.replayable(WithSecret),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate("Rotate a webhook's secret", scope, "For 24 hours, calls are signed with the old and the new secret."),
    ),
    HttpApiEndpoint.get("deliveries", "/webhooks/:id/deliveries", {
      params,
      query: {
        limit: Page.limit(),
        after: Schema.optionalKey(Id.WebhookDeliveryId),
        status: Schema.optionalKey(WebhookDelivery.Status),
        called: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({
            description:
              "`true` lists deliveries for which the endpoint was called, `false` those for which it was not",
          }),
        ),
        email_id: Schema.optionalKey(Id.EmailId),
      },
      success: Page.of(WebhookDelivery.Delivery),
    }).annotateMerge(
      annotate(
        "List a webhook's deliveries",
        scope,
        "Newest first. With `email_id`, those of the events of one email. With `status` or `called`, a page may hold fewer than `limit` and still have `has_more`.",
      ),
    ),
    HttpApiEndpoint.get("delivery", "/webhooks/:id/deliveries/:delivery_id", {
      params: deliveryParams,
      success: WebhookDelivery.DeliveryDetail,
    }).annotateMerge(
      annotate("Get a webhook delivery", scope, "The delivery with the request body and every attempt."),
    ),
    HttpApiEndpoint.post("replayDelivery", "/webhooks/:id/deliveries/:delivery_id/replay", {
      params: deliveryParams,
      headers,
      success: Idempotency.replayable(WebhookDelivery.Delivery.pipe(accepted)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Replay a webhook delivery",
        scope,
        "Queues the delivery again, with the same event and the same `webhook-id`.",
      ),
    ),
    HttpApiEndpoint.post("replay", "/webhooks/:id/replay", {
      params,
      headers,
      payload: Range,
      success: Idempotency.replayable(WebhookDelivery.Replay.pipe(accepted)),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Replay a range of events",
        scope,
        "The events may be older than the webhook. If one replay does not cover the whole range, continue with `next_position`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Signed event notifications, retried for about 28 hours until your endpoint accepts them.",
    }),
  ) {}
