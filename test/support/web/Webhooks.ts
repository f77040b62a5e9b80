import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import type * as WebhookState from "@waybill/domain/webhook/WebhookState"
import type { Format } from "@waybill/domain/webhook/WebhookFormat"
import type { WebhookUrl } from "@waybill/domain/webhook/WebhookUrl"
import type * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as Iso from "@waybill/store/postgres/Iso"
import * as DeliveryList from "@waybill/store/webhooks/DeliveryList"
import type * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as Webhooks from "@waybill/store/readmodels/Webhooks"
import { Clock, type Duration, Effect, Layer, Option, type Redacted, Result } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as WebhookPipeline from "../../../apps/server/src/worker/webhooks/WebhookPipeline.ts"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import * as World from "../world/World.ts"
import { id, opened, queued } from "../history.ts"
import { dnsZones } from "../mail/dnsZones.ts"

export const networks = (...texts: ReadonlyArray<string>) => Result.getOrThrow(Network.parseAll(texts))
export const LOOPBACK = networks("127.0.0.0/8", "::1/128")

/** Retry schedule with short pauses and the contract's number of tries. */
export const retrySoon = (now: Timestamp.Timestamp, attempts: number): Timestamp.Timestamp | null =>
  attempts > 7 ? null : Timestamp.plus(now, 20)
export const never = (): null => null

/** Settings of the operator for the DNS records of domains. */
export const RECORDS = {
  returnPath: { kind: "cname", label: "bounce", target: "bounces.waybill.example" },
  trackingHost: null,
  mailHost: "mx.waybill.example",
} as const
/** Links to files of received mail. */
export const LINKS = Effect.succeed(() => ({
  expires_at: Timestamp.fromMillis(0),
  urlOf: (nth: number) => `https://mail.example/attachments/${nth}`,
}))

/** Worker that may call webhooks on loopback. */
export const worker = (
  url: Redacted.Redacted,
  over: Partial<WebhookPipeline.Options> = {},
  dns: Layer.Layer<Dns.Dns> = dnsZones({}),
) => {
  const tasks = Effect.map(
    WebhookPipeline.make({ allowedNetworks: LOOPBACK, records: RECORDS, links: LINKS, ...over }),
    (drain_webhooks) => ({
      drain_webhooks,
    }),
  )
  return Worker.layer({ url, delivery: { returnPath: World.RETURN_PATH }, tasks }).pipe(
    Layer.provide([Transports.Transports.layer<never, never>("capture", {}), World.delivering, dns]),
  )
}

export interface Endpoint {
  readonly account_id: Id.AccountId
  readonly webhook_id: Id.WebhookId
  readonly secret: string
}

export const now = Effect.map(Clock.currentTimeMillis, Timestamp.fromMillis)

export const freshSecret = () => `whsec_${randomBytes(24).toString("base64")}`

/** Creates a webhook as the API does: seals its secret, then appends its event. */
export const create = Effect.fnUntraced(function* (
  url: string,
  over: {
    readonly account_id?: Id.AccountId
    readonly events?: ReadonlyArray<WebhookState.Subscription>
    readonly sealed?: boolean
    readonly enabled?: boolean
    readonly format?: Format
    readonly svix_headers?: boolean
  } = {},
): Effect.fn.Return<Endpoint, StoreUnavailable, EventStore | Secrets> {
  const account_id = over.account_id ?? id("AccountId")
  const webhook_id = Id.make("WebhookId", yield* Clock.currentTimeMillis, randomBytes(10))
  const secret = freshSecret()
  if (over.sealed !== false) yield* seal({ account_id, webhook_id, secret }, "signing:1")
  const store = yield* EventStore
  const event: Webhook.Event = {
    _tag: "WebhookCreated",
    webhook_id,
    url: url as WebhookUrl,
    events: over.events ?? ["*"],
    description: null,
    format: over.format ?? "waybill",
    svix_headers: over.svix_headers ?? false,
    enabled: over.enabled ?? true,
    secret_ref: "signing:1",
    at: yield* now,
  }
  yield* store.commit(Webhook, { account_id, stream_id: webhook_id }, () => Result.succeed([event]))
  return { account_id, webhook_id, secret }
})

