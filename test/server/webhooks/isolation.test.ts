import { Duration, Effect, Layer } from "effect"
import { shownDeliveryStatus } from "@waybill/domain/webhook/shownDeliveryStatus"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"

const EVENTS = 120

layer(World.layer, { excludeTestServices: true })("an endpoint that hangs", (it) => {
  it.effect(
    "keeps nobody else waiting, and its own backlog is set aside uncounted",
    function* () {
      const sql = yield* Sql
      const account_id = id("AccountId")
      const hanging = yield* Receiver.listen({ answer: () => "hang" })
      const healthy = yield* Receiver.listen()
      const dead = yield* Webhooks.create(hanging.url, { account_id })
      const alive = yield* Webhooks.create(healthy.url, { account_id })
      yield* Effect.forEach(Array.from({ length: EVENTS }), () => Webhooks.acceptEmail(account_id), {
        concurrency: 50,
      })
      const shown = Effect.map(Webhooks.deliveries(dead), (all) => new Set(all.map(shownDeliveryStatus)))
      assert.deepStrictEqual([...(yield* shown)], ["pending"])
      const { url } = yield* Database.Fresh
      yield* Layer.build(Webhooks.worker(url, { timeout: Duration.seconds(90) }))
      // Closed before the worker, which would wait for its calls.
      yield* Effect.addFinalizer(() => Effect.promise(hanging.close))
      // Half of the timeout of the hanging endpoint.
      const told = yield* Webhooks.settledAll(alive, EVENTS, Duration.seconds(45))
      assert.isTrue(told.every(({ status }) => status === "delivered"))
      assert.strictEqual(healthy.calls.length, EVENTS)
      assert.isAtMost(hanging.calls.length, 20)
      const aside = yield* World.until(
        Effect.orDie(sql<{ readonly n: number; readonly attempts: number }>`
          SELECT count(*)::int AS n, coalesce(max(attempt), 0) AS attempts FROM outbox
          WHERE stream_id = ${dead.webhook_id} AND NOT ready AND lease_token IS NULL`),
        ([row]) => (row?.n ?? 0) > EVENTS / 2,
      )
      assert.strictEqual(aside[0]?.attempts, 0)
      const pending = yield* Webhooks.deliveries(dead)
      assert.isTrue(pending.every(({ attempts, status }) => status === "pending" && attempts === 0))
      // The API tells when these are called.
      assert.isTrue((yield* shown).has("held"))
    },
    120_000,
  )
})

layer(World.layer, { excludeTestServices: true })("a quick endpoint", (it) => {
  it.effect(
    "is given a backlog far longer than its places without a pause",
    function* () {
      const receiver = yield* Receiver.listen()
      const endpoint = yield* Webhooks.create(receiver.url)
      yield* Effect.forEach(Array.from({ length: EVENTS }), () => Webhooks.acceptEmail(endpoint.account_id), {
        concurrency: 50,
      })
      const { url } = yield* Database.Fresh
      yield* Layer.build(Webhooks.worker(url))
      yield* Webhooks.settledAll(endpoint, EVENTS, Duration.seconds(45))
      // Connections are reused. On a busy machine the receiver may close idle ones, so a few more are allowed.
      assert.isBelow(receiver.connections(), EVENTS / 2)
    },
    120_000,
  )
})
