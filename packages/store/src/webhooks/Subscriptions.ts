import * as Livemode from "@waybill/domain/account/Livemode"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { AccountId, WebhookDeliveryId } from "@waybill/domain/values/Id"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { type BatchTable, ifAny } from "../log/BatchTable.ts"
import { type Fact, liveAccounts } from "../log/Fact.ts"
import type { Recorded } from "../log/RecordedEvents.ts"
import type { ChangedStream } from "../log/StreamRef.ts"
import * as DueWork from "../outbox/DueWork.ts"
import { newId } from "../streams/newId.ts"
import * as WebhookDeliveries from "./WebhookDeliveries.ts"
import type { WebhookDelivery } from "./WebhookDelivery.ts"

interface Subscription {
  readonly account_id: AccountId
  readonly id: string
  readonly events: ReadonlyArray<string>
  readonly format: WebhookFormat.Format
}

export type Subscriptions = (account: AccountId) => ReadonlyArray<Subscription>

/** Subscriptions of accounts. A test account has the webhooks of its live account. */
export const fact: Fact<Subscription, Subscriptions> = {
  read: (sql, needs) => [
    {
      rows: sql`
  SELECT account_id, id, events, format FROM webhooks
  WHERE account_id = ANY(${liveAccounts(needs)}::text[]) AND enabled AND NOT removed ORDER BY account_id, id`,
    },
  ],
  of: (rows) => (account) => {
    const owner = Livemode.liveAccountOf(account)
    return rows.filter(({ account_id }) => account_id === owner)
  },
}

/** One call for each event and each webhook that subscribes to it. */
export const table: BatchTable<WebhookDelivery, { readonly subscriptions: Subscriptions }> = {
  ofStream: (stream, { facts: { subscriptions }, now, nowMillis, rows }) => {
    for (const subscription of subscriptions(stream.account_id)) {
      for (const recorded of stream.added) {
        if (!isCalled(subscription, stream, recorded)) continue
        const clock = DueWork.clockOf(stream)
        const created_at = clock === undefined ? now : DomainEvent.occurredAt(recorded.event as DomainEvent.DomainEvent)
        const id = newId("WebhookDeliveryId", nowMillis)
        const delivery = deliveryOf(id, subscription.id, recorded, created_at)
        rows.add(table, delivery)
        const call = WebhookDeliveries.call(delivery.account_id, subscription.id, id, now)
        rows.add(DueWork.table, { arm: clock === undefined ? call : { ...call, clock, clock_due: created_at } })
      }
    }
  },
  write: (sql, { rows }) => ({ expressions: ifAny(rows.of(table), (calls) => WebhookDeliveries.insert(sql, calls)) }),
}

/** Whether a webhook is called for an event: it subscribes, or the routes of a received mail decide. */
const isCalled = (
  { events, format, id }: Subscription,
  { aggregate, state }: ChangedStream,
  recorded: Recorded,
): boolean => {
  if (aggregate.stream !== Inbound.stream || recorded.event._tag !== "EmailReceived")
    return isSubscribed(events, recorded)
  return (
    WebhookFormat.has(format, DomainEvent.publicType("EmailReceived")) &&
    Inbound.calls(state as Inbound.State, id, isSubscribed(events, recorded))
  )
}

const isSubscribed = (received: ReadonlyArray<string>, recorded: Recorded): boolean => {
  const event = recorded.event as DomainEvent.DomainEvent
  return WebhookFormat.matches(received, DomainEvent.publicType(event._tag), {
    isScheduled: event._tag === "EmailQueued" && event.scheduled_at !== null,
    isUnsubscribe: event._tag === "SuppressionAdded" && event.reason === "unsubscribe",
  })
}

const deliveryOf = (
  id: WebhookDeliveryId,
  webhook_id: string,
  recorded: Recorded,
  created_at: string,
): WebhookDelivery => ({
  account_id: Livemode.liveAccountOf(recorded.account_id),
  livemode: Livemode.isLive(recorded.account_id),
  id,
  webhook_id,
  event_id: recorded.event_id,
  event_type: DomainEvent.publicType((recorded.event as DomainEvent.DomainEvent)._tag),
  stream_id: recorded.stream_id,
  stream_version: recorded.version,
  created_at,
})
