import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { fieldOf, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const MAIL = { from: "Ana <ana@example.org>", to: "support+42@shop.test", subject: "Your order", text: "Hi" }

layer(HttpWorld.layer(), { excludeTestServices: true })("routes of received mail", (it) => {
  it.effect("are created, listed in order, changed and deleted", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const create = (body: object) => call("POST", "/v1/inbound/routes", body)
    const first = yield* create({ action: { type: "store" } })
    assert.strictEqual(first.status, 201, JSON.stringify(first.json))
    assert.deepInclude(first.json, {
      object: "inbound_route",
      match: { to: null, from: null, subject: null, verdict: null },
      action: { type: "store", webhook_id: null, to: null, message: null },
      position: 0,
      enabled: true,
      stop: false,
    })
    const { json: second } = yield* create({
      match: { to: "Support+*@Shop.test" },
      action: { type: "reject", message: "Gone" },
    })
    assert.deepInclude(second, { position: 1, match: { ...first.json.match, to: "support+*@shop.test" } })
    assert.strictEqual((yield* call("PATCH", `/v1/inbound/routes/${second.id}`, { position: 0 })).json.position, 0)
    const { json: before } = yield* call("PATCH", `/v1/inbound/routes/${first.json.id}`, { position: 7, match: {} })
    assert.strictEqual(before.position, 7)
    const ids = Effect.map(call("GET", "/v1/inbound/routes"), ({ json }) =>
      json.data.map((route: { readonly id: string }) => route.id),
    )
    assert.deepStrictEqual(yield* ids, [second.id, first.json.id])
    assert.strictEqual((yield* call("DELETE", `/v1/inbound/routes/${second.id}`)).json.deleted, true)
    assert.deepStrictEqual(yield* ids, [first.json.id])
    assert.strictEqual((yield* call("GET", `/v1/inbound/routes/${second.id}`)).status, 404)
    assert.strictEqual((yield* call("PATCH", `/v1/inbound/routes/${second.id}`, { stop: true })).status, 404)
  })

  it.effect("are refused in words", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const create = (body: object) => call("POST", "/v1/inbound/routes", body)
    const drop = { type: "drop" }
    assert.deepStrictEqual(fieldOf(yield* create({ match: { to: "a*@shop.test" }, action: drop })), [400, "match.to"])
    assert.deepStrictEqual(fieldOf(yield* create({ action: drop, position: -1 })), [400, "position"])
    assert.deepStrictEqual(fieldOf(yield* create({ action: { type: "reject", message: "Nö" } })), [
      400,
      "action.message",
    ])
    assert.deepStrictEqual(fieldOf(yield* create({ action: drop, match: { subject: "" } })), [400, "match.subject"])
    for (const [type, message] of [
      ["accept", "must be one of webhook, forward, reject, drop or store"],
      ["stor", "did you mean `store`"],
      [undefined, "is required, one of webhook, forward, reject, drop or store"],
      [7, "must be one of webhook, forward, reject, drop or store"],
    ] as const) {
      const { json } = yield* create({ action: { type } })
      assert.strictEqual(json.error.details[0].path, "action.type")
      assert.include(json.error.details[0].message, message)
    }
    const unknown = { type: "webhook", webhook_id: `whk_${"0".repeat(26)}` }
    assert.deepStrictEqual(reasonOf(yield* create({ action: unknown })), [422, "webhook_not_found"])
  })

  it.effect("decide what becomes of a mail, which its record and the lists say", function* () {
    const { call, post } = yield* Effect.map(signUp({ domains: ["shop.test"] }), (customer) => ({
      ...customer,
      post: (path: string, body: object) => customer.call("POST", path, body),
    }))
    const routes = yield* Effect.forEach(
      [
        { match: { subject: "spam" }, action: { type: "drop" } },
        { match: { from: "*@bad.test" }, action: { type: "reject" } },
        { match: { to: "support+*@shop.test" }, action: { type: "store" }, stop: true },
        { match: { to: "*@shop.test" }, action: { type: "webhook" } },
      ],
      (route) => Effect.map(post("/v1/inbound/routes", route), ({ json }) => json.id as string),
    )
    const receive = (mail: object) => Effect.map(post("/v1/test/inbound", { ...MAIL, ...mail }), ({ json }) => json)
    const of = (nth: number, action: string, result: string) => ({
      id: routes[nth],
      action,
      result,
      email_id: null,
      reason: null,
    })
    const stored = yield* receive({})
    assert.deepInclude(stored, { status: "received", verdict: "none", routes: [of(2, "store", "stored")] })
    const dropped = yield* receive({ subject: "SPAM" })
    assert.deepInclude(dropped, { status: "dropped", routes: [of(0, "drop", "dropped")] })
    const rejected = yield* receive({ from: "x@bad.test" })
    assert.deepInclude(rejected, { status: "rejected", routes: [of(1, "reject", "rejected")] })
    const called = yield* receive({ to: "info@shop.test" })
    const { json: whole } = yield* call("GET", `/v1/inbound/${called.id}`)
    // No webhook asks for it.
    assert.deepStrictEqual(whole.routes, [of(3, "webhook", "none")])
    const ids = (query: string) =>
      Effect.map(call("GET", `/v1/inbound?${query}`), ({ json }) =>
        json.data.map((each: { readonly id: string }) => each.id),
      )
    assert.deepStrictEqual(yield* ids("status=received"), [called.id, stored.id])
    assert.deepStrictEqual(yield* ids("status=dropped"), [dropped.id])
    assert.deepStrictEqual(yield* ids("status=rejected&verdict=none"), [rejected.id])
    assert.deepStrictEqual(yield* ids("verdict=fail"), [])

    const tried = (mail: object) => post("/v1/inbound/routes/test", { to: MAIL.to, from: "ana@example.org", ...mail })
    const { json: test } = yield* tried({ subject: "Hello" })
    assert.deepInclude(test, { object: "inbound_route_test", status: "received" })
    assert.deepStrictEqual(test.routes, [
      { id: routes[0], action: "drop", applies: false, reason: "the subject does not contain “spam”" },
      { id: routes[1], action: "reject", applies: false, reason: "the sender is not *@bad.test" },
      { id: routes[2], action: "store", applies: true, reason: "a recipient is support+*@shop.test" },
      { id: routes[3], action: "webhook", applies: false, reason: `route ${routes[2]} ends the choice` },
    ])
    assert.strictEqual((yield* tried({ from: "x@bad.test" })).json.status, "rejected")
  })

  it.effect("of the live account are those of its test mail, and of no other account", function* () {
    const one = yield* signUp({ domains: ["shop.test"] })
    const two = yield* signUp({ domains: ["shop.test"] })
    yield* one.call("POST", "/v1/inbound/routes", { action: { type: "drop" } })
    const test = yield* one.keyWith({ mode: "test" })
    const { json: mail } = yield* one.world.request("POST", "/v1/test/inbound", { key: test, body: MAIL })
    assert.deepInclude(mail, { livemode: false, status: "dropped" })
    assert.strictEqual((yield* two.call("POST", "/v1/test/inbound", MAIL)).json.status, "received")
  })
})
