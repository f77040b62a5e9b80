import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const MAIL = { from: "ana@example.org", to: "hi@shop.test", subject: "Hello", text: "Hi" }

layer(HttpWorld.layer(), { excludeTestServices: true })("received mail", (it) => {
  it.effect("belongs to its account, its mode and its domain", function* () {
    const one = yield* signUp({ domains: ["shop.test", "other.test"] })
    const two = yield* signUp({ domains: ["shop.test"] })
    const { json: mail } = yield* one.call("POST", "/v1/test/inbound", MAIL)
    const paths = ["", "/raw", "/attachments/att_1"].map((path) => `/v1/inbound/${mail.id}${path}`)
    for (const path of [...paths, `/v1/threads/${mail.thread_id}`])
      assert.strictEqual((yield* two.call("GET", path)).status, 404, path)
    assert.strictEqual((yield* two.call("DELETE", `/v1/inbound/${mail.id}`)).status, 404)
    assert.deepStrictEqual((yield* two.call("GET", "/v1/inbound")).json.data, [])

    const bound = yield* one.keyWith({ domain: "other.test", scopes: ["inbound:read", "inbound:write"] })
    const call = (method: string, path: string, body?: unknown) => one.world.request(method, path, { key: bound, body })
    assert.deepStrictEqual((yield* call("GET", "/v1/inbound")).json.data, [])
    for (const path of paths) assert.strictEqual((yield* call("GET", path)).status, 403, path)
    assert.strictEqual((yield* call("GET", `/v1/threads/${mail.thread_id}`)).status, 403)
    assert.strictEqual((yield* call("POST", "/v1/test/inbound", MAIL)).status, 403)

    const sender = yield* one.keyWith({ scopes: ["email:send"] })
    const refused = yield* one.world.request("GET", "/v1/inbound", { key: sender })
    assert.deepStrictEqual(reasonOf(refused), [403, "missing_scope"])
  })

  it.effect("is paged, found and made up once for an idempotency key", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const ids: Array<string> = []
    for (const subject of ["One", "Two", "Three"]) {
      const { json } = yield* call("POST", "/v1/test/inbound", { ...MAIL, subject }, { "idempotency-key": subject })
      const again = yield* call("POST", "/v1/test/inbound", { ...MAIL, subject }, { "idempotency-key": subject })
      assert.strictEqual(again.json.id, json.id)
      ids.unshift(json.id)
    }
    const page = (query: string) =>
      Effect.map(call("GET", `/v1/inbound?${query}`), ({ json }) => [
        json.data.map((each: { readonly id: string }) => each.id),
        json.has_more,
      ])
    assert.deepStrictEqual(yield* page("limit=2"), [ids.slice(0, 2), true])
    assert.deepStrictEqual(yield* page(`limit=2&after=${ids[1]}`), [ids.slice(2), false])
    assert.deepStrictEqual(yield* page(`limit=2&before=${ids[2]}`), [ids.slice(0, 2), false])
    assert.deepStrictEqual(yield* page("subject=tw"), [[ids[1]], false])
    assert.deepStrictEqual(yield* page("from=ANA@example.org&limit=1"), [[ids[0]], true])
    assert.deepStrictEqual(yield* page("domain=elsewhere.test"), [[], false])
  })

  it.effect("that is made up is refused in words if it is no mail", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const [status] = reasonOf(yield* call("POST", "/v1/test/inbound", { ...MAIL, to: [] }))
    assert.strictEqual(status, 400)
    const raw = Buffer.from("no header at all").toString("base64")
    const { json } = yield* call("POST", "/v1/test/inbound", { from: MAIL.from, to: MAIL.to, raw })
    assert.deepInclude(json, { from: null, subject: null, size_bytes: 16 })
    const path = (body: object) =>
      Effect.map(call("POST", "/v1/test/inbound", body), (refused) => refused.json.error.details[0].path)
    assert.strictEqual(yield* path({ to: MAIL.to }), "from")
    assert.strictEqual(yield* path({ from: MAIL.from }), "to")
    assert.strictEqual(yield* path({ raw }), "to")
  })

  it.effect("that is made up whole goes to the recipients of its header", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const raw = Buffer.from(
      "From: Ana <ana@example.org>\r\nTo: Hi <hi@shop.test>, nobody\r\nCc: hi@shop.test, all@shop.test\r\n\r\nHi\r\n",
    ).toString("base64")
    const { json } = yield* call("POST", "/v1/test/inbound", { raw })
    assert.deepInclude(json.envelope, { from: "ana@example.org", to: ["hi@shop.test", "all@shop.test"] })
    const own = { raw, from: "bounces@example.org", to: "bo@shop.test" }
    const { json: enveloped } = yield* call("POST", "/v1/test/inbound", own)
    assert.deepInclude(enveloped.envelope, { from: "bounces@example.org", to: ["bo@shop.test"] })
  })
})
