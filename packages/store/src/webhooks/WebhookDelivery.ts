import type { AccountId, WebhookDeliveryId } from "@waybill/domain/values/Id"

/** One webhook call to make for one event. It is written in the transaction of the event, so it cannot be lost. */
export interface WebhookDelivery {
  /** Owner of the webhook. */
  readonly account_id: AccountId
  /** False if the event is one of test mail, so that its stream belongs to the test account. */
  readonly livemode: boolean
  readonly id: WebhookDeliveryId
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly stream_id: string
  readonly stream_version: number
  readonly created_at: string
}
