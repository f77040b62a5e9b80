import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL, RECEIPT, VARIABLES } from "./receiptTemplate.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("templates", (it) => {
  const shop = signUp({ domains: ["shop.test"] })

  it.effect("are drafts until they are published, and versions never change", function* () {
    const { call } = yield* shop
    const created = yield* call("POST", "/v1/templates", RECEIPT)
    assert.strictEqual(created.status, 201)
    assert.deepInclude(created.json, { alias: "receipt", status: "draft", current_version: null, kind: "template" })
    const early = yield* call("POST", "/v1/email/send", {
      ...MAIL,
      template: { alias: "receipt", variables: VARIABLES },
    })
    assert.deepStrictEqual(reasonOf(early), [422, "template_not_published"])
    assert.match(early.json.error.message, /publish one with POST \/v1\/templates\/\{template\}\/publish/u)
    const misspelt = yield* call("POST", "/v1/email/send", { ...MAIL, template: { alias: "reciept" } })
    assert.deepStrictEqual(reasonOf(misspelt), [422, "template_not_found"])
    assert.include(
      misspelt.json.error.message,
      'The template "reciept" does not exist in this account (did you mean "receipt"?).',
    )

    const first = yield* call("POST", "/v1/templates/receipt/publish", { notes: "First" })
    assert.deepInclude(first.json, { number: 1, notes: "First" })
    assert.match(first.json.created_by, /^key_/u)
    yield* call("PATCH", `/v1/templates/${created.json.id}`, { subject: "Receipt {{ order.id }}" })
    assert.strictEqual((yield* call("GET", "/v1/templates/receipt/versions/1")).json.subject, RECEIPT.subject)
    assert.deepInclude((yield* call("POST", "/v1/templates/receipt/publish", {})).json, { number: 2 })
    const listed = yield* call("GET", "/v1/templates/receipt/versions")
    assert.deepStrictEqual(
      listed.json.data.map(({ number }: { readonly number: number }) => number),
      [2, 1],
    )
    const back = yield* call("POST", "/v1/templates/receipt/rollback", { version: 1 })
    assert.deepInclude(back.json, { current_version: 1, versions: 2 })
    assert.strictEqual(back.json.draft.subject, "Receipt {{ order.id }}")
  })

  it.effect("become Liquid when a change says so", function* () {
    const { call } = yield* shop
    const { json: created } = yield* call("POST", "/v1/templates", {
      name: "Moved",
      language: "handlebars",
      subject: "Hi",
      html: "{{#if name}}{{name}}{{/if}}",
    })
    const path = `/v1/templates/${created.id}`
    const html = "{% if name %}{{ name }}{% endif %}"
    for (const language of ["liquid", null]) {
      yield* call("PATCH", path, { language: "handlebars", html: "{{name}}" })
      assert.deepInclude((yield* call("GET", path)).json.draft, { language: "handlebars" })
      yield* call("PATCH", path, { language, html })
      assert.notStrictEqual((yield* call("GET", path)).json.draft.language, "handlebars")
      assert.strictEqual((yield* call("POST", `${path}/publish`, {})).status, 201)
      const rendered = yield* call("POST", `${path}/render`, { variables: { name: "Ana" } })
      assert.deepInclude(rendered.json, { html: "Ana" })
    }
  })

  // Two changes at once, each valid by itself, can make such a draft.
  it.effect("are published only if their words can be translated", function* () {
    const { call, world } = yield* shop
    const { json: created } = yield* call("POST", "/v1/templates", { name: "Odd", subject: "Hi", html: "<p>Hi</p>" })
    yield* world.sql`UPDATE templates
      SET draft = draft || '{"language": "handlebars", "html": "{{> footer}}"}' WHERE id = ${created.id}`
    const refused = yield* call("POST", `/v1/templates/${created.id}/publish`, {})
    assert.deepStrictEqual(reasonOf(refused), [422, "template_invalid"])
  })

  it.effect("keep the changes of two requests at once", function* () {
    const { call } = yield* shop
    const { json: created } = yield* call("POST", "/v1/templates", {
      name: "Notice",
      subject: "Old",
      html: "<p>Old</p>",
    })
    const path = `/v1/templates/${created.id}`
    yield* Effect.all([call("PATCH", path, { subject: "New" }), call("PATCH", path, { html: "<p>New</p>" })], {
      concurrency: 2,
    })
    assert.deepInclude((yield* call("GET", path)).json.draft, { subject: "New", html: "<p>New</p>" })
  })

  // The fault took minutes: each open brace was looked for an end in all that follows.
  it.effect("are refused at once when nothing in them is closed", function* () {
    const { call } = yield* shop
    const html = "{{".repeat(100_000)
    const { json } = yield* call("POST", "/v1/templates/validate", { html, locales: { de: { html }, fr: { html } } })
    assert.deepInclude(json, { valid: false, suggested_variables: { type: "object" } })
    assert.strictEqual(json.problems[0].path, "")
  })

  it.effect("are checked with line and column", function* () {
    const { call } = yield* shop
    const html = "<p>\n{{ name | upcas }}</p>"
    const refused = yield* call("POST", "/v1/templates", { name: "Bad", html })
    assert.deepStrictEqual(reasonOf(refused), [422, "template_invalid"])
    assert.deepStrictEqual(refused.json.error.details, [
      { path: "html", message: "there is no filter upcas; did you mean upcase? (line 2, column 1)" },
    ])
    const validated = yield* call("POST", "/v1/templates/validate", { html: "<p>{{ user.name }}{{ total }}</p>" })
    assert.deepInclude(validated.json, { valid: true, problems: [] })
    assert.deepStrictEqual(validated.json.sample, { user: { name: "Name" }, total: "Total" })
    const variables = { type: "object", properties: { name: {} } }
    const unknown = yield* call("POST", "/v1/templates/validate", { html: "<p>\n{{ nmae }}</p>", variables })
    assert.deepInclude(unknown.json, { valid: true, problems: [] })
    assert.deepStrictEqual(unknown.json.warnings, [
      { path: "html", message: "`nmae` is not in the schema; did you mean `name`? (line 2, column 4)" },
    ])
    const missing = yield* call("POST", "/v1/templates/validate", { html: '{% render "footer" %}' })
    assert.deepStrictEqual(missing.json.problems, [
      { path: "html", message: "uses footer, which is no published partial or layout (line 1, column 1)" },
    ])
    const both = yield* call("POST", "/v1/templates/validate", { html: "{{ a | foo }}", text: '{% render "footer" %}' })
    assert.deepStrictEqual(
      both.json.problems.map(({ path }: { readonly path: string }) => path),
      ["html", "text"],
    )
  })

  it.effect("belong to their account, whose test mail is made of them too", function* () {
    const { call, keyWith, world } = yield* shop
    const stranger = yield* signUp({ domains: ["other.test"] })
    const { json: created } = yield* call("POST", "/v1/templates", RECEIPT)
    yield* call("POST", "/v1/templates/receipt/publish", {})
    for (const path of ["", "/versions", "/versions/1"])
      assert.strictEqual((yield* stranger.call("GET", `/v1/templates/${created.id}${path}`)).status, 404, path)
    const theirs = { from: "a@other.test", to: "ana@example.org", template: { id: created.id } }
    assert.deepStrictEqual(reasonOf(yield* stranger.call("POST", "/v1/email/send", theirs)), [
      422,
      "template_not_found",
    ])
    assert.deepStrictEqual(reasonOf(yield* call("POST", "/v1/templates", RECEIPT)), [422, "template_alias_taken"])

    const key = yield* keyWith({ scopes: ["email:send"], mode: "test" })
    const body = { ...MAIL, template: { alias: "receipt", variables: VARIABLES } }
    assert.strictEqual((yield* world.request("POST", "/v1/email/send", { key, body })).status, 200)
  })

  it.effect("are rendered without being sent, with what a reader would miss", function* () {
    const { call } = yield* shop
    yield* call("POST", "/v1/templates", { ...RECEIPT, html: `${RECEIPT.html}<img src="http://x.test/a.png">` })
    const { json } = yield* call("POST", "/v1/templates/receipt/render", { variables: VARIABLES })
    assert.strictEqual(json.subject, "Your order 7")
    assert.include(json.text, "Ana")
    assert.deepStrictEqual(
      json.warnings.map(({ message }: { readonly message: string }) => message),
      ["1 of its images have no `alt`", "is missing: it is derived from the HTML"],
    )
    const draft = { html: "<p>Hi</p>", preheader: "See\n{{ n }}", from: "Shop <a@shop.test>" }
    const silent = yield* call("POST", "/v1/templates/receipt/render", { draft, variables: { n: 1 } })
    assert.deepInclude(silent.json, { subject: null, preheader: "See 1", from: "Shop <a@shop.test>" })
    assert.deepInclude(silent.json.warnings, {
      path: "subject",
      message: "is missing: each message has to bring one",
    })
  })
})