export const seal = Effect.fnUntraced(function* ({ account_id, secret, webhook_id }: Endpoint, ref: string) {
  const secrets = yield* Secrets
  yield* secrets.seal({ account_id, id: webhook_id, purpose: ref }, Buffer.from(secret, "utf8"))
})

/** Commits a decision about the webhook. */
export const change = Effect.fnUntraced(function* <E>(
  { account_id, webhook_id }: Endpoint,
  decide: (
    now: Timestamp.Timestamp,
  ) => (
    state: Webhook.State,
  ) => Result.Result<readonly [Webhook.Event, ...Array<Webhook.Event>] | ReadonlyArray<Webhook.Event>, E>,
) {
  const store = yield* EventStore
  const at = yield* now
  return yield* Effect.orDie(
    store.commit(Webhook, { account_id, stream_id: webhook_id }, decide(at) as ReturnType<typeof Webhook.remove>),
  )
})

/** Accepts a message scheduled far ahead, so that one `email.queued` occurs and nothing is sent. */
export const acceptEmail = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  over: Readonly<Record<string, unknown>> = {},
) {
  const millis = yield* Clock.currentTimeMillis
  const email_id = Id.make("EmailId", millis, randomBytes(10))
  const created_at = Timestamp.fromMillis(millis)
  const event = queued(email_id, { created_at, scheduled_at: Timestamp.plus(created_at, 20 * Timestamp.DAY), ...over })
  const { transact } = yield* EventStore
  yield* Effect.orDie(
    transact({
      account_id,
      streams: [{ aggregate: Email, id: email_id, isNew: true }],
      decide: () =>
        Result.succeed({ append: [{ aggregate: Email, id: email_id, events: [event] }], answer: undefined }),
    }),
  )
  return email_id
})

/** Appends one more event to the message. */
export const append = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  email_id: Id.EmailId,
  make: (at: Timestamp.Timestamp) => Email.Event,
) {
  const store = yield* EventStore
  const at = yield* now
  yield* store.commit(Email, { account_id, stream_id: email_id }, () => Result.succeed([make(at)]))
  return at
})

export const appendOpened = (account_id: Id.AccountId, email_id: Id.EmailId) => append(account_id, email_id, opened)

export const deliveries = ({ account_id, webhook_id }: Endpoint) =>
  Effect.map(DeliveryList.list({ account_id, webhook_id, limit: 1000 }), ({ rows }) => rows)

/** Waits for the only delivery to be settled; fails where the webhook has several. */
export const settledOne = (endpoint: Endpoint, within?: Duration.Duration) =>
  Effect.map(
    World.until(deliveries(endpoint), (all) => all.length === 1 && all[0]?.status !== "pending", within),
    ([only]) => only as WebhookDeliveries.DeliveryRecord,
  )

export const settledAll = (endpoint: Endpoint, count: number, within?: Duration.Duration) =>
  World.until(
    deliveries(endpoint),
    (all) => all.length === count && all.every(({ status }) => status !== "pending"),
    within,
  )

/** Moves the first failed call after the last successful one so many minutes back. */
export const failFor = Effect.fnUntraced(function* ({ account_id, webhook_id }: Endpoint, minutes: number) {
  const sql = yield* Sql
  yield* Effect.orDie(sql`
    UPDATE webhook_failures SET since = now() - make_interval(mins => ${minutes}::int)
    WHERE account_id = ${account_id} AND webhook_id = ${webhook_id}`)
})

export const record = ({ account_id, webhook_id }: Endpoint) =>
  Effect.map(Webhooks.find(account_id, webhook_id), Option.getOrUndefined)

export interface OutboxState {
  readonly ready: boolean
  readonly attempt: number
  readonly lease_token: string | null
  readonly available_at: string
}
export const outbox = Effect.fnUntraced(function* (delivery_id: string) {
  const sql = yield* Sql
  const [row] = yield* Effect.orDie(sql<OutboxState>`
    SELECT ready, attempt, lease_token, ${Iso.iso(sql, "available_at")} AS available_at
    FROM outbox WHERE id = ${delivery_id}`)
  return row
})

/** Makes the next attempt of a row due. */
export const makeDue = Effect.fnUntraced(function* (delivery_id: string) {
  const sql = yield* Sql
  yield* Effect.orDie(sql`UPDATE outbox SET available_at = now() - interval '1 second' WHERE id = ${delivery_id}`)
})
