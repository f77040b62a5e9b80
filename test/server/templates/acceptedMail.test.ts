import * as Limits from "@waybill/templates/language/Limits"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { customer, worker } from "../clock/customer.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("mail of a template", (it) => {
  const create = (call: Effect.Success<typeof customer>["call"], fields: object) =>
    Effect.gen(function* () {
      const created = yield* call("POST", "/v1/templates", { name: "Hello", alias: "hello", ...fields })
      assert.strictEqual(created.status, 201, created.text)
      assert.strictEqual((yield* call("POST", "/v1/templates/hello/publish", {})).status, 201)
      return created.json.id as string
    })

  it.effect("that is scheduled goes out as it was accepted, though the template is changed or archived", function* () {
    yield* worker
    const { advance, call, callTest, clock } = yield* customer
    const template_id = yield* create(call, { subject: "Hi {{ name }}", text: "One, {{ name }}", locales: { pt: {} } })
    const send = Effect.map(
      callTest("POST", "/v1/email/send", {
        from: "Shop <hi@shop.example>",
        to: "ana@example.org",
        headers: { "X-Waybill-Test-Clock": clock },
        scheduled_at: "2030-01-02T12:00:00Z",
        template: { alias: "hello", locale: "pt-BR", variables: { name: "Ana" } },
      }),
      ({ json }) => json.id as string,
    )
    const first = yield* send
    yield* call("PATCH", "/v1/templates/hello", { text: "Two, {{ name }}" })
    yield* call("POST", "/v1/templates/hello/publish", {})
    const second = yield* send
    assert.strictEqual((yield* call("DELETE", "/v1/templates/hello")).status, 200)
    yield* advance({ by: "P3D" })
    for (const [id, text, version] of [
      [first, "One, Ana", 1],
      [second, "Two, Ana", 2],
    ] as const) {
      const { json: message } = yield* callTest("GET", `/v1/sandbox/messages/${id}`)
      assert.include(JSON.stringify(message), text)
      const { json: record } = yield* callTest("GET", `/v1/email/logs/${id}`)
      assert.deepInclude(record, { status: "delivered", subject: "Hi Ana" })
      assert.deepStrictEqual(record.template, { id: template_id, version, locale: "pt" })
    }
  })

  it.effect("has the sender and subject of the template, unless the message brings its own", function* () {
    const { call, callTest } = yield* customer
    const own = { from: "Shop <hi@shop.example>", reply_to: ["help@shop.example"], subject: "Hi" }
    yield* create(call, { ...own, text: "Hi" })
    const recordOf = Effect.fnUntraced(function* (change: object) {
      const body = { to: "ana@example.org", template: { alias: "hello" }, ...change }
      const { json } = yield* callTest("POST", "/v1/email/send", body)
      const { from, reply_to, subject } = (yield* callTest("GET", `/v1/email/logs/${json.id}`)).json
      return { from, reply_to, subject }
    })
    assert.deepStrictEqual(yield* recordOf({}), own)
    const other = { from: "Ana <ana@shop.example>", reply_to: ["bo@shop.example"], subject: "Hello" }
    assert.deepStrictEqual(yield* recordOf(other), other)
  })

  it.effect("is refused if it takes too much to render, and says so", function* () {
    const { call, callTest } = yield* customer
    const loop = (body: string) => `{% for i in (1..9000) %}${body}{% endfor %}`
    yield* create(call, {
      subject: "Hi",
      text: "{% if long %}" + loop("a".repeat(1_000)) + "{% endif %}{{ x | number }}",
    })
    const send = (variables: object) =>
      callTest("POST", "/v1/email/send", {
        from: "hi@shop.example",
        to: "ana@example.org",
        template: { alias: "hello", variables },
      })
    assert.strictEqual((yield* send({ x: 1 })).status, 200)
    const long = yield* send({ long: true })
    assert.deepStrictEqual(reasonOf(long), [422, "template_not_rendered"])
    assert.deepStrictEqual(
      long.json.error.details.map(({ message, path }: { message: string; path: string }) => [
        path,
        message.replace(/ \(line.*/u, ""),
      ]),
      [["text", `writes more than ${Limits.MAX_OUTPUT_CHARS} characters`]],
    )
  })

  it.effect("has no number that JavaScript has not", function* () {
    const { key, world } = yield* signUp({ domains: ["shop.test"] })
    const raw = `{"to": "a@shop.test", "template": {"id": "hello", "variables": {"x": [{"y": 1e999}]}}}`
    const refused = yield* world.request("POST", "/v1/email/send", { key, raw })
    assert.deepStrictEqual(reasonOf(refused), [400, "validation_failed"])
    assert.deepStrictEqual(refused.json.error.details, [
      { path: "template.variables.x", message: "must be JSON with numbers below 1.8e308" },
    ])
  })

  it.effect("can be made of a copy, which is a draft of its own", function* () {
    const { call } = yield* customer
    yield* create(call, { subject: "Hi", text: "One" })
    const copy = yield* call("POST", "/v1/templates/hello/duplicate", { name: "Copy", alias: "copy" })
    assert.strictEqual(copy.status, 201, copy.text)
    assert.deepInclude(copy.json, { alias: "copy", status: "draft", current_version: null })
    yield* call("PATCH", "/v1/templates/copy", { text: "Two" })
    const textOf = (name: string) => Effect.map(call("GET", `/v1/templates/${name}`), ({ json }) => json.draft.text)
    assert.deepStrictEqual([yield* textOf("hello"), yield* textOf("copy")], ["One", "Two"])
  })

  it.effect("is shown with all that its reader would miss", function* () {
    const { call } = yield* customer
    const long = "a".repeat(103 * 1024)
    const html = `<a href="http://shop.example">{{ nmae }}</a><img src="https://shop.example/a.png">${long}`
    const variables = { type: "object", properties: { name: { type: "string" } } }
    const { json } = yield* call("POST", "/v1/templates", {
      name: "Hello",
      alias: "hello",
      html,
      subject: "Hi",
      variables,
    })
    const rendered = yield* call("POST", `/v1/templates/${json.id}/render`, { variables: { name: "Ana" } })
    assert.deepStrictEqual(rendered.json.warnings, [
      { path: "html", message: "is over 102 KB: Gmail shows only its beginning" },
      { path: "html", message: "1 of its images have no `alt`" },
      { path: "html", message: "1 of its links are not https" },
      { path: "text", message: "is missing: it is derived from the HTML" },
      { path: "html", message: "`nmae` is not in the schema; did you mean `name`? (line 1, column 34)" },
    ])
  })
})
