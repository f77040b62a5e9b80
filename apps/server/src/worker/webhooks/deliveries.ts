import { PgClient } from "@effect/sql-pg"
import { CurrentKey } from "@waybill/api/Authorization"
import * as Page from "@waybill/api/schemas/Page"
import type { Delivery, DeliveryDetail } from "@waybill/api/schemas/WebhookDelivery"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type * as Id from "@waybill/domain/values/Id"
import * as PublicType from "@waybill/domain/stream/PublicType"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { Cursors } from "@waybill/store/feed/Cursors"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as WebhookReplays from "@waybill/store/webhooks/WebhookReplays"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import { Array, Data, Effect, Option } from "effect"
import { newId, now } from "../../operate/fresh.ts"
import { webhookPayload } from "./webhookPayload.ts"
import * as Idempotent from "../../accept/Idempotent.ts"
import * as Cursor from "../../http/Cursor.ts"
import { asWritten } from "../../http/api/records.ts"

interface OfWebhook {
  readonly params: { readonly id: Id.WebhookId }
}
interface OfDelivery {
  readonly params: { readonly id: Id.WebhookId; readonly delivery_id: Id.WebhookDeliveryId }
}

export class DeliveryNotFound extends Data.TaggedError("DeliveryNotFound")<{}> {
  readonly status = 404
  readonly code = "not_found"
  readonly reason = "webhook_delivery_not_found"
  override get message() {
    return "No delivery with this id exists for this webhook."
  }
}

/** Calls to a webhook that is switched off would wait for ever. */
export class WebhookDisabled extends Data.TaggedError("WebhookDisabled")<{}> {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "webhook_disabled"
  override get message() {
    return "This webhook is disabled, so it is not called. Enable it first with PATCH."
  }
}

const find = Effect.fnUntraced(function* (id: Id.WebhookId) {
  const { account_id } = yield* CurrentKey
  const webhook = yield* Effect.mapError(
    Effect.fromOption(yield* Webhooks.find(account_id, id)),
    () => new Webhook.WebhookNotFound(),
  )
  return { account_id, webhook }
})

const findEnabled = Effect.fnUntraced(function* (id: Id.WebhookId) {
  const { account_id, webhook } = yield* find(id)
  return webhook.enabled ? { account_id, webhook } : yield* new WebhookDisabled()
})

export const list = Effect.fnUntraced(function* ({
  params,
  query,
}: OfWebhook & { readonly query: { readonly limit: number; readonly after?: Id.WebhookDeliveryId } }) {
  const { account_id } = yield* find(params.id)
  const { after, limit } = query
  const rows = yield* WebhookDeliveries.list({
    account_id,
    webhook_id: params.id,
    limit: limit + 1,
    ...(after === undefined ? {} : { after }),
  })
  return Page.make(rows.map(asWritten<Delivery>), limit)
})

export const get = Effect.fnUntraced(function* ({ params }: OfDelivery) {
  const { account_id } = yield* find(params.id)
  const found = yield* WebhookDeliveries.find(account_id, params.id, params.delivery_id)
  const record = yield* Effect.mapError(Effect.fromOption(found), () => new DeliveryNotFound())
  const sql = yield* PgClient.PgClient
  const dispatches = yield* Effect.orDie(WebhookDeliveries.dispatches(sql, [account_id], [params.delivery_id]))
  // Not kept with the attempts: it is read off the log, as it is before each call.
  const request_body = yield* Effect.orDie(Effect.fromOption(Option.map(Array.head(dispatches), webhookPayload)))
  return asWritten<DeliveryDetail>({ ...record, request_body })
})

/** A call with a made-up event; how it went is read from its delivery. */
export const test = (call: Idempotent.Call & OfWebhook) => Idempotent.run(call, testing(call.params.id))

const testing = Effect.fnUntraced(function* (webhook_id: Id.WebhookId) {
  const { account_id } = yield* findEnabled(webhook_id)
  const id = yield* newId("WebhookDeliveryId")
  yield* WebhookDeliveries.test({
    account_id,
    id,
    webhook_id,
    event_id: yield* newId("EventId"),
    event_type: WebhookDeliveries.TEST_TYPE,
    stream_id: webhook_id,
    stream_version: 0,
    created_at: yield* now,
  })
  const made = yield* WebhookDeliveries.find(account_id, webhook_id, id)
  return brief(yield* Effect.orDie(Effect.fromOption(made)))
})

export const replay = (call: Idempotent.Call & OfDelivery) => Idempotent.run(call, replaying(call.params))

const replaying = Effect.fnUntraced(function* ({ delivery_id, id }: OfDelivery["params"]) {
  const { account_id } = yield* findEnabled(id)
  const found = yield* WebhookDeliveries.replay(account_id, id, delivery_id, yield* now)
  return brief(yield* Effect.mapError(Effect.fromOption(found), () => new DeliveryNotFound()))
})

interface Range {
  readonly created_after: Timestamp.Timestamp
  readonly created_before: Timestamp.Timestamp
  readonly after_position: string | null
  readonly events: ReadonlyArray<string> | null
}

export const replayRange = (call: Idempotent.Call & OfWebhook & { readonly payload: Range }) =>
  Idempotent.run(call, replayingRange(call.params.id, call.payload))

const replayingRange = Effect.fnUntraced(function* (
  webhook_id: Id.WebhookId,
  { after_position, created_after, created_before, events }: Range,
) {
  const { account_id, webhook } = yield* findEnabled(webhook_id)
  const after = yield* Cursor.read(account_id, "after_position", after_position ?? "0")
  const ids = yield* Effect.forEach(
    Array.makeBy(WebhookReplays.MAX_REPLAY_EVENTS, () => undefined),
    () => newId("WebhookDeliveryId"),
  )
  const { next_position, queued } = yield* WebhookReplays.replay({
    account_id,
    webhook_id,
    created_after,
    created_before,
    after_position: after,
    types: typesOf(events ?? webhook.events),
    ids,
    now: yield* now,
  })
  return {
    object: "webhook_replay" as const,
    webhook_id,
    queued,
    has_more: next_position !== null,
    next_position: next_position === null ? null : (yield* Cursors).ofEvent(account_id, next_position),
  }
})

/** The tags of the log behind public types; `*` stands for all that webhooks are told of. */
const typesOf = (subscriptions: ReadonlyArray<string>) =>
  DomainEvent.TAGS.flatMap((tag) => {
    const type = DomainEvent.publicType(tag)
    const wanted = subscriptions.includes("*") ? PublicType.isWebhookType(type) : subscriptions.includes(type)
    return wanted ? [{ tag, type }] : []
  })

/** Without its history. */
const brief = ({ history, ...record }: WebhookDeliveries.DeliveryRecord) => asWritten<Delivery>(record)
