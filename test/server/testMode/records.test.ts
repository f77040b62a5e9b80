import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import { Clock, Effect, Layer } from "effect"
import { Waybill } from "../../../packages/client/src/Waybill.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import * as Webhooks from "../../support/web/Webhooks.ts"
import { type Answer, EMAIL, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

/** Sender, recipient and script of a test message that bounces and suppresses. */
const BOUNCES = { ...EMAIL, from: "hi@shop.example", headers: { "X-Waybill-Script": "bounce+suppress" } }
const TYPES = ["email.queued", "email.bounced"] as const

const modesOf = ({ json }: Answer): ReadonlyArray<boolean> => [
  ...new Set<boolean>(json.data.map(({ livemode }: { readonly livemode: boolean }) => livemode)),
]

/** An account with a live message, a test message that bounced and one that was delivered, and the calls of its webhooks. */
const furnished = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  yield* Layer.build(Webhooks.worker(url))
  const owner = yield* signUp({ domains: ["acme.test"] })
  const key = yield* owner.keyWith({ mode: "test" })
  const callTest = (method: string, path: string, body?: unknown) => owner.world.request(method, path, { key, body })
  const receiver = yield* Receiver.listen()
  const formats = ["waybill", "resend"] as const
  const webhooks = yield* Effect.forEach(formats, (format) =>
    owner.call("POST", "/v1/webhooks", { url: `${receiver.url}/${format}`, format, events: TYPES }),
  )
  const live = yield* owner.send({ scheduled_at: new Date((yield* Clock.currentTimeMillis) + 3_600_000).toISOString() })
  const bounced = (yield* callTest("POST", "/v1/email/send", BOUNCES)).json.id as string
  const delivered = (yield* callTest("POST", "/v1/email/send", { ...EMAIL, to: "bo@example.org" })).json.id as string
  /** Type and mode of the calls so far, without order. */
  const called = (format: string) =>
    receiver.calls
      .filter(({ path }) => path.endsWith(`/${format}`))
      .map(({ body }) => JSON.parse(body) as { readonly type: string; readonly livemode?: boolean })
      .map(({ livemode, type }) => `${type} ${livemode}`)
      .toSorted()
  const arrived = (count: number) =>
    World.until(
      Effect.sync(() => receiver.calls.length),
      (calls) => calls === count,
    )
  const webhook = webhooks[0]?.json.id as string
  return { ...owner, arrived, bounced, callTest, called, delivered, key, live, receiver, webhook }
})

const layers = HttpWorld.layer({ requestLog: true, allowedNetworks: ["127.0.0.0/8"] })

