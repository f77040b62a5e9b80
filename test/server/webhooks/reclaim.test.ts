import type { Timestamp } from "@waybill/domain/values/Timestamp"
import * as Webhook from "@waybill/domain/webhook/Webhook"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as Leases from "@waybill/store/outbox/Leases"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import * as Retention from "@waybill/store/erasure/Retention"
import * as SettledCalls from "@waybill/store/webhooks/SettledCalls"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import { Duration, Effect, Layer, Redacted } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"

const PROGRAM = fileURLToPath(new URL("program.ts", import.meta.url))

const attempt = (status: number): WebhookDeliveries.Attempt => ({
  at: "2026-11-21T09:00:00.000Z" as Timestamp,
  url: "http://127.0.0.1/",
  address: "127.0.0.1",
  request_headers: {},
  status,
  response_headers: {},
  response_body: "",
  duration_ms: 1,
  error: null,
})

/** Lets processes that hold the row die so many times, and returns the pause in seconds after each. */
const lose = Effect.fnUntraced(function* (id: string, times: number) {
  const sql = yield* Sql
  const paused: Array<number | undefined> = []
  for (let n = 0; n < times; n++) {
    yield* Effect.orDie(sql`
      UPDATE outbox SET lease_token = 'lost', lease_owner = 'prc_dead', lease_until = now() + interval '1 minute'
      WHERE id = ${id}`)
    yield* Reclaim.reclaim(yield* Leases.heldBy("prc_dead"))
    const [row] = yield* Effect.orDie(sql<{ readonly seconds: number }>`
      SELECT CASE WHEN ready THEN 0 ELSE extract(epoch FROM o.available_at - now())::float8 END AS seconds
      FROM outbox o JOIN webhook_deliveries d USING (account_id, id)
      WHERE id = ${id} AND lease_token IS NULL AND (ready OR o.available_at = d.next_attempt_at)`)
    paused.push(row?.seconds)
  }
  return paused
})

const claim = (owner: string, token: string) =>
  Leases.claim({ kind: "webhook", owner, token, limit: 10, without: new Set(), after: "" })

layer(World.layer, { excludeTestServices: true })("a result", (it) => {
  it.effect("is dropped if its lease has passed on, and the new holder's is kept", function* () {
    const sql = yield* Sql
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook")
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const [first] = (yield* claim("prc_1", "one")).rows
    if (first === undefined) return assert.fail("nothing was claimed")
    yield* Leases.release([first])
    const [second] = (yield* claim("prc_2", "two")).rows
    assert.strictEqual(second?.id, first.id)
    const settled = (token: string, status: number): SettledCalls.Settled => ({
      account_id: endpoint.account_id,
      id: first.id,
      status: status === 200 ? "delivered" : "failed",
      next_attempt_at: null,
      delivered_at: status === 200 ? "2026-11-21T09:00:01.000Z" : null,
      attempt: attempt(status),
      token,
      armed_at: first.available_at,
    })
    assert.deepStrictEqual(yield* Effect.orDie(SettledCalls.settle(sql, [settled("one", 500)])), [])
    const [untouched] = yield* Webhooks.deliveries(endpoint)
    assert.deepStrictEqual([untouched?.status, untouched?.attempts, untouched?.history], ["pending", 0, []])
    assert.lengthOf(yield* Effect.orDie(SettledCalls.settle(sql, [settled("two", 200)])), 1)
    assert.lengthOf(yield* Effect.orDie(SettledCalls.settle(sql, [settled("two", 500)])), 0)
    const [record] = yield* Webhooks.deliveries(endpoint)
    assert.deepStrictEqual([record?.status, record?.attempts], ["delivered", 1])
    assert.strictEqual(yield* Webhooks.outbox(first.id), undefined)
  })
})

layer(World.layer, { excludeTestServices: true })("a webhook that was deleted while its calls failed", (it) => {
  it.effect("leaves no deliveries behind, also if a call was in flight, and the audit passes", function* () {
    const sql = yield* Sql
    const [kept, deleted] = [
      yield* Webhooks.create("http://127.0.0.1:9/kept"),
      yield* Webhooks.create("http://127.0.0.1:9/deleted"),
    ]
    const fails = Effect.fnUntraced(function* ({ account_id }: Webhooks.Endpoint, token: string) {
      yield* Webhooks.acceptEmail(account_id)
      const row = (yield* claim("prc_1", token)).rows.find((row) => row.account_id === account_id)
      if (row === undefined) return yield* Effect.die(new Error("nothing was claimed"))
      const failed: SettledCalls.Settled = {
        account_id,
        id: row.id,
        status: "failed",
        next_attempt_at: null,
        delivered_at: null,
        attempt: attempt(500),
        token,
        armed_at: row.available_at,
      }
      return Effect.orDie(SettledCalls.settle(sql, [failed]))
    })
    const failing = Effect.map(
      Effect.orDie(sql<{ readonly webhook_id: string }>`SELECT webhook_id FROM webhook_failures ORDER BY 1`),
      (rows) => rows.map(({ webhook_id }) => webhook_id),
    )
    yield* yield* fails(kept, "one")
    yield* yield* fails(deleted, "two")
    assert.deepStrictEqual(yield* failing, [kept.webhook_id, deleted.webhook_id].toSorted())
    const underWay = yield* fails(deleted, "three")
    yield* Webhooks.change(deleted, Webhook.remove)
    yield* Retention.expire()
    assert.deepStrictEqual(yield* failing, [kept.webhook_id])
    assert.lengthOf(yield* underWay, 1)
    assert.deepStrictEqual(yield* failing, [kept.webhook_id])
    const balances = (yield* Conservation.webhooks()).filter(({ account_id }) => account_id === deleted.account_id)
    for (const { deliveries, events, mismatched } of balances)
      assert.deepStrictEqual([deliveries, mismatched], [events, []])
  })
})

