import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL, RECEIPT, VARIABLES } from "./receiptTemplate.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("mail of templates", (it) => {
  const shop = signUp({ domains: ["shop.test"] })
  const contentOf = Effect.fnUntraced(function* (call: Effect.Success<typeof shop>["call"], id: string) {
    const { json } = yield* call("GET", `/v1/email/logs/${id}`)
    return json
  })

  it.effect("make messages, in the reader's language, with checked variables", function* () {
    const { call } = yield* shop
    yield* call("POST", "/v1/templates", RECEIPT)
    yield* call("POST", "/v1/templates/receipt/publish", {})
    const template = { alias: "receipt", locale: "de-DE", variables: VARIABLES }
    const sent = yield* call("POST", "/v1/email/send", { ...MAIL, template })
    assert.strictEqual(sent.status, 200, JSON.stringify(sent.json))
    const record = yield* contentOf(call, sent.json.id)
    assert.strictEqual(record.subject, "Bestellung 7")
    assert.deepInclude(record.template, { version: 1, locale: "de" })
    assert.strictEqual(
      record.content.html,
      '<h1>Thank you, Ana &amp; Bo</h1><a href="https://shop.test/">12,50\u00a0€</a>',
    )
    const found = yield* call("GET", `/v1/email/logs?template=${record.template.id}`)
    assert.deepStrictEqual(
      found.json.data.map(({ id }: { readonly id: string }) => id),
      [sent.json.id],
    )
    const wrong = yield* call("POST", "/v1/email/send", {
      ...MAIL,
      template: { alias: "receipt", variables: { nmae: "Ana", order: { id: "7" } } },
    })
    assert.deepStrictEqual(reasonOf(wrong), [422, "template_variables_invalid"])
    assert.deepStrictEqual(wrong.json.error.details, [
      { path: "nmae", message: "is not a variable of this template; did you mean `name`?" },
      { path: "order.id", message: "must be an integer, not string" },
      { path: "name", message: "is missing" },
    ])
  })

  it.effect("takes no variables that are larger than a template", function* () {
    const { call } = yield* shop
    yield* call("POST", "/v1/templates", { name: "Any", alias: "any", subject: "Hi", text: "{{ x[0].y }}" })
    yield* call("POST", "/v1/templates/any/publish", {})
    const send = (y: string) =>
      call("POST", "/v1/email/send", { ...MAIL, template: { alias: "any", variables: { x: [{ y }] } } })
    assert.strictEqual((yield* send("a".repeat(1_000))).status, 200)
    assert.deepStrictEqual(reasonOf(yield* send("a".repeat(300_000))), [422, "template_variables_invalid"])
  })

  it.effect("name the variables that were written without a value", function* () {
    const { call } = yield* shop
    const text = `{{ name | default: "you" }} {{ order["größe"] }} {{ total | money: currency }}{% if note %}{{ note }}{% endif %}`
    yield* call("POST", "/v1/templates", { name: "Any", alias: "any", subject: "Hi {{ name }}", text })
    yield* call("POST", "/v1/templates/any/publish", {})
    const message = (variables: object) => ({ ...MAIL, template: { alias: "any", variables } })
    const warningOf = (path: string, body: object) =>
      Effect.map(call("POST", path, body), ({ headers, status }) => [status, headers.get("warning")])
    const none = message({ currency: "EUR" })
    const all = message({ name: "Ana", order: { größe: "M" }, total: null, currency: "EUR" })
    const send = (body: object) => warningOf("/v1/email/send", body)
    assert.deepStrictEqual(yield* send(none), [200, '199 - "Variables without a value: name, order.gr??e, total"'])
    assert.deepStrictEqual(yield* send({ ...none, subject: "Hi" }), [
      200,
      '199 - "Variables without a value: order.gr??e, total"',
    ])
    assert.deepStrictEqual(yield* send(all), [200, null])
    // Its timeline says so too, in the words of the template, and that of a copy.
    const { json: sent } = yield* call("POST", "/v1/email/send", none)
    const { json: events } = yield* call("GET", `/v1/email/logs/${sent.id}/events`)
    assert.deepStrictEqual(events.data[0].data.warnings, ["Variables without a value: name, order.größe, total"])
    const { json: record } = yield* call("GET", `/v1/email/logs/${sent.id}`)
    assert.deepStrictEqual(record.template, { id: record.template.id, version: 1, locale: null })
    assert.deepStrictEqual(events.data[0].data.template, record.template)
    const refused = { ...none, from: "hello@elsewhere.example" }
    const emails = [all, none, { ...MAIL, subject: "Hi" }, none, refused]
    assert.deepStrictEqual(yield* warningOf("/v1/email/send/batch", { mode: "permissive", emails }), [
      200,
      '199 - "Message 2 has no body", 199 - "Messages 1, 3: Variables without a value: name, order.gr??e, total"',
    ])
    const { json } = yield* call("POST", "/v1/templates/any/render", { variables: { currency: "EUR" } })
    assert.deepStrictEqual(json.warnings, [
      { path: "subject", message: "`name` has no value" },
      { path: "text", message: "`order.größe` has no value" },
      { path: "text", message: "`total` has no value" },
    ])
  })

  it.effect("refuse a subject that no header can have, as without a template", function* () {
    const { call } = yield* shop
    const words = { subject: "Hi {{ x }}", html: "<p>{{ y }}</p>", text: "{{ y }}" }
    yield* call("POST", "/v1/templates", { name: "Any", alias: "any", ...words })
    yield* call("POST", "/v1/templates/any/publish", {})
    const send = (variables: object) =>
      call("POST", "/v1/email/send", { ...MAIL, template: { alias: "any", variables } })
    for (const [x, message] of [
      ["a\0b", "must not contain CR, LF or NUL"],
      ["a\ud800b", "must not contain an unpaired surrogate"],
    ]) {
      const answer = yield* send({ x })
      assert.deepStrictEqual(reasonOf(answer), [422, "template_not_rendered"])
      assert.deepStrictEqual(answer.json.error.details, [{ path: "subject", message }])
    }
    assert.strictEqual((yield* send({ y: "a\0b\ud800" })).status, 200)
  })

  it.effect("refuse what cannot be combined or is not there", function* () {
    const { call } = yield* shop
    const send = (message: object) => call("POST", "/v1/email/send", { ...MAIL, ...message })
    const both = yield* send({ template: { alias: "x" }, html: "<p>Hi</p>" })
    assert.deepStrictEqual(reasonOf(both), [400, "validation_failed"])
    assert.deepStrictEqual(both.json.error.details, [{ path: "html", message: "cannot be combined with `template`" }])
    assert.deepStrictEqual(reasonOf(yield* send({ template: { alias: "nobody" } })), [422, "template_not_found"])
    const { json: nameless } = yield* call("POST", "/v1/templates", { name: "nameless", html: "<p>Hi</p>" })
    const byName = yield* send({ template: { alias: "nameless" } })
    assert.deepStrictEqual(
      [byName.status, byName.json.error.code, byName.json.error.reason, byName.json.error.message],
      [
        422,
        "unprocessable",
        "template_not_found",
        `"nameless" is the name of a template, and not its alias. Give it one, or use its id ${nameless.id}.`,
      ],
    )
    assert.deepStrictEqual(reasonOf(yield* send({ template: {} })), [400, "validation_failed"])
    for (const locale of ["de_DE", "de-DE-DE"])
      assert.deepStrictEqual((yield* send({ template: { alias: "x", locale } })).json.error.details, [
        { path: "template.locale", message: "must be a language, such as de or pt-BR" },
      ])
    assert.deepStrictEqual((yield* send({})).json.error.details, [{ path: "subject", message: "is required" }])

    yield* call("POST", "/v1/templates", { name: "No subject", alias: "bare", html: "<p>Hi</p>" })
    yield* call("POST", "/v1/templates/bare/publish", {})
    assert.deepStrictEqual(reasonOf(yield* send({ template: { alias: "bare" } })), [422, "template_incomplete"])
    const own = yield* send({ template: { alias: "bare" }, subject: "Mine" })
    assert.strictEqual((yield* contentOf(call, own.json.id)).subject, "Mine")
    const none = yield* send({ template: { alias: "bare", version: 9 }, subject: "Mine" })
    assert.deepStrictEqual(reasonOf(none), [422, "template_version_not_found"])
    yield* call("DELETE", "/v1/templates/bare")
    assert.deepStrictEqual(reasonOf(yield* send({ template: { alias: "bare" } })), [422, "template_not_found"])
  })

  it.effect("fill a batch, each message with its own, and are repeated by the key of the request", function* () {
    const { call } = yield* shop
    yield* call("POST", "/v1/templates", RECEIPT)
    yield* call("POST", "/v1/templates/receipt/publish", {})
    const emails = [
      { ...MAIL, template: { alias: "receipt", variables: VARIABLES } },
      { ...MAIL, subject: "Plain", text: "Hi" },
      { ...MAIL, template: { alias: "receipt", variables: {} } },
    ]
    const strict = yield* call("POST", "/v1/email/send/batch", { emails })
    assert.deepStrictEqual(reasonOf(strict), [422, "template_variables_invalid"])
    const body = { emails, mode: "permissive" }
    const headers = { "idempotency-key": "batch-1" }
    const sent = yield* call("POST", "/v1/email/send/batch", body, headers)
    assert.deepStrictEqual(
      sent.json.data.map(({ status }: { readonly status: string | null }) => status),
      ["queued", "queued", null],
    )
    yield* call("DELETE", "/v1/templates/receipt")
    const again = yield* call("POST", "/v1/email/send/batch", body, headers)
    assert.deepStrictEqual(again.json, sent.json)
  })
})
