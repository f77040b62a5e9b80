import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL } from "./receiptTemplate.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("what is sent of templates", (it) => {
  const shop = Effect.map(signUp({ domains: ["shop.test"] }), ({ call, ...others }) => ({
    ...others,
    call,
    make: Effect.fnUntraced(function* (kind: string, alias: string, html: string, more: object = {}) {
      yield* call("POST", "/v1/templates", { name: alias, kind, alias, html, subject: "Hi", ...more })
      return yield* call("POST", `/v1/templates/${alias}/publish`, {})
    }),
    publish: (alias: string, body: object = {}) => call("POST", `/v1/templates/${alias}/publish`, body),
    standing: (alias: string) => Effect.map(call("GET", `/v1/templates/${alias}`), ({ json }) => json),
  }))

  it.effect("stays whole: a layout or partial in use is neither archived nor renamed", function* () {
    const { call, make, publish } = yield* shop
    yield* make("partial", "foot", "<i>Bye</i>")
    yield* make("layout", "base", '{{ content }}{% render "foot" %}')
    yield* make("template", "hello", "<p>Hi</p>", { layout: "base" })
    yield* make("template", "later", "<p>Hi</p>")
    yield* call("PATCH", "/v1/templates/later", { layout: "base" })
    const attempts = {
      base: { name: "base", users: ["hello", "later"] },
      foot: { name: "foot", users: ["base"] },
    }
    for (const { name, users } of Object.values(attempts))
      for (const refused of [
        yield* call("DELETE", `/v1/templates/${name}`),
        yield* call("PATCH", `/v1/templates/${name}`, { alias: "other" }),
        yield* call("PATCH", `/v1/templates/${name}`, { alias: null }),
      ]) {
        assert.deepStrictEqual(reasonOf(refused), [422, "template_in_use"])
        assert.include(refused.json.error.message, `Templates use ${name}: ${users.join(", ")}.`)
        assert.deepStrictEqual(
          refused.json.error.details,
          users.map((path) => ({ path, message: `uses ${name}` })),
        )
      }
    assert.strictEqual((yield* call("PATCH", "/v1/templates/foot", { alias: "foot", name: "Foot" })).status, 200)
    const send = call("POST", "/v1/email/send", { ...MAIL, template: { alias: "hello" } })
    assert.strictEqual((yield* send).status, 200)

    // Out of the drafts, and out of what is sent: then it is free.
    for (const alias of ["hello", "later"]) yield* call("PATCH", `/v1/templates/${alias}`, { layout: null })
    assert.deepStrictEqual(reasonOf(yield* call("DELETE", "/v1/templates/base")), [422, "template_in_use"])
    yield* publish("hello")
    assert.strictEqual((yield* call("DELETE", "/v1/templates/base")).status, 200)
    const back = yield* call("POST", "/v1/templates/hello/rollback", { version: 1 })
    assert.deepStrictEqual(reasonOf(back), [422, "template_invalid"])
    assert.strictEqual((yield* send).status, 200)
    // What is archived needs nothing.
    yield* make("template", "gone", '{% render "foot" %}')
    yield* call("DELETE", "/v1/templates/gone")
    assert.strictEqual((yield* call("DELETE", "/v1/templates/foot")).status, 200)
  })

  it.effect("is told when a part of it is not there, as after two requests at once", function* () {
    const { call, make, standing, world } = yield* shop
    yield* make("partial", "foot", "<i>Bye</i>")
    yield* make("template", "hello", '{% render "foot" %}')
    assert.deepStrictEqual((yield* standing("hello")).missing_parts, [])
    yield* world.sql`UPDATE templates SET archived = true WHERE alias = 'foot'`
    assert.deepStrictEqual((yield* standing("hello")).missing_parts, ["foot"])
    const { json } = yield* call("GET", "/v1/templates")
    assert.deepStrictEqual(json.data[0].missing_parts, ["foot"])
  })

  it.effect("differs from the draft until that is published", function* () {
    const { call, make, publish, standing } = yield* shop
    const differs = Effect.gen(function* () {
      const { draft_differs } = yield* standing("hello")
      const { json } = yield* call("GET", "/v1/templates")
      assert.strictEqual(json.data[0].draft_differs, draft_differs)
      return draft_differs as boolean
    })
    const { json } = yield* call("POST", "/v1/templates", { name: "Hello", alias: "hello", html: "One", subject: "Hi" })
    assert.isTrue(json.draft_differs)
    assert.isTrue(yield* differs)
    yield* publish("hello")
    assert.isFalse(yield* differs)
    const changed = yield* call("PATCH", "/v1/templates/hello", { html: "Two", locales: { de: { html: "Zwei" } } })
    assert.deepInclude(changed.json, { draft_differs: true, languages: ["de"] })
    assert.isTrue(yield* differs)
    assert.isFalse((yield* call("PATCH", "/v1/templates/hello", { html: "One", locales: null })).json.draft_differs)
    assert.isFalse(yield* differs)
    // A change of its names is none of what is sent.
    assert.isFalse((yield* call("PATCH", "/v1/templates/hello", { name: "Hallo" })).json.draft_differs)
    yield* call("PATCH", "/v1/templates/hello", { html: "Two" })
    yield* publish("hello")
    assert.isFalse(yield* differs)
    assert.isTrue((yield* call("POST", "/v1/templates/hello/rollback", { version: 1 })).json.draft_differs)
    assert.isTrue(yield* differs)
    yield* call("PATCH", "/v1/templates/hello", { html: "Three" })
    yield* publish("hello", { activate: false })
    assert.isTrue(yield* differs)
    yield* make("template", "other", "x")
    for (let nth = 0; nth < 10; nth++) yield* call("PATCH", "/v1/templates/other", { html: `x${nth % 2}` })
    assert.isFalse((yield* call("PATCH", "/v1/templates/other", { html: "x" })).json.draft_differs)
  })

  it.effect("is not made a version again, unless a note says why", function* () {
    const { call, publish } = yield* shop
    yield* call("POST", "/v1/templates", { name: "Hello", alias: "hello", html: "One", subject: "Hi" })
    const first = yield* publish("hello", { notes: "First" })
    const again = yield* publish("hello")
    assert.deepStrictEqual([again.status, again.json], [201, first.json])
    assert.deepStrictEqual((yield* publish("hello", { notes: "First" })).json, first.json)
    assert.deepInclude((yield* publish("hello", { notes: "Approved" })).json, { number: 2, notes: "Approved" })
    yield* call("POST", "/v1/templates/hello/rollback", { version: 1 })
    assert.deepInclude((yield* publish("hello")).json, { number: 1 })
    assert.deepInclude((yield* call("GET", "/v1/templates/hello")).json, { current_version: 1, versions: 2 })
  })

  it.effect("is asked for by name and variables in `template`, and other forms are told so", function* () {
    const { call } = yield* shop
    const named = yield* call("POST", "/v1/email/send", { ...MAIL, template: "receipt" })
    assert.deepStrictEqual(reasonOf(named), [400, "validation_failed"])
    assert.include(
      JSON.stringify(named.json.error.details),
      String.raw`must be an object, such as {\"alias\": \"receipt\", \"variables\": {\"name\": \"Ana\"}}`,
    )
    for (const field of ["variables", "version", "locale", "time_zone"]) {
      const { json } = yield* call("POST", "/v1/email/send", { ...MAIL, template: "receipt", [field]: {} })
      const told = `The body has an unknown field \`${field}\`; it belongs in \`template\`.`
      assert.isTrue(json.error.message.startsWith(told), json.error.message)
      const batch = yield* call("POST", "/v1/email/send/batch", {
        emails: [{ ...MAIL, template: { alias: "receipt" }, [field]: {} }],
      })
      assert.include(batch.json.error.message, "it belongs in `template`", field)
    }
  })
})
