import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Upcast from "@waybill/domain/stream/Upcast"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as WebhookReplays from "@waybill/store/webhooks/WebhookReplays"
import { Effect, Fiber, Layer, Option } from "effect"
import { randomBytes } from "node:crypto"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import { otherClient, blockedBackend } from "../../support/postgres/otherClient.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"

const working = Effect.fnUntraced(function* (over: Parameters<typeof Webhooks.worker>[1] = {}) {
  const { url } = yield* Database.Fresh
  yield* Layer.build(Webhooks.worker(url, { nextAt: Webhooks.never, ...over }))
})

const newIds = (count: number) =>
  Effect.map(Webhooks.now, (now) =>
    Array.from({ length: count }, () => Id.make("WebhookDeliveryId", Timestamp.toMillis(now), randomBytes(10))),
  )

const replayRange = Effect.fnUntraced(function* (
  endpoint: Webhooks.Endpoint,
  over: Partial<WebhookReplays.Range> = {},
  most = 100,
) {
  const now = yield* Webhooks.now
  return yield* WebhookReplays.replay({
    account_id: endpoint.account_id,
    webhook_id: endpoint.webhook_id,
    created_after: "2000-01-01T00:00:00.000Z",
    created_before: Timestamp.plus(now, Timestamp.DAY),
    after_position: 0n,
    types: DomainEvent.TAGS.filter((tag) => tag.startsWith("Email")).map((tag) => ({
      tag,
      type: DomainEvent.publicType(tag),
    })),
    scheduled: null,
    unsubscribes: false,
    ids: yield* newIds(most),
    now,
    ...over,
  })
})

/** Makes all stored events of these types older than the current schema, until the test ends. */
const withSteps = (steps: Upcast.Steps) =>
  Effect.acquireRelease(
    Effect.sync(() => Object.assign(Upcast.STEPS, steps)),
    () => Effect.sync(() => Object.keys(steps).forEach((type) => Reflect.deleteProperty(Upcast.STEPS, type))),
  )

