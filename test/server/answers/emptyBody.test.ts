import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const OPTIONS = { excludeTestServices: true, timeout: "60 seconds" } as const

const WARNING = '199 - "The message has no body"'
const { text: _, ...EMPTY } = EMAIL

layer(HttpWorld.layer(), OPTIONS)("a message without html and text", (it) => {
  it.effect("is accepted with a warning, also when the answer is repeated", function* () {
    const { call } = yield* signUp({ domains: ["acme.test"] })
    const key = { "idempotency-key": "empty" }
    for (const [body, headers, warning] of [
      [EMPTY, {}, WARNING],
      [{ ...EMPTY, html: null, text: null }, {}, WARNING],
      [{ ...EMPTY, html: "", text: "" }, {}, WARNING],
      [EMPTY, key, WARNING],
      [EMPTY, key, WARNING],
      [EMAIL, {}, null],
      [{ ...EMPTY, html: "<p>Hi</p>" }, {}, null],
      [{ ...EMPTY, html: "", text: "Hi" }, {}, null],
    ] as const) {
      const answer = yield* call("POST", "/v1/email/send", body, headers)
      assert.deepStrictEqual([answer.status, answer.headers.get("warning")], [200, warning], JSON.stringify(body))
      assert.deepStrictEqual(Object.keys(answer.json), ["id", "status", "created_at"])
    }
  })

  it.effect("is named by its index in a batch", function* () {
    const { call } = yield* signUp({ domains: ["acme.test"] })
    const warningOf = (emails: ReadonlyArray<object>, mode: string) =>
      Effect.map(call("POST", "/v1/email/send/batch", { emails, mode }), ({ headers, status }) => {
        assert.strictEqual(status, 200)
        return headers.get("warning")
      })
    assert.strictEqual(yield* warningOf([EMAIL, EMPTY], "all_or_nothing"), '199 - "Message 1 has no body"')
    assert.strictEqual(
      yield* warningOf([EMPTY, EMAIL, EMPTY, { ...EMPTY, from: "x" }], "permissive"),
      '199 - "Messages 0, 2 have no body"',
    )
    assert.isNull(yield* warningOf([EMAIL, EMAIL], "all_or_nothing"))
    const many = Array.from({ length: 40 }, () => EMPTY)
    assert.strictEqual(
      yield* warningOf(many, "all_or_nothing"),
      '199 - "Messages 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 30 more have no body"',
    )
  })

  it.effect("has a note in its timeline, and a resend warns too", function* () {
    const { call } = yield* signUp({ domains: ["acme.test"] })
    const queuedOf = (id: string) =>
      Effect.map(call("GET", `/v1/email/logs/${id}/events`), ({ json }) => json.data[0].data)
    const empty = (yield* call("POST", "/v1/email/send", { ...EMPTY, html: "" })).json.id
    assert.deepStrictEqual((yield* queuedOf(empty)).warnings, ["The message has no body"])
    const whole = (yield* call("POST", "/v1/email/send", EMAIL)).json.id
    assert.isUndefined((yield* queuedOf(whole)).warnings)
    // Only mail that is no longer sent to its recipients is resent.
    for (const id of [empty, whole]) yield* call("POST", `/v1/email/${id}/cancel`)
    const copy = yield* call("POST", `/v1/email/${empty}/resend`)
    assert.deepStrictEqual([copy.status, copy.headers.get("warning")], [200, WARNING])
    assert.isNull((yield* call("POST", `/v1/email/${whole}/resend`)).headers.get("warning"))
  })

  it.effect("is accepted with a warning by the APIs of other services that take it", function* () {
    const { key, world } = yield* signUp({ domains: ["acme.test"] })
    const seen: Array<string> = []
    for (const [path, body] of [
      ["/compat/resend/emails", { from: EMAIL.from, to: EMAIL.to, subject: "Hello" }],
      ["/compat/resend/emails", { from: EMAIL.from, to: EMAIL.to, subject: "Hello", text: "" }],
      ["/compat/postmark/email", { From: EMAIL.from, To: EMAIL.to, Subject: "Hello", TextBody: "" }],
      [
        "/compat/sendgrid/v3/mail/send",
        {
          from: { email: "hi@acme.test" },
          personalizations: [{ to: [{ email: EMAIL.to }] }],
          subject: "Hello",
          content: [{ type: "text/plain", value: "" }],
        },
      ],
    ] as const) {
      const { headers, status } = yield* world.request("POST", path, {
        key,
        body,
        headers: { "x-postmark-server-token": key },
      })
      if (status >= 300) continue
      seen.push(path)
      assert.strictEqual(headers.get("warning"), WARNING, path)
    }
    assert.include(seen, "/compat/resend/emails")
  })
})
