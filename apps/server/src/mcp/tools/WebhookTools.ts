import * as Operate from "@waybill/api/groups/Operate"
import type { Webhook, WebhookAttempt, WebhookDelivery } from "@waybill/client/Waybill"
import * as Id from "@waybill/domain/values/Id"
import { Effect, Schema } from "effect"
import { clipped, listed } from "./ToolAnswer.ts"
import * as EmailTools from "./EmailTools.ts"
import { ask, tool, untrusted } from "./Tool.ts"

const MAX_DELIVERIES = 50
const DEFAULT_DELIVERIES = 20
/** Maximum length of the response of an endpoint. */
const MAX_RESPONSE_CHARS = 300

const text = Schema.String
const { optional } = Schema

const webhooks = tool({
  name: "list_webhooks",
  title: "List webhooks",
  description: "Lists the webhooks with their event types, and whether and why one is disabled.",
  input: Operate.Nothing,
  row: Schema.Struct({
    id: text,
    origin: text,
    description: optional(text),
    events: Schema.Array(text),
    format: text,
    enabled: Schema.Boolean,
    disabled_reason: optional(text),
    created_at: text,
  }),
  run: (waybill) =>
    ask(() => waybill.webhooks.list()).pipe(
      Effect.map(({ data }) => ({
        summary: data.length === 0 ? "There are no webhooks." : `${data.length} webhooks.`,
        rows: data.map(webhookRow),
      })),
    ),
})

const webhookRow = ({ created_at, description, disabled_reason, enabled, events, format, id, url }: Webhook) => ({
  id,
  origin: originOf(url),
  description: description === null ? undefined : clipped(description),
  events: listed(events),
  format,
  enabled,
  disabled_reason: disabled_reason ?? undefined,
  created_at,
})

/** Returns a URL without path and query, because those of some services are secret. */
const originOf = (url: string): string => URL.parse(url)?.origin ?? ""

const deliveries = tool({
  name: "list_webhook_deliveries",
  title: "List a webhook's deliveries",
  description: "Lists the calls of one webhook, newest first, with their state and number of attempts.",
  input: Schema.Struct({
    webhook_id: Id.WebhookId,
    limit: EmailTools.atMost(MAX_DELIVERIES, DEFAULT_DELIVERIES),
    after: Schema.optionalKey(
      Id.WebhookDeliveryId.annotate({ description: "`next_cursor` of the answer before, for older deliveries" }),
    ),
  }),
  facts: { next_cursor: optional(text) },
  row: Schema.Struct({
    id: text,
    event_id: text,
    event_type: text,
    livemode: Schema.Boolean,
    status: text,
    attempts: Schema.Natural,
    created_at: text,
    next_attempt_at: Schema.NullOr(text),
    delivered_at: Schema.NullOr(text),
    last_status: Schema.NullOr(Schema.Int),
    email_id: Schema.NullOr(text),
    untrusted: untrusted({ recipient: Schema.NullOr(text), last_answer: Schema.NullOr(text) }),
  }),
  run: (waybill, { after, limit = DEFAULT_DELIVERIES, webhook_id }) =>
    ask(() => waybill.webhooks.deliveries(webhook_id, { limit, after })).pipe(
      Effect.map((page) => ({
        summary: page.data.length === 0 ? "No deliveries." : summaryOf(page.data),
        facts: page.next_cursor === null ? {} : { next_cursor: page.next_cursor },
        rows: page.data.map(deliveryRow),
      })),
    ),
})

const summaryOf = (rows: ReadonlyArray<WebhookDelivery>): string => {
  const counted = (status: WebhookDelivery["status"]) => rows.filter((row) => row.status === status).length
  return `${rows.length} deliveries: ${counted("delivered")} delivered, ${counted("pending")} pending, ${counted("failed")} failed.`
}

const deliveryRow = ({ last_answer, object: _, recipient, webhook_id: __, ...row }: WebhookDelivery) => ({
  ...row,
  untrusted: { recipient, last_answer },
})

const delivery = tool({
  name: "get_webhook_delivery",
  title: "Get a webhook delivery",
  description: "Shows every attempt of one webhook call, with the endpoint's answer or the error.",
  input: Schema.Struct({ webhook_id: Id.WebhookId, delivery_id: Id.WebhookDeliveryId }),
  facts: { event_id: text, event_type: text, status: text, next_attempt_at: Schema.NullOr(text) },
  row: Schema.Struct({
    at: text,
    origin: text,
    status: optional(Schema.Int),
    duration_ms: Schema.Natural,
    untrusted: optional(untrusted({ error: optional(text), response: optional(text) })),
  }),
  run: (waybill, { delivery_id, webhook_id }) =>
    ask(() => waybill.webhooks.delivery(webhook_id, delivery_id)).pipe(
      Effect.map(({ attempts, event_id, event_type, history, next_attempt_at, status }) => ({
        summary: `The call for ${event_type} is ${status} after ${attempts} attempts.`,
        facts: { event_id, event_type, status, next_attempt_at },
        rows: history.map(attemptRow),
      })),
    ),
})

/** Headers are left out: an endpoint may answer with a cookie. */
const attemptRow = ({ at, duration_ms, error, response_body, status, url }: WebhookAttempt) => ({
  at,
  origin: originOf(url),
  status: status ?? undefined,
  duration_ms,
  ...(error === null && response_body === null
    ? {}
    : {
        untrusted: {
          error: error === null ? undefined : clipped(error),
          response: response_body === null ? undefined : clipped(response_body, MAX_RESPONSE_CHARS),
        },
      }),
})

export const all = [webhooks, deliveries, delivery]