layer(World.layer, { excludeTestServices: true })("a replay", (it) => {
  it.effect("repeats the call with the same event, and a failed delivery can still succeed", function* () {
    yield* working()
    let broken = true
    const receiver = yield* Receiver.listen({ answer: () => ({ status: broken ? 500 : 200 }) })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    const { account_id, webhook_id } = endpoint
    yield* Webhooks.acceptEmail(account_id)
    const failed = yield* Webhooks.settledOne(endpoint)
    assert.strictEqual(failed.status, "failed")
    broken = false
    const again = yield* WebhookDeliveries.replay(account_id, webhook_id, failed.id, yield* Webhooks.now)
    assert.strictEqual(Option.getOrUndefined(again)?.status, "pending")
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual([record.status, record.history.map(({ status }) => status)], ["delivered", [500, 200]])
    assert.strictEqual(receiver.calls[0]?.headers["webhook-id"], receiver.calls[1]?.headers["webhook-id"])
    assert.strictEqual(receiver.calls[0]?.body, receiver.calls[1]?.body)
    const unknown = yield* WebhookDeliveries.replay(
      account_id,
      webhook_id,
      id("WebhookDeliveryId"),
      yield* Webhooks.now,
    )
    assert.isTrue(Option.isNone(unknown))
    const stranger = yield* WebhookDeliveries.replay(id("AccountId"), webhook_id, failed.id, yield* Webhooks.now)
    assert.isTrue(Option.isNone(stranger))
  })

  it.effect("requested during a call is not lost", function* () {
    let open: (() => void) | undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const receiver = yield* Receiver.listen({
      answer: async (_, nth) => (nth === 1 ? gate.then(() => ({ status: 500 })) : { status: 200 }),
    })
    yield* working()
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    const { account_id, webhook_id } = endpoint
    yield* Webhooks.acceptEmail(account_id)
    yield* World.until(
      Effect.sync(() => receiver.calls.length),
      (calls) => calls === 1,
    )
    const [{ id: delivery_id } = { id: "" }] = yield* Webhooks.deliveries(endpoint)
    yield* WebhookDeliveries.replay(account_id, webhook_id, delivery_id, yield* Webhooks.now)
    open?.()
    const record = yield* World.until(Webhooks.settledOne(endpoint), ({ attempts }) => attempts === 2)
    assert.deepStrictEqual([record.status, record.history.map(({ status }) => status)], ["delivered", [500, 200]])
    assert.strictEqual(yield* Webhooks.outbox(delivery_id), undefined)
  })

  it.effect("locks rows in the same order as the result of a call", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
      const { account_id, webhook_id } = endpoint
      yield* Webhooks.acceptEmail(account_id)
      const [{ id: delivery_id } = { id: "" }] = yield* Webhooks.deliveries(endpoint)
      const at = yield* Webhooks.now
      const once = Effect.asVoid(WebhookDeliveries.replay(account_id, webhook_id, delivery_id, at))
      for (const replay of [once, Effect.asVoid(replayRange(endpoint))]) {
        const settling = yield* otherClient(url)
        yield* settling.query("BEGIN")
        yield* settling.query("SELECT FROM outbox WHERE id = $1 FOR UPDATE", [delivery_id])
        const replaying = yield* Effect.forkChild(replay)
        yield* blockedBackend(yield* otherClient(url))
        yield* settling.query("UPDATE webhook_deliveries SET attempts = attempts + 1 WHERE id = $1", [delivery_id])
        yield* settling.query("COMMIT")
        yield* Fiber.join(replaying)
      }
      assert.deepInclude((yield* Webhooks.deliveries(endpoint))[0], { attempts: 2, status: "pending" })
    }).pipe(Effect.scoped),
  )

  it.effect("of a range reaches a newer webhook, with the facts of the events' time", function* () {
    yield* working()
    const account_id = id("AccountId")
    const emails = yield* Effect.forEach([1, 2, 3], () => Webhooks.acceptEmail(account_id))
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { account_id, events: ["email.queued"] })
    assert.deepStrictEqual(yield* Webhooks.deliveries(endpoint), [])
    assert.strictEqual((yield* replayRange(endpoint)).queued, 3)
    yield* Webhooks.settledAll(endpoint, 3)
    const told = receiver.calls.map(
      (call) => new StandardWebhook(endpoint.secret).verify(call.body, call.headers) as { data: { email_id: string } },
    )
    assert.deepStrictEqual(told.map(({ data }) => data.email_id).toSorted(), emails.toSorted())
  })

  it.effect("of a range repeats delivered events, up to a limit", function* () {
    yield* working()
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued", "email.opened"] })
    const { account_id } = endpoint
    const first = yield* Webhooks.acceptEmail(account_id)
    yield* Webhooks.appendOpened(account_id, first)
    yield* Webhooks.acceptEmail(account_id)
    yield* Webhooks.settledAll(endpoint, 3)
    const onlyOpened = { types: [{ tag: "EmailOpened", type: "email.opened" }] }
    assert.strictEqual((yield* replayRange(endpoint, onlyOpened)).queued, 1)
    yield* World.until(
      Effect.sync(() => receiver.calls.length),
      (calls) => calls === 4,
    )
    assert.deepStrictEqual(yield* replayRange(endpoint, { created_before: "2001-01-01T00:00:00.000Z" }), {
      queued: 0,
      next_position: null,
    })
    assert.strictEqual((yield* replayRange(endpoint, {}, 2)).queued, 2)
    yield* World.until(
      Effect.sync(() => receiver.calls.length),
      (calls) => calls === 6,
    )
    const all = yield* Webhooks.settledAll(endpoint, 3)
    assert.deepStrictEqual(all.map(({ attempts }) => attempts).toSorted(), [1, 2, 3])
  })

  it.effect("of a range continues where it ended, also within one instant", function* () {
    const sql = yield* Sql
    const account_id = id("AccountId")
    const emails = yield* Effect.forEach([1, 2, 3, 4], () => Webhooks.acceptEmail(account_id))
    yield* Effect.orDie(sql`UPDATE events SET recorded_at = '2026-01-01T00:00:00Z' WHERE account_id = ${account_id}`)
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { account_id })
    const range = { types: [{ tag: "EmailQueued", type: "email.queued" }] }
    const first = yield* replayRange(endpoint, range, 3)
    const second = yield* replayRange(endpoint, { ...range, after_position: first.next_position ?? 0n }, 1)
    assert.deepStrictEqual([first.queued, second], [3, { queued: 1, next_position: null }])
    const told = yield* Effect.orDie(sql<{ readonly stream_id: string }>`
        SELECT stream_id FROM webhook_deliveries WHERE webhook_id = ${endpoint.webhook_id} ORDER BY stream_id`)
    assert.deepStrictEqual(
      told.map(({ stream_id }) => stream_id),
      emails.toSorted(),
    )
    assert.deepStrictEqual(yield* replayRange(endpoint, range, 4), { queued: 4, next_position: null })
  })

  it.effect("sends earlier events in the current format, and so does the audit", function* () {
    const sql = yield* Sql
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook", { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const ids = (yield* Webhooks.deliveries(endpoint)).map((delivery) => delivery.id)
    yield* withSteps({
      EmailQueued: [(data) => ({ ...data, subject: "of an older release" })],
      WebhookCreated: [(data) => ({ ...data, enabled: false })],
    })
    const [dispatch] = yield* WebhookDeliveries.dispatches(sql, [endpoint.account_id], ids)
    assert.strictEqual(dispatch?.event?.data["subject"], "of an older release")
    const balances = yield* Conservation.webhooks()
    assert.strictEqual(balances.find(({ webhook_id }) => webhook_id === endpoint.webhook_id)?.events, 0)
  })

  // threat: tenants
  it.effect("does not reach another account", function* () {
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook")
    yield* Webhooks.acceptEmail(id("AccountId"))
    assert.strictEqual((yield* replayRange(endpoint)).queued, 0)
  })

  it.effect("keeps the last 32 attempts, and the answers of the newest ones", function* () {
    const sql = yield* Sql
    yield* working({ nextAt: (now, attempts) => (attempts > 33 ? null : Webhooks.retrySoon(now, 1)) })
    const receiver = yield* Receiver.listen({
      answer: (_, nth) => ({ status: 500, body: `${nth} ${"x".repeat(4_000)}` }),
    })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    // The worker checks for due rows twice a second; this test checks more often.
    const hurry = yield* Effect.orDie(sql`UPDATE outbox SET ready = true WHERE NOT ready AND kind = 'webhook'`).pipe(
      Effect.andThen(Effect.orDie(sql`SELECT id FROM graphile_worker.add_job('drain_webhooks')`)),
      Effect.delay("20 millis"),
      Effect.forever,
      Effect.forkChild,
    )
    const record = yield* Webhooks.settledOne(endpoint, undefined)
    yield* Fiber.interrupt(hurry)
    assert.deepStrictEqual([record.attempts, record.history.length], [34, WebhookDeliveries.MAX_HISTORY])
    const numbers = record.history.map(({ response_body }) => response_body?.split(" ")[0] ?? null)
    assert.deepStrictEqual([numbers[0], numbers.at(-1)], [null, "34"])
    const kept = numbers.filter((number) => number !== null)
    assert.deepStrictEqual(kept, ["31", "32", "33", "34"].slice(-kept.length))
    const bytes = Buffer.byteLength(JSON.stringify(record.history.map((each) => ({ ...each, request_headers: {} }))))
    assert.isBelow(bytes, 2 * WebhookDeliveries.MAX_HISTORY_BYTES)
  })
})

layer(World.layer, { excludeTestServices: true })("a test call", (it) => {
  it.effect("is signed, is in no stream, and leaves a delivery record", function* () {
    yield* working()
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.bounced"] })
    const { account_id, webhook_id } = endpoint
    const created_at = yield* Webhooks.now
    const event_id = id("EventId")
    yield* WebhookDeliveries.sendTest({
      account_id,
      id: id("WebhookDeliveryId"),
      webhook_id,
      event_id,
      event_type: WebhookDeliveries.TEST_TYPE,
      livemode: true,
      stream_id: webhook_id,
      stream_version: 0,
      created_at,
    })
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual([record.status, record.event_type], ["delivered", "webhook.test"])
    const [call] = receiver.calls
    assert.deepStrictEqual(new StandardWebhook(endpoint.secret).verify(call?.body ?? "", call?.headers ?? {}), {
      id: event_id,
      type: "webhook.test",
      livemode: true,
      api_version: "v1",
      created_at,
      sequence: null,
      data: { webhook_id, test: true },
    })
  })
})
