import type { AccountId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as WebhookFailures from "@waybill/store/webhooks/WebhookFailures"
import { Effect } from "effect"
import { now } from "../../operate/fresh.ts"

/** How often an endpoint that fails is asked how long it has: its days are counted in days. */
export const LOOK_EVERY_MS = Timestamp.MINUTE
/** Webhooks of which it is remembered how they fared; the oldest memory goes first. */
export const MAX_REMEMBERED = 10_000
const GONE = 410

export interface Fared {
  readonly account_id: AccountId
  readonly webhook_id: string
  readonly status: number | null
  readonly ok: boolean
  readonly called: Webhook.Called
}

/** An endpoint that is gone, or has failed for days, is called no more; its owner learns it from `webhook.disabled`. */
export const make = () => {
  /** Before this a webhook need not be looked at: it worked, or was looked at. */
  const notBefore = new Map<string, Timestamp.Timestamp>()

  const wait = (webhook_id: string, until: Timestamp.Timestamp) => {
    notBefore.delete(webhook_id)
    notBefore.set(webhook_id, until)
    const oldest = notBefore.keys().next()
    if (notBefore.size > MAX_REMEMBERED && oldest.done !== true) notBefore.delete(oldest.value)
  }

  return Effect.fnUntraced(function* ({ account_id, called, ok, status, webhook_id }: Fared) {
    const at = yield* now
    if (ok) return wait(webhook_id, Timestamp.plus(at, Webhook.FAILING_LIMIT_MS))
    if (status === GONE) return yield* disable(account_id, webhook_id, Webhook.disableGone(at, called))
    if (at < (notBefore.get(webhook_id) ?? "")) return
    wait(webhook_id, Timestamp.plus(at, LOOK_EVERY_MS))
    const since = yield* WebhookFailures.since(account_id, webhook_id)
    yield* disable(account_id, webhook_id, Webhook.disableFailing(at, since as Timestamp.Timestamp | null))
  })
}

/** Refused when somebody was quicker, or its time is not over: nothing to tell. */
const disable = Effect.fnUntraced(function* (
  account_id: AccountId,
  stream_id: string,
  decide: ReturnType<typeof Webhook.disableGone>,
) {
  const store = yield* EventStore
  yield* Effect.ignore(store.commit(Webhook, { account_id, stream_id }, decide))
})
