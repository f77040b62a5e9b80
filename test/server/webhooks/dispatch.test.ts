import * as Webhook from "@waybill/domain/webhook/Webhook"
import { Duration, Effect, Layer } from "effect"
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
const refuses = (verify: () => unknown) => assert.throws(verify, /signature/iu)

layer(World.layer, { excludeTestServices: true })("a webhook call", (it) => {
  it.effect("has the event as its payload, with a signature that public libraries verify", function* () {
    yield* working()
    const receiver = yield* Receiver.listen({
      answer: () => ({ status: 201, headers: { "x-seen": "yes" }, body: "thanks" }),
    })
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    const email_id = yield* Webhooks.acceptEmail(endpoint.account_id)
    const record = yield* Webhooks.settledOne(endpoint)
    const [call, ...more] = receiver.calls
    if (call === undefined) return assert.fail("nothing came")
    assert.deepStrictEqual(more, [])
    const payload = verify(call, endpoint.secret)
    const { sequence, ...rest } = payload as { readonly sequence: number }
    // The sequence is the version in the stream of the email.
    assert.strictEqual(sequence, 1)
    assert.deepStrictEqual(rest as unknown, {
      id: record.event_id,
      type: "email.queued",
      livemode: true,
      api_version: "v1",
      created_at: record.created_at,
      data: {
        email_id,
        message_id: `<${email_id}@acme.test>`,
        from: "Acme <hi@acme.test>",
        to: ["ana@example.org"],
        subject: "Your receipt",
        tags: ["receipt"],
        metadata: {},
        scheduled_at: (payload as { data: { scheduled_at: string } }).data.scheduled_at,
        actor: { type: "system", id: null },
      },
    })
    const forged = call.body.replace("ana@", "eve@")
    refuses(() => new SvixWebhook(endpoint.secret).verify(forged, call.headers))
    refuses(() => new StandardWebhook(endpoint.secret).verify(forged, call.headers))
    refuses(() => verify(call, Webhooks.freshSecret()))
    assert.strictEqual(call.headers["content-type"], "application/json")
    const [attempt, ...others] = record.history
    assert.deepStrictEqual([record.status, record.attempts, others], ["delivered", 1, []])
    assert.deepInclude(attempt, {
      url: receiver.url,
      address: "127.0.0.1",
      status: 201,
      response_body: "thanks",
      error: null,
    })
    assert.strictEqual(attempt?.request_headers["webhook-signature"], call.headers["webhook-signature"])
    assert.strictEqual(attempt?.response_headers["x-seen"], "yes")
    assert.isAtLeast(attempt?.duration_ms ?? -1, 0)
    assert.strictEqual(yield* Webhooks.outbox(record.id), undefined)
  })

  it.effect("is made only to subscribers of the event type", function* () {
    yield* working()
    const receiver = yield* Receiver.listen()
    const account_id = id("AccountId")
    const queued = yield* Webhooks.create(`${receiver.url}/queued`, { account_id, events: ["email.queued"] })
    const opened = yield* Webhooks.create(`${receiver.url}/opened`, { account_id, events: ["email.opened"] })
    const all = yield* Webhooks.create(`${receiver.url}/all`, { account_id })
    const off = yield* Webhooks.create(`${receiver.url}/off`, { account_id, enabled: false })
    yield* Webhooks.appendOpened(account_id, yield* Webhooks.acceptEmail(account_id))
    yield* Webhooks.settledOne(queued)
    yield* Webhooks.settledOne(opened)
    yield* Webhooks.settledAll(all, 2)
    assert.deepStrictEqual(yield* Webhooks.deliveries(off), [])
    assert.deepStrictEqual(receiver.calls.map(({ path }) => path).toSorted(), [
      "/hook/all",
      "/hook/all",
      "/hook/opened",
      "/hook/queued",
    ])
  })

  it.effect("is signed with both secrets for a day after a rotation, and then with the new one only", function* () {
    yield* working()
    const receiver = yield* Receiver.listen()
    const endpoint = yield* Webhooks.create(receiver.url, { events: ["email.queued"] })
    const next = { ...endpoint, secret: Webhooks.freshSecret() }
    yield* Webhooks.seal(next, "signing:2")
    yield* Webhooks.change(endpoint, (now) => Webhook.rotateSecret(now, "signing:2"))
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* Webhooks.settledOne(endpoint)
    const [during] = receiver.calls
    if (during === undefined) return assert.fail("nothing came")
    assert.lengthOf(during.headers["webhook-signature"]?.split(" ") ?? [], 2)
    verify(during, endpoint.secret)
    verify(during, next.secret)

    const sql = yield* Sql
    yield* Effect.orDie(sql`
        UPDATE webhooks SET signing = jsonb_set(signing, '{previous,0,until}', to_jsonb('2020-01-01T00:00:00.000Z'::text))
        WHERE id = ${endpoint.webhook_id}`)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    yield* Webhooks.settledAll(endpoint, 2)
    const after = receiver.calls[1]
    if (after === undefined) return assert.fail("the second never came")
    verify(after, next.secret)
    refuses(() => verify(after, endpoint.secret))
  })

  // threat: forged-calls
  it.effect("is never made unsigned, and the attempt has the reason", function* () {
    yield* working({ nextAt: Webhooks.never })
    const sql = yield* Sql
    const receiver = yield* Receiver.listen()
    for (const sealed of [true, false]) {
      const endpoint = yield* Webhooks.create(receiver.url, { sealed })
      yield* Effect.orDie(sql`UPDATE secrets SET key_id = 'lost' WHERE id = ${endpoint.webhook_id}`)
      yield* Webhooks.acceptEmail(endpoint.account_id)
      const { history, status } = yield* Webhooks.settledOne(endpoint)
      const why = `the signing secret cannot be ${sealed ? "opened" : "found"}`
      assert.deepStrictEqual([status, history[0]?.error], ["failed", why])
    }
    assert.deepStrictEqual(receiver.calls, [])
  })

  // threat: internal-addresses
  it.effect("does not follow a redirect", function* () {
    yield* working({ nextAt: Webhooks.never })
    const elsewhere = yield* Receiver.listen()
    const receiver = yield* Receiver.listen({ answer: () => ({ status: 307, headers: { location: elsewhere.url } }) })
    const endpoint = yield* Webhooks.create(receiver.url)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const record = yield* Webhooks.settledOne(endpoint)
    assert.deepStrictEqual([record.status, record.history[0]?.status], ["failed", 307])
    assert.deepStrictEqual([receiver.calls.length, elsewhere.calls.length], [1, 0])
  })

  it.effect("keeps the first 4 KB of an answer and closes an endless one", function* () {
    yield* working({ nextAt: Webhooks.never })
    const receiver = yield* Receiver.listen({
      answer: () => ({ status: 500, body: `\u0000${"x".repeat(2_000_000)}` }),
    })
    const endpoint = yield* Webhooks.create(receiver.url)
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const record = yield* Webhooks.settledOne(endpoint)
    assert.strictEqual(record.history[0]?.status, 500)
    assert.strictEqual(record.history[0]?.response_body, `\ufffd${"x".repeat(4095)}`)
  })

  it.effect("times out without an answer, and keeps a status whose body does not arrive", function* () {
    // Only one of the three never answers; the others have answered by then.
    yield* working({ nextAt: Webhooks.never, timeout: Duration.seconds(3) })
    const silent = yield* Receiver.listen({ answer: () => "hang" })
    const slow = yield* Receiver.listen({ answer: () => "stall" })
    const rude = yield* Receiver.listen({ answer: () => "drop" })
    const account_id = id("AccountId")
    const first = yield* Webhooks.create(silent.url, { account_id })
    const second = yield* Webhooks.create(slow.url, { account_id })
    const third = yield* Webhooks.create(rude.url, { account_id })
    yield* Webhooks.acceptEmail(account_id)
    const [hung, stalled, dropped] = [
      yield* Webhooks.settledOne(first),
      yield* Webhooks.settledOne(second),
      yield* Webhooks.settledOne(third),
    ]
    assert.deepStrictEqual([hung.status, hung.history[0]?.error], ["failed", "no answer within 3 s"])
    assert.isAtLeast(hung.history[0]?.duration_ms ?? 0, 2_990)
    assert.deepStrictEqual(
      [stalled.status, stalled.history[0]?.status, stalled.history[0]?.response_body, stalled.history[0]?.error],
      ["delivered", 200, "half", "no end of the answer within 3 s"],
    )
    assert.deepStrictEqual([dropped.status, dropped.history[0]?.error], ["failed", "socket hang up"])
  })

  it.effect("reuses a connection, and is repeated if the endpoint has closed it", function* () {
    yield* working()
    let closing = false
    const receiver = yield* Receiver.listen({
      keepAliveMs: 60_000,
      // The endpoint closes the connection when the second call begins.
      answer: (_, nth) => (closing && nth === 3 ? "drop" : { status: 204 }),
    })
    const endpoint = yield* Webhooks.create(receiver.url)
    for (const count of [1, 2]) {
      yield* Webhooks.acceptEmail(endpoint.account_id)
      yield* Webhooks.settledAll(endpoint, count)
    }
    assert.strictEqual(receiver.connections(), 1)
    closing = true
    yield* Webhooks.acceptEmail(endpoint.account_id)
    const all = yield* Webhooks.settledAll(endpoint, 3)
    assert.deepStrictEqual(
      all.map(({ attempts, status }) => [status, attempts]),
      Array.from({ length: 3 }, () => ["delivered", 1]),
    )
    assert.deepStrictEqual([receiver.calls.length, receiver.connections()], [4, 2])
  })
})
