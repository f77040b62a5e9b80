import { assert, layer } from "../../support/effectTest.ts"
import { EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("compression of answers", (it) => {
  it.effect("is for reads of some size, in an encoding that the client accepts", function* () {
    const { call } = yield* signUp({ domains: ["acme.test", "other.test", "third.test"] })
    const plain = yield* call("GET", "/v1/domains", undefined, { "accept-encoding": "identity" })
    assert.isAbove(plain.text.length, 1_400)
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0", null],
    ] as const) {
      const { headers, text } = yield* call("GET", "/v1/domains", undefined, { "accept-encoding": accepted })
      assert.deepStrictEqual([headers.get("content-encoding"), headers.get("vary")], [encoding, "accept-encoding"])
      assert.strictEqual(text, plain.text)
      if (encoding !== null) assert.isBelow(Number(headers.get("content-length")), plain.text.length / 2)
    }
    const small = yield* call("GET", "/v1/account", undefined, { "accept-encoding": "br" })
    assert.deepStrictEqual(
      [small.headers.get("content-encoding"), small.headers.get("vary")],
      [null, "accept-encoding"],
    )
  })

  // threat: compressed-secrets
  it.effect("is not for the content of messages, nor for answers that show a new secret", function* () {
    const { call, send } = yield* signUp({ domains: ["acme.test"] })
    const accepted = { "accept-encoding": "br, gzip" }
    const encodingOf = (method: string, path: string, body?: unknown) => call(method, path, body, accepted)
    const id = yield* send({ text: "Your link. ".repeat(500) })
    const message = yield* encodingOf("GET", `/v1/email/logs/${id}`)
    assert.isAbove(message.text.length, 5_000)
    const description = "x".repeat(100)
    const webhook = yield* encodingOf("POST", "/v1/webhooks", { url: "https://a.test/x", events: ["*"], description })
    const sent = yield* encodingOf("POST", "/v1/email/send/batch", { emails: Array.from({ length: 50 }, () => EMAIL) })
    assert.isAbove(sent.text.length, 1_400)
    for (const { headers, status } of [message, webhook, sent]) {
      assert.isBelow(status, 300)
      assert.isNull(headers.get("content-encoding"))
    }
  })
})
