import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as WebhookRetry from "@waybill/domain/webhook/WebhookRetry"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Audit from "@waybill/store/operations/Audit"
import * as DeliveryList from "@waybill/store/webhooks/DeliveryList"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import * as WebhookFailures from "@waybill/store/webhooks/WebhookFailures"
import { Array as Arr, Effect, Layer } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import * as World from "../../support/world/World.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"

const working = Effect.fnUntraced(function* (over: Parameters<typeof Webhooks.worker>[1] = {}) {
  const { url } = yield* Database.Fresh
  yield* Layer.build(Webhooks.worker(url, over))
})

/** Verifies a call with both public libraries, which throw if the signature is wrong. */
const verify = (call: Receiver.Received, secret: string): unknown => {
  new SvixWebhook(secret).verify(call.body, call.headers)
  return new StandardWebhook(secret).verify(call.body, call.headers)
}

layer(World.layer, { excludeTestServices: true })("a webhook that fails", (it) => {
  it.effect("is retried after the pauses of the contract, with jitter, and then fails", function* () {
    const pauses: Array<number> = []
    // Every call is due an hour later than in the contract: the first pause could end before this test sees the row.
    const nextAt = (now: Timestamp.Timestamp, attempts: number, random: number) => {
      const at = WebhookRetry.nextAt(now, attempts, random)
      if (at !== null) pauses.push(Timestamp.toMillis(at) - Timestamp.toMillis(now))
      return at === null ? null : Timestamp.plus(at, Timestamp.HOUR)
    }
    yield* working({ nextAt })
    const receiver = yield* Receiver.listen({ answer: () => ({ status: 503 }) })
    const endpoint = yield* Webhooks.create(receiver.url)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const [{ id: delivery_id } = { id: "" }] = yield* Webhooks.deliveries(endpoint)
    const minutes = [5 / 60, 5, 30, 120, 300, 600, 600]
    for (const [index, minute] of minutes.entries()) {
      const row = yield* World.until(
        Webhooks.outbox(delivery_id),
        (row) => row?.attempt === index + 1 && row.lease_token === null,
      )
      const pause = (pauses[index] ?? 0) / Timestamp.MINUTE
      assert.isAtLeast(pause, minute * 0.9, `pause ${index + 1}`)
      assert.isAtMost(pause, minute * 1.1, `pause ${index + 1}`)
      const [record] = yield* Webhooks.deliveries(endpoint)
      assert.deepStrictEqual([record?.status, record?.attempts], ["pending", index + 1])
      assert.strictEqual(record?.next_attempt_at, row?.available_at)
      yield* Webhooks.makeDue(delivery_id)
    }
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual([record.status, record.attempts, record.next_attempt_at], ["failed", 8, null])
    assert.deepStrictEqual(
      record.history.map(({ status }) => status),
      Array(8).fill(503),
    )
    assert.strictEqual(yield* Webhooks.outbox(delivery_id), undefined)
    assert.strictEqual(new Set(receiver.calls.map(({ headers }) => headers["webhook-id"])).size, 1)
    for (const call of receiver.calls) verify(call, endpoint.secret)
  })

  it.effect("is called again after the first pause", function* () {
    yield* working()
    const receiver = yield* Receiver.listen({ answer: (_, nth) => ({ status: nth < 2 ? 503 : 200 }) })
    const endpoint = yield* Webhooks.create(receiver.url)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const { history } = yield* Webhooks.settledOne(endpoint)
    const [first = 0, second = 0] = history.map(({ at }) => Date.parse(at))
    assert.isAtLeast(second - first, 4_500)
  })

  it.effect("is delivered by the first successful call", function* () {
    yield* working({ nextAt: Webhooks.retrySoon })
    const receiver = yield* Receiver.listen({ answer: (_, nth) => ({ status: nth < 4 ? 500 : 200 }) })
    const endpoint = yield* Webhooks.create(receiver.url)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual(
      [record.status, record.history.map(({ status }) => status)],
      ["delivered", [500, 500, 500, 200]],
    )
    assert.isString(record.delivered_at)
  })

  it.effect("is disabled by status 410, which other webhooks receive", function* () {
    yield* working({ nextAt: Webhooks.retrySoon })
    const account_id = id("AccountId")
    const gone = yield* Receiver.listen({ answer: () => ({ status: 410 }) })
    const other = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(gone.url, { account_id, events: ["email.queued"] })
    const witness = yield* Webhooks.create(other.url, { account_id, events: ["webhook.disabled"] })
    yield* Webhooks.acceptEmail(account_id)
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual([record.status, record.attempts], ["failed", 1])
    yield* Webhooks.settledOne(witness)
    const after = yield* Webhooks.record(endpoint)
    assert.deepStrictEqual([after?.enabled, after?.disabled_reason], [false, "gone"])
    // The service acted by itself, and the audit log has it all the same.
    const { entries } = yield* Audit.list({ account_id, limit: 5 })
    assert.deepStrictEqual(entries.map(({ meta, stream_id, type }) => [type, stream_id, meta.actor.type]).slice(0, 1), [
      ["WebhookDisabled", endpoint.webhook_id, "system"],
    ])
    const told = JSON.parse(other.calls[0]?.body ?? "{}") as {
      type: string
      data: { webhook_id: string; cause: string }
    }
    assert.deepStrictEqual(
      [told.type, told.data.webhook_id, told.data.cause],
      ["webhook.disabled", endpoint.webhook_id, "gone"],
    )
    yield* Webhooks.acceptEmail(account_id)
    assert.lengthOf(yield* Webhooks.deliveries(endpoint), 1)
  })

  it.effect("is disabled after five days without a success", function* () {
    const sql = yield* Sql
    const store = yield* EventStore
    // Two workers, one after the other, since each checks a webhook once a minute.
    const failsAfter = Effect.fnUntraced(function* (days: number) {
      const receiver = yield* Receiver.listen({ answer: () => ({ status: 500 }) })
      const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
      const age = `${days} days`
      yield* Webhooks.acceptEmail(endpoint.account_id)
      // The time since the first failure counts, not the age of the delivery.
      yield* Effect.orDie(
        sql`UPDATE webhook_deliveries SET created_at = now() - interval '9 days' WHERE webhook_id = ${endpoint.webhook_id}`,
      )
      yield* Effect.orDie(sql`
          INSERT INTO webhook_failures VALUES (${endpoint.account_id}, ${endpoint.webhook_id}, now() - ${age}::interval)`)
      // Enabling a webhook restarts its limit, so that time is moved too.
      yield* Effect.orDie(sql`
          UPDATE events SET data = jsonb_set(data, '{at}', to_jsonb('2026-01-01T00:00:00.000Z'::text))
          WHERE account_id = ${endpoint.account_id} AND type = 'WebhookCreated'`)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* working({ nextAt: Webhooks.never })
          yield* Webhooks.settledOne(endpoint)
          if (days >= 5) yield* World.until(Webhooks.record(endpoint), (record) => record?.enabled === false)
        }),
      )
      const { state } = yield* store.load(Webhook, {
        account_id: endpoint.account_id,
        stream_id: endpoint.webhook_id,
      })
      return state._tag === "Webhook" && state.disabled_reason
    })
    assert.strictEqual(yield* failsAfter(4.9), null)
    assert.strictEqual(yield* failsAfter(5.1), "failing")
  })

  it.effect("stays enabled if a call succeeded within five days", function* () {
    const sql = yield* Sql
    const receiver = yield* Receiver.listen({ answer: (_, nth) => ({ status: nth === 1 ? 200 : 500 }) })
    const endpoint = yield* Webhooks.create(receiver.url)
    yield* Effect.orDie(sql`
        UPDATE events SET data = jsonb_set(data, '{at}', to_jsonb('2026-01-01T00:00:00.000Z'::text))
        WHERE account_id = ${endpoint.account_id} AND type = 'WebhookCreated'`)
    yield* Effect.orDie(sql`
        INSERT INTO webhook_failures VALUES (${endpoint.account_id}, ${endpoint.webhook_id}, now() - interval '9 days')`)
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* working({ nextAt: Webhooks.never })
        yield* Webhooks.acceptEmail(endpoint.account_id)
        yield* Webhooks.settledOne(endpoint)
      }),
    )
    assert.strictEqual(yield* WebhookFailures.since(endpoint.account_id, endpoint.webhook_id), null)
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* working({ nextAt: Webhooks.never })
        yield* Webhooks.acceptEmail(endpoint.account_id)
        yield* Webhooks.settledAll(endpoint, 2)
      }),
    )
    const [failed] = yield* Webhooks.deliveries(endpoint)
    const since = yield* WebhookFailures.since(endpoint.account_id, endpoint.webhook_id)
    assert.deepStrictEqual([failed?.status, failed?.history[0]?.at], ["failed", since])
    assert.strictEqual((yield* Webhooks.record(endpoint))?.enabled, true)
  })

  it.effect("is not called after it was disabled, for earlier events either", function* () {
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { enabled: false }, []))
    yield* working()
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual([record.status, record.history[0]?.error], ["failed", "the webhook was disabled"])
    assert.deepInclude(record, { attempts: 0, last_status: null })
    assert.deepStrictEqual(receiver.calls, [])
  })

  it.effect("is shown as failing after five minutes without a success, not after one failed call", function* () {
    yield* working({ nextAt: Webhooks.never })
    const receiver = yield* Receiver.listen({ answer: () => ({ status: 503 }) })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* Webhooks.settledOne(endpoint)
    assert.isNotNull(yield* WebhookFailures.since(endpoint.account_id, endpoint.webhook_id))
    assert.isNull((yield* Webhooks.record(endpoint))?.failing_since)
    yield* Webhooks.failFor(endpoint, 5)
    const since = yield* WebhookFailures.since(endpoint.account_id, endpoint.webhook_id)
    assert.strictEqual((yield* Webhooks.record(endpoint))?.failing_since, since)
  })

  it.effect("shows the last call also below many deliveries that were not sent", function* () {
    const receiver = yield* Receiver.listen({ answer: () => ({ status: 410, body: "moved out" }) })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    yield* working()
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const called = yield* Webhooks.settledOne(endpoint)
    yield* World.until(Webhooks.record(endpoint), (webhook) => webhook?.enabled === false)
    const sql = yield* Sql
    // Values, which a node of Citus takes: it cannot write out a statement that reads the rows which it multiplies.
    const [row] = yield* Effect.orDie(sql<{ readonly id: string; readonly event_id: string }>`
      SELECT account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, status, created_at::text
      FROM webhook_deliveries WHERE id = ${called.id}`)
    const history = JSON.stringify([{ called: false, error: "the webhook was disabled" }])
    const newer = Arr.makeBy(100, (nth) => ({
      ...row,
      id: `${called.id}${nth}`,
      event_id: `${row?.event_id}${nth}`,
      history,
    }))
    yield* Effect.orDie(sql`INSERT INTO webhook_deliveries ${sql.insert(newer)}`)
    const { at, duration_ms } = called.history[0] ?? {}
    assert.deepStrictEqual<unknown>((yield* Webhooks.record(endpoint))?.last_call, {
      delivery_id: called.id,
      at,
      status: 410,
      duration_ms,
      error: null,
      answer: "moved out",
    })
    const [newest] = yield* Webhooks.deliveries(endpoint)
    assert.deepInclude(newest, { attempts: 0, last_status: null, last_answer: "the webhook was disabled" })
    const listed = (called: boolean) =>
      Effect.map(DeliveryList.list({ ...endpoint, limit: 2, called }), ({ rows }) => rows)
    assert.deepStrictEqual(
      (yield* listed(true)).map(({ id }) => id),
      [called.id],
    )
    assert.isTrue((yield* listed(false)).every(({ attempts }) => attempts === 0))
  })

  it.effect("shows the last call also if it repeated a delivery below newer ones", function* () {
    const receiver = yield* Receiver.listen({ answer: (_, nth) => ({ status: nth === 1 ? 503 : 200 }) })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    yield* working({ nextAt: Webhooks.never })
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const repeated = yield* Webhooks.settledOne(endpoint)
    const sql = yield* Sql
    const [row] = yield* Effect.orDie(sql<{ readonly id: string; readonly event_id: string; readonly call: object }>`
      SELECT account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, created_at::text, history -> 0 AS call
      FROM webhook_deliveries WHERE id = ${repeated.id}`)
    const { call, ...delivery } = row ?? { call: {}, id: "", event_id: "" }
    const history = JSON.stringify([{ ...call, at: "2020-01-01T00:00:00.000Z", request_headers: {} }])
    const callEarlier = (from: number, count: number) =>
      Effect.orDie(
        sql`INSERT INTO webhook_deliveries ${sql.insert(
          Arr.makeBy(count, (nth) => ({
            ...delivery,
            id: `${delivery.id}${from + nth}`,
            event_id: `${delivery.event_id}${from + nth}`,
            status: "failed",
            attempts: 1,
            history,
          })),
        )}`,
      )
    const lastCall = Effect.map(Webhooks.record(endpoint), (record) => [
      record?.last_call?.delivery_id,
      record?.last_call?.status,
    ])
    yield* callEarlier(1_001, 100)
    assert.deepStrictEqual(yield* lastCall, [repeated.id, 503])
    yield* callEarlier(1_101, 200)
    const { account_id, webhook_id } = endpoint
    yield* WebhookDeliveries.replay(account_id, webhook_id, repeated.id, yield* Webhooks.now)
    yield* World.until(lastCall, ([id, status]) => id === repeated.id && status === 200)
  })

  it.effect("keeps the answer and the number of its calls when it is disabled before the next one", function* () {
    const receiver = yield* Receiver.listen({ answer: () => ({ status: 500 }) })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* working({ nextAt: (now) => Webhooks.retrySoon(now, 1) })
        yield* Webhooks.acceptEmail(endpoint.account_id)
        yield* World.until(Webhooks.deliveries(endpoint), ([first]) => first?.last_status === 500)
        yield* Webhooks.change(endpoint, (now) => Webhook.update(now, { enabled: false }, []))
        const record = yield* Webhooks.settledOne(endpoint)
        assert.deepInclude(record, { status: "failed", last_status: 500, attempts: receiver.calls.length })
        assert.deepStrictEqual(
          record.history.map(({ called, status }) => called ?? status),
          [...receiver.calls.map(() => 500), false],
        )
      }),
    )
  })
})