layer(layers, { excludeTestServices: true, timeout: "90 seconds" })("live and test mail", (it) => {
  it.effect("are marked in the calls of webhooks in both formats, and replayed together", function* () {
    const { arrived, call, callTest, called, receiver, webhook } = yield* furnished
    yield* arrived(6)
    const each = ["email.bounced false", "email.queued false", "email.queued false", "email.queued true"]
    // A service that has no test mail has no word for live mail.
    const inResend = ["email.bounced false", "email.scheduled undefined"]
    assert.deepStrictEqual(called("waybill"), each)
    assert.deepStrictEqual(called("resend"), inResend)
    const { json } = yield* call("GET", `/v1/webhooks/${webhook}/deliveries`)
    const marks = json.data.map(
      (delivery: Record<string, unknown>) => `${delivery["event_type"]} ${delivery["livemode"]}`,
    )
    assert.deepStrictEqual(marks.toSorted(), each)
    const one = yield* call("GET", `/v1/webhooks/${webhook}/deliveries/${json.data[0].id}`)
    assert.strictEqual(one.json.livemode, json.data[0].livemode)

    const range = { created_after: "2020-01-01T00:00:00Z", created_before: "2999-01-01T00:00:00Z" }
    const replayed = yield* call("POST", `/v1/webhooks/${webhook}/replay`, range)
    assert.strictEqual(replayed.json.queued, 4, replayed.text)
    yield* arrived(10)
    assert.deepStrictEqual(called("waybill"), [...each, ...each].toSorted())
    // A younger webhook gets the test events with their mode, too.
    const younger = yield* call("POST", "/v1/webhooks", { url: `${receiver.url}/younger`, events: TYPES })
    yield* call("POST", `/v1/webhooks/${younger.json.id}/replay`, range)
    yield* arrived(14)
    assert.deepStrictEqual(called("younger"), each)
    assert.deepStrictEqual(reasonOf(yield* callTest("POST", `/v1/webhooks/${webhook}/replay`, range)), [
      403,
      "live_only",
    ])
  })

  it.effect("are apart in every list, and each record says which it is", function* () {
    const { arrived, bounced, call, callTest, delivered, key, live, world } = yield* furnished
    yield* arrived(6)
    yield* World.until(callTest("GET", `/v1/sandbox/messages`), ({ json }) => json.data.length > 0)
    yield* call("POST", "/v1/suppressions", { email: "cy@example.org" })
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
    yield* World.until(callTest("GET", "/v1/requests"), ({ json }) => json.data.length > 0)
    const lists = ["/v1/email/logs", "/v1/suppressions", "/v1/requests", "/v1/events?limit=1000&types=email.queued"]
    for (const path of lists) {
      assert.deepStrictEqual(modesOf(yield* call("GET", path)), [true], path)
      assert.deepStrictEqual(modesOf(yield* callTest("GET", path)), [false], path)
    }
    const found = yield* callTest("GET", "/v1/suppressions/ana@example.org")
    assert.deepStrictEqual(
      [found.json.reason, found.json.livemode, found.json.email_id],
      ["hard_bounce", false, bounced],
    )
    assert.strictEqual((yield* call("GET", "/v1/suppressions/ana@example.org")).status, 404)
    const added = yield* callTest("POST", "/v1/suppressions", { email: "di@example.org" })
    assert.deepStrictEqual([added.status, added.json.livemode], [201, false])

    const mail = yield* callTest("GET", `/v1/sandbox/messages/${delivered}`)
    assert.deepStrictEqual([mail.json.livemode, mail.json.recipients], [false, ["bo@example.org"]])
    assert.deepStrictEqual(modesOf(yield* callTest("GET", "/v1/sandbox/messages")), [false])
    assert.deepStrictEqual((yield* call("GET", "/v1/sandbox/messages")).json.data, [])
    const stats = yield* Effect.forEach([call, callTest], (ask) => ask("GET", "/v1/stats"))
    assert.deepStrictEqual(
      stats.map(({ json }) => [json.livemode, json.data[0].accepted, json.data[0].bounced]),
      [
        [true, 1, 0],
        [false, 2, 1],
      ],
    )
    // A key is told that its account has the mail in the other mode, and another account is not.
    const stranger = yield* signUp()
    for (const part of ["", "/events"]) {
      const messageFor = (who: typeof call, id: string) =>
        Effect.map(who("GET", `/v1/email/logs/${id}${part}`), ({ json, status }) => [status, json.error.message])
      const said = (mode: string) => [404, `The email with this id is ${mode} mail; use a ${mode} key.`]
      assert.deepStrictEqual(yield* messageFor(call, delivered), said("test"))
      assert.deepStrictEqual(yield* messageFor(callTest, live), said("live"))
      assert.deepStrictEqual(yield* messageFor(stranger.call, delivered), [
        404,
        "No email with this id exists in this account.",
      ])
    }
    const request = (yield* callTest("GET", "/v1/requests")).json.data[0]
    assert.strictEqual((yield* call("GET", `/v1/requests/${request.id}`)).status, 404)
    assert.strictEqual((yield* callTest("GET", `/v1/requests/${request.id}`)).json.livemode, false)

    const feed = new Waybill(key, { baseUrl: world.url })
    const first = yield* Effect.promise(async () => {
      for await (const event of feed.events.stream({ types: ["email.queued"], after_position: "0" })) return event
      return undefined
    })
    assert.deepStrictEqual([first?.stream_id, first?.livemode], [bounced, false])
    assert.notStrictEqual(first?.stream_id, live)
  })
})
