import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const OPTIONS = { excludeTestServices: true, timeout: "60 seconds" } as const

const WITHHELD = {
  from: "",
  to: [],
  cc: [],
  bcc: [],
  reply_to: [],
  subject: "",
  tags: [],
  api_key_id: null,
  error: null,
  recipients: [],
  content: null,
}

layer(HttpWorld.layer(), OPTIONS)("GET /email/{id}", (it) => {
  it.effect("is the same as GET /email/logs/{id} for a key that reads logs", function* () {
    const { call, keyWith, send, world } = yield* signUp({ domains: ["acme.test"] })
    const id = yield* send({ tags: ["receipt"], html: "<p>Hi</p>" })
    const reader = yield* keyWith({ scopes: ["email:logs:read"] })
    const log = yield* call("GET", `/v1/email/logs/${id}`)
    assert.strictEqual(log.json.content.html, "<p>Hi</p>")
    const own = yield* call("GET", `/v1/email/${id}`)
    assert.deepStrictEqual(own.json, log.json)
    const read = yield* world.request("GET", `/v1/email/${id}`, { key: reader })
    assert.deepStrictEqual([read.status, read.json], [200, log.json])
    const then = `?as_of=${log.json.created_at}`
    const past = yield* call("GET", `/v1/email/${id}${then}`)
    assert.deepStrictEqual(past.json, (yield* call("GET", `/v1/email/logs/${id}${then}`)).json)
    assert.strictEqual((yield* world.request("HEAD", `/v1/email/${id}`, { key: reader })).status, 200)
  })

  it.effect("shows a key that only sends all of the mail that it sent, and no content of other mail", function* () {
    const { call, keyWith, log, send, world } = yield* signUp({ domains: ["acme.test"] })
    const sender = yield* keyWith({ scopes: ["email:send"] })
    const read = (id: string) => world.request("GET", `/v1/email/${id}`, { key: sender })
    const sent = yield* world.request("POST", "/v1/email/send", { key: sender, body: EMAIL })
    const own = yield* read(sent.json.id)
    assert.deepStrictEqual([own.status, own.json], [200, yield* log(sent.json.id)])
    assert.strictEqual(own.json.content.text, "Hi")
    const others = yield* send({ tags: ["secret"] })
    const other = yield* read(others)
    assert.deepStrictEqual([other.status, other.json], [200, { ...(yield* log(others)), ...WITHHELD }])
    // A copy that the key made of mail of another key, which is no longer sent.
    yield* call("POST", `/v1/email/${others}/cancel`)
    const copy = yield* world.request("POST", `/v1/email/${others}/resend`, { key: sender })
    assert.deepStrictEqual((yield* read(copy.json.id)).json, { ...(yield* log(copy.json.id)), ...WITHHELD })
    assert.strictEqual((yield* call("GET", `/v1/email/${copy.json.id}`)).json.subject, EMAIL.subject)
  })

  it.effect("is refused to a key without either scope, to one of another domain and for another account", function* () {
    const { keyWith, send, world } = yield* signUp({ domains: ["acme.test", "other.test"] })
    const id = yield* send()
    const reason = (key: string, of = id) =>
      Effect.map(world.request("GET", `/v1/email/${of}`, { key }), ({ json, status }) => [status, json.error?.reason])
    const domains = yield* keyWith({ scopes: ["domains:read"] })
    assert.deepStrictEqual(yield* reason(domains), [403, "missing_scope"])
    const bound = yield* keyWith({ scopes: ["email:send"], domain: "other.test" })
    assert.deepStrictEqual(yield* reason(bound), [403, "domain_not_allowed"])
    const stranger = yield* signUp()
    assert.deepStrictEqual(yield* reason(stranger.key), [404, "email_not_found"])
    const test = yield* keyWith({ mode: "test", scopes: ["email:send"] })
    assert.deepStrictEqual(yield* reason(test), [404, "email_not_found"])
  })

  it.effect("takes no path of another endpoint for an id", function* () {
    const { call } = yield* signUp()
    const { headers, json, status } = yield* call("GET", "/v1/email/send")
    assert.deepStrictEqual([status, json.error.reason, headers.get("allow")], [404, "route_not_found", "POST"])
    assert.strictEqual((yield* call("GET", "/v1/email/logs")).status, 200)
  })
})
