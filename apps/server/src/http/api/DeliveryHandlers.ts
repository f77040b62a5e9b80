import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Refusal from "@waybill/domain/values/Refusal"
import type { Delivery, DeliveryDetail } from "@waybill/api/schemas/WebhookDelivery"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type * as Id from "@waybill/domain/values/Id"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { Cursors } from "@waybill/store/feed/Cursors"
import * as DeliveryList from "@waybill/store/webhooks/DeliveryList"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as WebhookReplays from "@waybill/store/webhooks/WebhookReplays"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import { Array, Effect, Option } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as NewIds from "../../process/NewIds.ts"
import { Instance } from "../../settings/Instance.ts"
import * as WebhookPayload from "../../worker/webhooks/WebhookPayload.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import type { EndpointCall } from "../middleware/Handlers.ts"
import * as Cursor from "../../web/Cursor.ts"
import { found } from "../../web/found.ts"

export class DeliveryNotFound extends Refusal.of("DeliveryNotFound", 404, "webhook_delivery_not_found") {
  override readonly message = "No delivery with this id exists for this webhook."
}

/** Refuses calls to a disabled webhook, which would wait for ever. */
export class WebhookDisabled extends Refusal.of("WebhookDisabled", 422, "webhook_disabled") {
  override readonly message = "This webhook is disabled, so it is not called. Enable it first with PATCH."
}

const find = Effect.fnUntraced(function* (id: Id.WebhookId) {
  const { account_id } = yield* CurrentKey
  const webhook = yield* found(Webhooks.find(account_id, id), () => new Webhook.WebhookNotFound())
  return { account_id, webhook }
})

const findEnabled = Effect.fnUntraced(function* (id: Id.WebhookId) {
  const { account_id, webhook } = yield* find(id)
  return webhook.enabled ? { account_id, webhook } : yield* new WebhookDisabled()
})

export const list = Effect.fnUntraced(function* ({ params, query }: EndpointCall<"webhooks", "deliveries">) {
  const { account_id } = yield* find(params.id)
  const { called, ...rest } = query
  const filters = called === undefined ? rest : { ...rest, called: called === "true" }
  const { next_cursor, rows } = yield* DeliveryList.list({ account_id, webhook_id: params.id, ...filters })
  const data = yield* shown(account_id, rows)
  return { object: "list" as const, has_more: next_cursor !== null, next_cursor, data }
})

/** Returns records without the history of attempts, with the recipients that their events are about. */
const shown = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  rows: ReadonlyArray<WebhookDeliveries.DeliveryRecord>,
) {
  const recipients = yield* DeliveryList.recipients(
    account_id,
    rows.map(({ id }) => id),
  )
  return rows.map(({ history, ...record }): Delivery => ({ ...record, recipient: recipients.get(record.id) ?? null }))
})

/** Returns the record of one row. */
const shownOne = Effect.fnUntraced(function* (account_id: Id.AccountId, row: WebhookDeliveries.DeliveryRecord) {
  const [record] = yield* shown(account_id, [row])
  // `shown` returns a record for each row.
  return yield* Effect.orDie(Effect.fromOption(Option.fromUndefinedOr(record)))
})

export const get = Effect.fnUntraced(function* ({ params }: EndpointCall<"webhooks", "delivery">) {
  const { account_id } = yield* find(params.id)
  const delivery = WebhookDeliveries.find(account_id, params.id, params.delivery_id)
  const record = yield* found(delivery, () => new DeliveryNotFound())
  const sql = yield* Sql
  const dispatches = yield* WebhookDeliveries.dispatches(sql, [account_id], [params.delivery_id])
  // Each delivery has its event in the log.
  const dispatch = yield* Effect.orDie(Effect.fromOption(Array.head(dispatches)))
  // Built from the log, as before each call, since attempts do not store it.
  const request_body = WebhookPayload.bodyOf(dispatch, yield* Instance)
  return { ...(yield* shownOne(account_id, record)), history: record.history, request_body } as DeliveryDetail
})

/** Queues a call with a test event. Its delivery shows the result. */
export const test = (call: EndpointCall<"webhooks", "test">) =>
  RequestCommit.commitRows(call, queueTest(call.params.id))

const queueTest = Effect.fnUntraced(function* (webhook_id: Id.WebhookId) {
  const { account_id } = yield* findEnabled(webhook_id)
  const id = yield* NewIds.newId("WebhookDeliveryId")
  yield* WebhookDeliveries.sendTest({
    account_id,
    id,
    webhook_id,
    event_id: yield* NewIds.newId("EventId"),
    event_type: WebhookDeliveries.TEST_TYPE,
    livemode: true,
    stream_id: webhook_id,
    stream_version: 0,
    created_at: yield* NewIds.now,
  })
  const delivery = yield* WebhookDeliveries.find(account_id, webhook_id, id)
  // The transaction has just written it.
  return yield* shownOne(account_id, yield* Effect.orDie(Effect.fromOption(delivery)))
})

export const replay = (call: EndpointCall<"webhooks", "replayDelivery">) =>
  RequestCommit.commitRows(call, replayOne(call.params))

const replayOne = Effect.fnUntraced(function* ({
  delivery_id,
  id,
}: EndpointCall<"webhooks", "replayDelivery">["params"]) {
  const { account_id } = yield* findEnabled(id)
  const replaying = WebhookDeliveries.replay(account_id, id, delivery_id, yield* NewIds.now)
  return yield* shownOne(account_id, yield* found(replaying, () => new DeliveryNotFound()))
})

export const replayRange = (call: EndpointCall<"webhooks", "replay">) =>
  RequestCommit.commitRows(call, replayAll(call.params.id, call.payload))

const replayAll = Effect.fnUntraced(function* (
  webhook_id: Id.WebhookId,
  { after_position, created_after, created_before, events }: EndpointCall<"webhooks", "replay">["payload"],
) {
  const { account_id, webhook } = yield* findEnabled(webhook_id)
  yield* Effect.fromResult(Webhook.checkFormat(webhook.format, events ?? []))
  const selection = WebhookFormat.select(WebhookFormat.received(webhook.format, events ?? webhook.events))
  const after = yield* Cursor.read(account_id, "after_position", after_position ?? "0")
  const ids = yield* Effect.forEach(
    Array.makeBy(WebhookReplays.MAX_REPLAY_EVENTS, () => undefined),
    () => NewIds.newId("WebhookDeliveryId"),
  )
  const { next_position, queued } = yield* WebhookReplays.replay({
    account_id,
    webhook_id,
    created_after,
    created_before,
    after_position: after,
    types: typesOf(selection),
    scheduled: selection.scheduled,
    unsubscribes: selection.unsubscribes,
    ids,
    now: yield* NewIds.now,
  })
  return {
    object: "webhook_replay" as const,
    webhook_id,
    queued,
    has_more: next_position !== null,
    next_position: next_position === null ? null : (yield* Cursors).ofEvent(account_id, next_position),
  }
})

/** Returns the tags of events that are sent, each with its public type. */
const typesOf = ({ types }: WebhookFormat.Selection) =>
  DomainEvent.TAGS.flatMap((tag) => {
    const type = DomainEvent.publicType(tag)
    return types.includes(type) ? [{ tag, type }] : []
  })
