import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const MESSAGE = { from: "Acme <hi@acme.com>", to: "ana@example.org", subject: "Hello", text: "Hi" }

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  const call = (method: string, path: string, body?: unknown) => world.request(method, path, { key, body })
  return { world, account, key, call }
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the words of a refusal", (it) => {
  it.effect("say where further errors are listed", function* () {
    const { call } = yield* setUp
    const two = yield* call("POST", "/v1/email/send", { ...MESSAGE, from: "x", to: "y" })
    assert.strictEqual(two.json.error.message, "`from` is not an address: it has no @. 1 more error is in `details`.")
    const three = yield* call("POST", "/v1/email/send", { ...MESSAGE, from: "x", to: ["y", "z"] })
    assert.match(three.json.error.message, /\. 2 more errors are in `details`\.$/u)
    const unknown = yield* call("POST", "/v1/email/send", { ...MESSAGE, Bcc: "x", from: "y" })
    assert.match(unknown.json.error.message, /did you mean `bcc`\? 1 more error is in `details`\.$/u)
  })

  it.effect("say how a key is sent, and that it must be whole", function* () {
    const { key, world } = yield* setUp
    const refuse = (sent: string, name = "authorization") =>
      Effect.map(world.request("GET", "/v1/account", { headers: { [name]: sent } }), ({ json, status, text }) => {
        assert.strictEqual(status, 401)
        assert.notInclude(text, key)
        return json.error.message
      })
    const unschemed =
      "The Authorization header does not begin with Bearer. Send the key as: Authorization: Bearer <key>."
    for (const header of [
      key,
      `Token ${key}`,
      `Basic ${Buffer.from(`api:${key}`).toString("base64")}`,
      "abc",
      `Bearer:${key}`,
    ])
      assert.strictEqual(yield* refuse(header), unschemed, header)
    const incomplete =
      "The Authorization header does not contain a complete API key. A key is wb_ or wb_test_ and 49 characters; copy it whole."
    for (const header of [`Bearer ${key.slice(0, -1)}`, `Bearer ${key} x`, "Bearer abc", "Bearer", "bearer "])
      assert.strictEqual(yield* refuse(header), incomplete, header)
    const mistyped = "The API key in the Authorization header is mistyped: its checksum does not match. Copy it again."
    for (const each of [`${key.slice(0, -1)}!`, `wb_test_${"0".repeat(48)}1`])
      assert.strictEqual(yield* refuse(`Bearer ${each}`), mistyped)
    assert.strictEqual(
      yield* refuse(key, "x-api-key"),
      "The API key was sent in another header. Send it in this one: Authorization: Bearer <key>.",
    )
  })

  it.effect("name what to do about a domain that is not verified", function* () {
    const { account, call, world } = yield* setUp
    yield* call("POST", "/v1/domains", { name: "acme.com" })
    const pending = yield* call("POST", "/v1/email/send", MESSAGE)
    assert.strictEqual(
      pending.json.error.message,
      "The domain acme.com is not verified yet. Publish its DKIM record, then verify it with POST /v1/domains/acme.com/verify.",
    )
    yield* world.sql`UPDATE domains SET status = 'failed' WHERE account_id = ${account}`
    const failed = yield* call("POST", "/v1/email/send", MESSAGE)
    assert.strictEqual(
      failed.json.error.message,
      "The verification of the domain acme.com has failed: its DKIM record was not found. Publish the record, then verify the domain with POST /v1/domains/acme.com/verify.",
    )
    const unknown = yield* call("POST", "/v1/email/send", { ...MESSAGE, from: "hi@other.com" })
    assert.strictEqual(
      unknown.json.error.message,
      "The domain other.com is not a domain of this account. Add it with POST /v1/domains and publish its DKIM record.",
    )
    for (const path of ["/v1/email/send", "/v1/email/send/batch"]) {
      const mail = { ...MESSAGE, from: "me@gmail.com" }
      const foreign = yield* call("POST", path, path.endsWith("batch") ? { emails: [mail] } : mail)
      assert.include(
        foreign.json.error.message,
        "Mail from gmail.com can only be sent by Gmail. Send from an address at a domain of your own.",
        path,
      )
    }
  })

  it.effect("name `waybill listen` where a webhook on this machine is refused", function* () {
    const { call } = yield* setUp
    const create = (url: string) => call("POST", "/v1/webhooks", { url, events: ["*"] })
    for (const url of [
      "http://localhost:3000/hooks",
      "https://127.0.0.1/hooks",
      "http://[::1]:3000/",
      "https://app.localhost/",
    ]) {
      const { json, status } = yield* create(url)
      assert.deepStrictEqual([status, json.error.reason], [422, "url_not_allowed"], url)
      assert.include(json.error.message, "WEBHOOK_ALLOW_NETWORKS")
      assert.include(
        json.error.message,
        `While you develop, \`waybill listen --forward-to ${URL.parse(url)?.href}\` calls it from your machine.`,
      )
    }
    for (const url of ["https://10.0.0.1/hooks", "http://example.org/hooks"])
      assert.notInclude((yield* create(url)).json.error.message, "waybill listen")
  })
})
