import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const OPTIONS = { excludeTestServices: true, timeout: "60 seconds" } as const

const MESSAGE = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" }

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
  return { world, key }
})

const SENDS = "Waybill sends at POST /v1/email/send."
const ROUTES: ReadonlyArray<readonly [method: string, path: string, advice: string]> = [
  ["POST", "/email/batch", "Waybill sends at POST /v1/email/send/batch."],
  ["POST", "/email/withTemplate", SENDS],
  ["POST", "/api/v1/send/message", SENDS],
  ["POST", "/v3/acme.test/messages", SENDS],
  ["POST", "/v3/smtp/email", SENDS],
  ["POST", "/v1/emails", SENDS],
  ["POST", "/email/send", "The API begins with /v1: use POST /v1/email/send."],
  ["PATCH", "/domains/acme.test", "The API begins with /v1: use PATCH /v1/domains/acme.test."],
  ["POST", "/v1/email/send/", "Leave out the slash at the end: /v1/email/send."],
  ["PUT", "/domains", "The API begins with /v1: use /v1/domains, which takes GET, HEAD, POST."],
  ["GET", "/api/v1/domains/acme.test", "The API begins with /v1: use GET /v1/domains/acme.test."],
  ["POST", "/api/v1/email/send", "The API begins with /v1: use POST /v1/email/send."],
  ["GET", "/v1/emails", "Did you mean GET /v1/email/logs?"],
  ["GET", "/v1/email", "Did you mean GET /v1/email/logs?"],
  ["GET", "/v1/messages", "Did you mean GET /v1/email/logs?"],
  ["GET", "/v1/logs", "Did you mean GET /v1/email/logs?"],
  ["GET", "/api/v1/logs", "Did you mean GET /v1/email/logs?"],
  ["GET", "/v1/emails/msg_1", "Did you mean GET /v1/email/msg_1?"],
  ["GET", "/v1/emails/msg_1/events", "Did you mean GET /v1/email/logs/msg_1/events?"],
  ["POST", "/v1/send", "Did you mean POST /v1/email/send?"],
  ["GET", "/v1/keys", "Did you mean GET /v1/api-keys?"],
  ["GET", "/v1/constructor", ""],
  ["POST", "/v1/webhook", "Did you mean POST /v1/webhooks?"],
  ["PUT", "/v1/webhook/whk_1", "Did you mean /v1/webhooks/whk_1, which takes GET, HEAD, PATCH, DELETE?"],
]

const KEYS: ReadonlyArray<readonly [headers: Readonly<Record<string, string>>, service: string]> = [
  [{ authorization: "Bearer re_AbCd1234_aBcDeFgHiJkLmNoPqRsTuVwXy" }, "Resend"],
  [{ authorization: "bearer SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf" }, "SendGrid"],
  [{ "x-postmark-server-token": "0a1b2c3d-0000-4000-8000-0123456789ab" }, "Postmark"],
  [{ authorization: "Bearer 0A1B2C3D-0000-4000-8000-0123456789AB" }, "Postmark"],
  [{ "x-server-api-key": "tHSvBDGRbEnVLvTWBbZhJPzq" }, "Postal"],
  [{ authorization: `Basic ${Buffer.from(`api:key-${"0".repeat(32)}`).toString("base64")}` }, "Mailgun"],
]

layer(HttpWorld.layer(), OPTIONS)("a client of another service", (it) => {
  it.effect("is told which path it means", function* () {
    const { key, world } = yield* setUp
    for (const [method, path, advice] of ROUTES) {
      const body = method === "GET" ? {} : { body: MESSAGE }
      const { json, status } = yield* world.request(method, path, { key, ...body })
      assert.deepStrictEqual([status, json.error.reason], [404, "route_not_found"], path)
      assert.strictEqual(json.error.message, `There is no ${method} ${path}. ${advice}`.trimEnd())
    }
    const leaked = yield* world.request("GET", `/domains/${key}`, { key })
    assert.strictEqual(
      leaked.json.error.message,
      "There is no GET /domains/wb_…. The API begins with /v1: use GET /v1/domains/wb_….",
    )
    const unknown = yield* world.request("POST", "/v1/nothing", { key, body: MESSAGE })
    assert.strictEqual(unknown.json.error.message, "There is no POST /v1/nothing.")
    assert.isNull(unknown.headers.get("allow"))
  })

  it.effect("is told that its key is of that service, and the key is not repeated", function* () {
    const { world } = yield* setUp
    for (const [headers, service] of KEYS)
      for (const path of ["/v1/email/send", "/v1/domains"]) {
        const { json, status, text } = yield* world.request("POST", path, { headers, body: MESSAGE })
        assert.deepStrictEqual([status, json.error.code, json.error.reason], [401, "unauthorized", "api_key_invalid"])
        assert.strictEqual(
          json.error.message,
          `This is a key of ${service}. Waybill takes its own keys, which begin with wb_, in the header: Authorization: Bearer <key>.`,
        )
        for (const value of Object.values(headers)) assert.notInclude(text, value.replace(/^\w+ /u, ""))
      }
    const { json } = yield* world.request("POST", "/v1/email/send", { key: "abc", body: MESSAGE })
    assert.match(json.error.message, /^The Authorization header/u)
  })
})

layer(HttpWorld.layer({ maxBodyBytes: 200_000 }), OPTIONS)("a refusal says what is accepted", (it) => {
  it.effect("a wrong method names those of the path", function* () {
    const { key, world } = yield* setUp
    for (const [method, path, allow] of [
      ["GET", "/v1/email/send", "POST"],
      ["PUT", "/v1/domains/acme.test", "GET, HEAD, PATCH, DELETE"],
      ["OPTIONS", "/v1/webhooks", "GET, HEAD, POST"],
      ["POST", "/v1/email/logs", "GET, HEAD"],
      ["DELETE", "/healthz", "GET, HEAD"],
    ] as const) {
      const { headers, json, status } = yield* world.request(method, path, { key })
      assert.deepStrictEqual([status, json.error?.reason, headers.get("allow")], [404, "route_not_found", allow], path)
      assert.strictEqual(json.error.message, `There is no ${method} ${path}. This path takes ${allow}.`)
    }
  })

  it.effect("a body that is too large names the limit and its setting", function* () {
    const { key, world } = yield* setUp
    const { json, status } = yield* world.request("POST", "/v1/email/send", {
      key,
      raw: JSON.stringify(MESSAGE).padEnd(200_001),
    })
    assert.deepStrictEqual([status, json.error.reason], [400, "payload_too_large"])
    assert.strictEqual(
      json.error.message,
      "The body is larger than 200000 bytes; an operator can raise MAX_BODY_BYTES, up to 41943040 bytes (40 MiB).",
    )
  })
})

layer(HttpWorld.layer({ maxBodyBytes: 40 * 1024 * 1024 }), OPTIONS)("a refusal at the largest limit", (it) => {
  it.effect("advises no higher one", function* () {
    const { key, world } = yield* setUp
    const raw = JSON.stringify(MESSAGE).padEnd(40 * 1024 * 1024 + 1)
    const { json } = yield* world.request("POST", "/v1/email/send", { key, raw })
    assert.strictEqual(json.error.message, "The body is larger than 41943040 bytes (40 MiB).")
  })
})