layer(World.layer, { excludeTestServices: true })("a call whose workers die", (it) => {
  it.effect("waits longer each time and finally fails; a replay starts again", function* () {
    const endpoint = yield* Webhooks.create("http://127.0.0.1:9/hook")
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const [{ id } = assert.fail("nothing is told")] = yield* Webhooks.deliveries(endpoint)
    const [first, second, third = 0, fourth = 0, ...more] = yield* lose(id, Reclaim.MAX_LOST)
    assert.deepStrictEqual([first, second], [0, 0])
    assert.isTrue(third >= 25 && third <= 90, `${third}`)
    assert.isTrue(fourth >= 115 && fourth <= 360, `${fourth}`)
    assert.isAbove(more.at(-2) ?? 0, 5 * 3_600)
    assert.isUndefined(yield* Webhooks.outbox(id))
    const [given] = yield* Webhooks.deliveries(endpoint)
    assert.deepInclude(given, { status: "failed", attempts: 1, next_attempt_at: null })
    assert.deepInclude(given?.history[0], { url: "http://127.0.0.1:9/hook", status: null })
    assert.match(given?.history[0]?.error ?? "", /^given up: /u)

    yield* WebhookDeliveries.replay(endpoint.account_id, endpoint.webhook_id, id, yield* Webhooks.now)
    assert.deepStrictEqual(yield* lose(id, Reclaim.MIN_LOSSES_TO_PAUSE - 1), [0, 0])
  })
})

layer(World.layer, { excludeTestServices: true })("a node that is killed during its calls", (it) => {
  it.effect(
    "has them made again by the next",
    function* () {
      let alive = false
      const receiver = yield* Receiver.listen({ answer: () => (alive ? { status: 200 } : "hang") })
      const endpoint = yield* Webhooks.create(receiver.url)
      const CALLS = 5
      yield* Effect.forEach(Array.from({ length: CALLS }), () => Webhooks.acceptEmail(endpoint.account_id))
      const { url } = yield* Database.Fresh
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => spawn(process.execPath, [PROGRAM, Redacted.value(url)], { stdio: "ignore" })),
        (child) => Effect.sync(() => child.kill("SIGKILL")),
      )
      const exited = new Promise((resolve) => child.on("exit", resolve))
      yield* World.until(
        Effect.sync(() => receiver.calls.length),
        (calls) => calls === CALLS,
        Duration.seconds(45),
      )
      child.kill("SIGKILL")
      yield* Effect.promise(() => exited)
      alive = true
      yield* Layer.build(Webhooks.worker(url))
      const all = yield* Webhooks.settledAll(endpoint, CALLS, Duration.seconds(45))
      assert.deepStrictEqual(
        all.map(({ attempts, status }) => [status, attempts]),
        Array.from({ length: CALLS }, () => ["delivered", 1]),
      )
      assert.strictEqual(receiver.calls.length, 2 * CALLS)
      assert.strictEqual(new Set(receiver.calls.map(({ headers }) => headers["webhook-id"])).size, CALLS)
    },
    120_000,
  )

  it.effect("gives back unstarted calls when it is stopped, and writes the results of the others", function* () {
    let release: (() => void) | undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const receiver = yield* Receiver.listen({ answer: () => gate.then(() => ({ status: 200 })) })
    const endpoint = yield* Webhooks.create(receiver.url)
    const CALLS = 40
    yield* Effect.forEach(Array.from({ length: CALLS }), () => Webhooks.acceptEmail(endpoint.account_id), {
      concurrency: 20,
    })
    const { url } = yield* Database.Fresh
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(Webhooks.worker(url))
        yield* World.until(
          Effect.sync(() => receiver.calls.length),
          (calls) => calls === 20,
        )
        // The worker stops before the first answer.
        setTimeout(() => release?.(), 200)
      }),
    )
    const all = yield* Webhooks.deliveries(endpoint)
    const delivered = all.filter(({ status }) => status === "delivered").length
    assert.strictEqual(delivered, receiver.calls.length)
    const sql = yield* Sql
    const [left] = yield* Effect.orDie(sql<{ readonly leased: number; readonly rows: number }>`
        SELECT count(*)::int AS rows, count(lease_token)::int AS leased FROM outbox WHERE stream_id = ${endpoint.webhook_id}`)
    assert.deepStrictEqual(left, { rows: CALLS - delivered, leased: 0 })
  })
})
