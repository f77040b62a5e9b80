import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { fieldOf, HttpWorld, reasonOf } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "../smtp/support.ts"
import { BEGIN, customer, EMAIL } from "./customer.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a test clock", (it) => {
  it.effect("holds the mail of a key, and of each door that names it", function* () {
    const { callTest, clock, call, keyWith, world } = yield* customer
    const created = yield* call("POST", "/v1/api-keys", {
      name: "ci",
      mode: "test",
      scopes: ["email:send"],
      test_clock: clock,
    })
    assert.deepInclude(created.json, { mode: "test", test_clock: clock })
    const headers = { "X-Waybill-Test-Clock": clock }
    const port = yield* Smtp.submission()
    const real = yield* keyWith({ mode: "test", scopes: ["email:send"] })
    yield* world.request("POST", "/v1/email/send", { key: created.json.key, body: EMAIL })
    yield* callTest("POST", "/v1/email/send/batch", { emails: [{ ...EMAIL, headers }] })
    yield* callTest("POST", "/compat/resend/emails", { ...EMAIL, headers })
    assert.match(yield* Smtp.send(port, created.json.key, { ...EMAIL, from: "hi@shop.example" }), /^250 /u)
    assert.match(yield* Smtp.send(port, real, { ...EMAIL, from: "hi@shop.example", headers }), /^250 /u)
    const list = yield* callTest("GET", "/v1/email/logs")
    assert.deepStrictEqual(
      list.json.data.map((each: { created_at: string; test_clock: string }) => [each.created_at, each.test_clock]),
      Array.from({ length: 5 }, () => [BEGIN, clock]),
    )
    const [first] = list.json.data
    const events = yield* callTest("GET", `/v1/email/logs/${first.id}/events`)
    assert.notProperty(events.json.data[0].data.headers, "X-Waybill-Test-Clock")
  })

  it.effect("is the time that Resend's words for a schedule count from", function* () {
    const { call, callTest, clock, world } = yield* customer
    const later = { ...EMAIL, scheduled_at: "in 1 hour" }
    const onClock = { name: "ci", mode: "test", scopes: ["email:send"], test_clock: clock }
    const { key } = (yield* call("POST", "/v1/api-keys", onClock)).json
    yield* callTest("POST", "/compat/resend/emails", { ...later, headers: { "X-Waybill-Test-Clock": clock } })
    yield* world.request("POST", "/compat/resend/emails", { key, body: later })
    const list = yield* callTest("GET", "/v1/email/logs")
    const inAnHour = new Date(Date.parse(BEGIN) + 3_600_000).toISOString()
    assert.deepStrictEqual(
      list.json.data.map((each: { scheduled_at: string }) => each.scheduled_at),
      [inAnHour, inAnHour],
    )
  })

  it.effect("refuses what it cannot be, with the field and the reason", function* () {
    const { account, advance, call, callTest, clock } = yield* customer
    yield* World.verifiedDomain("acme.test", account)
    const stranger = yield* customer
    const unknown = "clk_01m7ynaym0e008000000000001"
    const on = (id: string) => ({ ...EMAIL, from: "hi@acme.test", headers: { "x-waybill-test-clock": id } })
    const reasons = yield* Effect.all([
      advance({ to: "2029-12-31T23:59:59Z" }),
      advance({ by: "P2Y" }),
      advance({ to: "2031-01-03T00:00:00Z" }),
      callTest("POST", "/v1/test/clocks", { now: "1999-12-31T00:00:00Z" }),
      stranger.callTest("GET", `/v1/test/clocks/${clock}`),
      stranger.advance({ by: "P1D" }, clock),
      call("GET", "/v1/test/clocks"),
      call("POST", `/v1/test/clocks/${clock}/advance`, { by: "P1D" }),
      call("POST", "/v1/email/send", on(clock)),
      callTest("POST", "/v1/email/send", on(unknown)),
      stranger.callTest("POST", "/v1/email/send", on(clock)),
      call("POST", "/v1/api-keys", { name: "x", scopes: ["email:send"], test_clock: clock }),
      call("POST", "/v1/api-keys", { name: "x", mode: "test", scopes: ["email:send"], test_clock: unknown }),
      callTest("POST", "/v1/email/send", { ...on(clock), scheduled_at: "2030-02-01T00:00:00Z" }),
    ]).pipe(Effect.map((answers) => answers.map(reasonOf)))
    assert.deepStrictEqual(reasons, [
      [422, "test_clock_moved_back"],
      [422, "advance_too_far"],
      [422, "advance_too_far"],
      [422, "test_clock_out_of_range"],
      [404, "test_clock_not_found"],
      [404, "test_clock_not_found"],
      [403, "test_only"],
      [403, "test_only"],
      [400, "test_clock_of_live_mail"],
      [422, "test_clock_not_found"],
      [422, "test_clock_not_found"],
      [422, "test_clock_of_live_key"],
      [422, "test_clock_not_found"],
      [422, "scheduled_at_out_of_range"],
    ])
    const fields = yield* Effect.all([
      advance({ by: "3 days" }),
      advance({ by: "-P1D" }),
      advance({ by: "P1D", to: "2030-02-01T00:00:00Z" }),
      advance({}),
      callTest("POST", "/v1/email/send", on("tomorrow")),
      call("POST", "/v1/email/send", on(clock)),
    ]).pipe(Effect.map((answers) => answers.map(fieldOf)))
    assert.deepStrictEqual(fields, [
      [400, "by"],
      [400, "by"],
      [400, ""],
      [400, ""],
      [400, "headers.x-waybill-test-clock"],
      [400, "headers.X-Waybill-Test-Clock"],
    ])
  })
})
