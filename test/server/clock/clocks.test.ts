import { Effect, Fiber } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Receiver from "../../support/web/WebhookReceiver.ts"
import { HttpWorld, reasonOf } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import { BEGIN, customer, EMAIL, leases, worker } from "./customer.ts"

layer(HttpWorld.layer({ allowedNetworks: ["127.0.0.0/8"] }), { excludeTestServices: true, timeout: "90 seconds" })(
  "a test clock",
  (it) => {
    it.effect("moves scheduled mail and retries through days, in order and each event at its time", function* () {
      yield* worker
      const { advance, callTest, clock, send, timeline } = yield* customer
      const retried = yield* send({ to: "deferred@example.org" })
      const scheduled = yield* send({ scheduled_at: "2030-01-02T12:00:00Z" })
      const between = yield* send({ scheduled_at: "2030-01-01T00:03:00Z" })
      const later = yield* send({ scheduled_at: "2030-01-04T00:00:00.001Z" })
      const script = "defer 451 4.7.1; defer; bounce 550 5.1.1"
      const scripted = yield* send({ headers: { "X-Waybill-Test-Clock": clock, "X-Waybill-Script": script } })
      const { json, status } = yield* advance({ by: "P3D" })
      const shown = { status: "ready", now: "2030-01-04T00:00:00.000Z", advancing_to: null, stopped: null }
      assert.strictEqual(status, 200)
      assert.deepInclude(json, shown)
      assert.deepStrictEqual(yield* timeline(retried), [
        `${BEGIN} email.queued`,
        `${BEGIN} email.delivery_delayed`,
        "2030-01-01T00:01:00.000Z email.delivery_delayed",
        "2030-01-01T00:06:00.000Z email.delivered",
      ])
      assert.deepStrictEqual(yield* timeline(scheduled), [
        `${BEGIN} email.queued`,
        "2030-01-02T12:00:00.000Z email.delivered",
      ])
      assert.deepStrictEqual(yield* timeline(later), [`${BEGIN} email.queued`])
      assert.deepStrictEqual(yield* timeline(scripted), [
        `${BEGIN} email.queued`,
        `${BEGIN} email.delivery_delayed`,
        "2030-01-01T00:01:00.000Z email.delivery_delayed",
        "2030-01-01T00:06:00.000Z email.bounced",
      ])
      // The feed of test mail has the outcomes in the order of their times.
      const feed = yield* callTest("GET", "/v1/events?limit=1000&types=email.delivered,email.delivery_delayed")
      assert.deepStrictEqual(
        feed.json.data.map(({ stream_id }: { stream_id: string }) => stream_id).filter((id: string) => id !== scripted),
        [retried, retried, between, retried, scheduled],
      )
      const mail = yield* callTest("GET", `/v1/sandbox/messages/${scheduled}`)
      assert.include(JSON.stringify(mail.json), "Tue, 01 Jan 2030 00:00:00 +0000")
      assert.deepInclude((yield* advance({ to: "2030-01-04T01:00:00+01:00" })).json, shown)
      assert.deepInclude((yield* advance({ by: "PT0.001S" })).json, { ...shown, now: "2030-01-04T00:00:00.001Z" })
      assert.lengthOf(yield* timeline(later), 2)
      // Content expires on the clock, too.
      const content = Effect.map(callTest("GET", `/v1/email/logs/${scheduled}`), ({ json }) => json.content)
      assert.strictEqual((yield* content).text, EMAIL.text)
      yield* advance({ by: "P1Y" })
      assert.isNull(yield* content)
      const copy = yield* callTest("POST", `/v1/email/${retried}/resend`)
      assert.deepStrictEqual(reasonOf(copy), [422, "content_expired"])
    })

    it.effect("moves the retries of webhook calls, which are signed in real time and disable no webhook", function* () {
      yield* worker
      const { advance, call, send } = yield* customer
      const receiver = yield* Receiver.listen({ answer: (_, nth) => ({ status: nth <= 3 ? 500 : 204 }) })
      const events = ["email.delivered"]
      const webhook = yield* call("POST", "/v1/webhooks", { url: receiver.url, events })
      const email_id = yield* send({ scheduled_at: "2030-01-01T10:00:00Z" })
      yield* advance({ by: "P1D" })
      const list = yield* call("GET", `/v1/webhooks/${webhook.json.id}/deliveries`)
      const [delivery] = list.json.data
      const detail = yield* call("GET", `/v1/webhooks/${webhook.json.id}/deliveries/${delivery.id}`)
      assert.deepStrictEqual(
        detail.json.history.map(({ at, status }: { at: string; status: number }) => [at, status]),
        [
          ["2030-01-01T10:00:00.000Z", 500],
          ["2030-01-01T10:00:05.000Z", 500],
          ["2030-01-01T10:05:05.000Z", 500],
          ["2030-01-01T10:35:05.000Z", 204],
        ],
      )
      assert.deepInclude(delivery, { status: "delivered", delivered_at: "2030-01-01T10:35:05.000Z" })
      const [first] = receiver.calls
      const body = JSON.parse(first?.body ?? "{}")
      assert.deepInclude(body, { created_at: "2030-01-01T10:00:00.000Z", livemode: false })
      assert.strictEqual(body.data.email_id, email_id)
      const ahead = Number(first?.headers["webhook-timestamp"]) - Date.now() / 1000
      assert.isBelow(Math.abs(ahead), 120)
      // The last call that a webhook shows is that of real time, whatever a clock shows.
      const lastCall = Effect.map(call("GET", `/v1/webhooks/${webhook.json.id}`), ({ json }) => json.last_call)
      const { at, delivery_id } = yield* lastCall
      assert.deepStrictEqual(
        [Date.parse(at) / 1000, delivery_id],
        [Number(receiver.calls.at(-1)?.headers["webhook-timestamp"]), delivery.id],
      )
      yield* call("POST", `/v1/webhooks/${webhook.json.id}/test`)
      yield* World.until(lastCall, (last) => last.delivery_id !== delivery_id)
      // An endpoint that fails for days of a test clock still gets live mail.
      const gone = yield* Receiver.listen({ answer: () => ({ status: 500 }) })
      const failing = yield* call("POST", "/v1/webhooks", { url: gone.url, events })
      yield* send()
      yield* advance({ by: "P30D" })
      assert.lengthOf(gone.calls, 8)
      assert.strictEqual((yield* call("GET", `/v1/webhooks/${failing.json.id}`)).json.enabled, true)
    })

    it.effect("leaves other clocks, mail on real time and live mail alone", function* () {
      yield* worker
      const { account, advance, call, callTest, log, makeClock, send, timeline } = yield* customer
      yield* World.verifiedDomain("acme.test", account)
      const other = yield* makeClock
      const scheduled_at = "2030-01-02T00:00:00Z"
      const own = yield* send({ scheduled_at })
      const others = yield* send({ scheduled_at }, other)
      const soon = new Date(Date.now() + 86_400_000).toISOString()
      const real = yield* callTest("POST", "/v1/email/send", { ...EMAIL, scheduled_at: soon })
      const live = yield* call("POST", "/v1/email/send", { ...EMAIL, from: "hi@acme.test", scheduled_at: soon })
      yield* advance({ by: "P2D" })
      assert.lengthOf(yield* timeline(own), 2)
      assert.lengthOf(yield* timeline(others), 1)
      assert.lengthOf(yield* timeline(real.json.id), 1)
      assert.strictEqual((yield* log(live.json.id)).status, "queued")
      assert.deepInclude((yield* callTest("GET", `/v1/test/clocks/${other}`)).json, { now: BEGIN, status: "ready" })
      yield* advance({ by: "P1D" }, other)
      assert.deepStrictEqual(yield* timeline(others), [
        `${BEGIN} email.queued`,
        "2030-01-02T00:00:00.000Z email.delivered",
      ])
    })

    it.effect("continues an advance after the process that ran it is gone, and does nothing twice", function* () {
      const stop = yield* worker
      const { advance, callTest, clock, send, timeline } = yield* customer
      const slow = yield* send({ to: "slow@example.org", scheduled_at: "2030-01-01T01:00:00Z" })
      const last = yield* send({ scheduled_at: "2030-01-01T02:00:00Z" })
      const advancing = yield* Effect.forkChild(advance({ by: "PT3H" }))
      // The account may call 120 times a minute.
      const look = Effect.delay(callTest("GET", `/v1/test/clocks/${clock}`), "100 millis")
      // The delivery of the first message takes two seconds.
      yield* World.until(look, ({ json }) => json.now === "2030-01-01T01:00:00.000Z")
      assert.deepStrictEqual(reasonOf(yield* advance({ by: "PT1H" })), [422, "test_clock_advancing"])
      yield* World.until(leases, (leased) => leased === 2)
      yield* stop
      assert.deepInclude((yield* look).json, { status: "advancing", advancing_to: "2030-01-01T03:00:00.000Z" })
      yield* worker
      const ready = yield* World.until(look, ({ json }) => json.status === "ready")
      assert.strictEqual(ready.json.now, "2030-01-01T03:00:00.000Z")
      // The delivery was lost with the process, unless it ended just before.
      assert.deepStrictEqual(
        (yield* timeline(slow)).filter((each) => !each.endsWith("01:00:00.000Z email.attempt_lost")),
        [`${BEGIN} email.queued`, "2030-01-01T01:00:00.000Z email.delivered"],
      )
      assert.deepStrictEqual(yield* timeline(last), [
        `${BEGIN} email.queued`,
        "2030-01-01T02:00:00.000Z email.delivered",
      ])
      assert.strictEqual((yield* Fiber.join(advancing)).status, 200)
    })

    it.effect("decides changes of its mail, and fails what waits on it when it is deleted", function* () {
      yield* worker
      const { advance, callTest, clock, send, timeline } = yield* customer
      const id = yield* send({ scheduled_at: "2030-01-10T00:00:00Z" })
      const canceled = yield* send({ scheduled_at: "2030-01-10T00:00:00Z" })
      const reschedule = (scheduled_at: string) => callTest("PATCH", `/v1/email/${id}`, { scheduled_at })
      assert.deepStrictEqual(reasonOf(yield* reschedule("2029-12-31T00:00:00Z")), [422, "scheduled_at_out_of_range"])
      assert.strictEqual((yield* reschedule("2030-01-05T00:00:00Z")).status, 200)
      yield* advance({ by: "P1D" })
      yield* callTest("POST", `/v1/email/${canceled}/cancel`)
      assert.deepStrictEqual(yield* timeline(canceled), [
        `${BEGIN} email.queued`,
        "2030-01-02T00:00:00.000Z email.canceled",
      ])
      const deleted = yield* callTest("DELETE", `/v1/test/clocks/${clock}`)
      assert.deepStrictEqual(deleted.json, { object: "test_clock", id: clock, deleted: true })
      const { json } = yield* World.until(
        callTest("GET", `/v1/email/logs/${id}`),
        (log) => log.json.status === "failed",
      )
      assert.deepInclude(json, { test_clock: clock, updated_at: "2030-01-02T00:00:00.000Z" })
      assert.strictEqual(json.error.category, "test_clock_deleted")
      const answers = [
        yield* callTest("GET", `/v1/test/clocks/${clock}`),
        yield* advance({ by: "P1D" }),
        yield* callTest("DELETE", `/v1/test/clocks/${clock}`),
      ]
      for (const answer of answers) assert.deepStrictEqual(reasonOf(answer), [404, "test_clock_deleted"])
      assert.deepStrictEqual((yield* callTest("GET", "/v1/test/clocks")).json.data, [])
    })
  },
)
