import type { AccountId } from "@waybill/domain/values/Id"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as WebhookFailures from "@waybill/store/webhooks/WebhookFailures"
import { Effect } from "effect"
import * as NewIds from "../../process/NewIds.ts"

/** Interval between checks of how long an endpoint has been failing. Its limit is counted in days. */
export const CHECK_EVERY_MS = Timestamp.MINUTE
/** Maximum number of webhooks whose next check is remembered; the one used longest ago is forgotten first. */
export const MAX_REMEMBERED = 10_000
export const GONE = 410

export interface CallOutcome {
  readonly account_id: AccountId
  readonly webhook_id: string
  readonly status: number | null
  readonly ok: boolean
  readonly called: Webhook.Call
}

/**
 * Returns a function that is told the outcome of each call, and disables a webhook whose endpoint is gone or has failed for
 * days. Its owner learns of that from the event `webhook.disabled`.
 */
export const make = () => {
  /** Time until which a webhook need not be checked. */
  const notBefore = new LruCache<string, Timestamp.Timestamp>({ maxEntries: MAX_REMEMBERED })

  return Effect.fnUntraced(function* ({ account_id, called, ok, status, webhook_id }: CallOutcome) {
    const at = yield* NewIds.now
    if (ok) return notBefore.set(webhook_id, Timestamp.plus(at, Webhook.FAILING_LIMIT_MS))
    if (status === GONE) return yield* disable(account_id, webhook_id, Webhook.disableGone(at, called))
    if (at < (notBefore.get(webhook_id) ?? "")) return
    notBefore.set(webhook_id, Timestamp.plus(at, CHECK_EVERY_MS))
    const since = yield* WebhookFailures.since(account_id, webhook_id)
    yield* disable(account_id, webhook_id, Webhook.disableFailing(at, since))
  })
}

/** Disables a webhook. A refusal is ignored: it is disabled already, or may fail for longer. */
const disable = Effect.fnUntraced(function* (
  account_id: AccountId,
  stream_id: string,
  decide: ReturnType<typeof Webhook.disableGone>,
) {
  const store = yield* EventStore
  yield* Effect.catch(store.commit(Webhook, { account_id, stream_id }, decide), (error) =>
    error._tag === "StoreUnavailable" ? Effect.fail(error) : Effect.void,
  )
})
