import * as Limits from "@waybill/templates/language/Limits"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL } from "./receiptTemplate.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("parts of templates", (it) => {
  const shop = signUp({ domains: ["shop.test"] })
  const contentOf = Effect.fnUntraced(function* (call: Effect.Success<typeof shop>["call"], id: string) {
    const { json } = yield* call("GET", `/v1/email/logs/${id}`)
    return json
  })

  it.effect("stand in layouts and use partials, which must not use themselves", function* () {
    const { call } = yield* shop
    const make = Effect.fnUntraced(function* (kind: string, alias: string, html: string, layout: string | null = null) {
      yield* call("POST", "/v1/templates", { name: alias, kind, alias, html, subject: "Hi", layout })
      return yield* call("POST", `/v1/templates/${alias}/publish`, {})
    })
    yield* make("partial", "foot", "<i>{{ year }}</i>")
    yield* make("layout", "base", '<body>{{ content }}{% render "foot", year: 2026 %}</body>')
    yield* make("template", "hello", "<p>{{ name }}</p>", "base")
    const send = call("POST", "/v1/email/send", { ...MAIL, template: { alias: "hello", variables: { name: "<Ana>" } } })
    const htmlOf = Effect.flatMap(send, ({ json }) =>
      Effect.map(contentOf(call, json.id), ({ content }) => content.html),
    )
    assert.strictEqual(yield* htmlOf, "<body><p>&lt;Ana&gt;</p><i>2026</i></body>")
    yield* call("PATCH", "/v1/templates/foot", { html: "<b>{{ year }}</b>" })
    yield* call("POST", "/v1/templates/foot/publish", {})
    assert.strictEqual(yield* htmlOf, "<body><p>&lt;Ana&gt;</p><b>2026</b></body>")

    yield* call("PATCH", "/v1/templates/foot", { html: '{% render "foot" %}' })
    const ring = yield* call("POST", "/v1/templates/foot/publish", {})
    assert.deepStrictEqual(ring.json.error.details, [
      { path: "html", message: "uses itself: foot → foot (line 1, column 1)" },
    ])
  })
  it.effect("must be there when a template is published, whichever of its words uses them", function* () {
    const { call } = yield* shop
    const uses = '{% render "none" %}'
    const words = { subject: uses, preheader: uses, html: uses, text: uses }
    yield* call("POST", "/v1/templates", { name: "Hello", alias: "hello", ...words, locales: { de: words } })
    const { json, status } = yield* call("POST", "/v1/templates/hello/publish", {})
    assert.strictEqual(status, 422)
    const names = ["subject", "preheader", "html", "text"]
    assert.deepStrictEqual(
      json.error.details,
      [...names, ...names.map((name) => `locales.de.${name}`)].map((path) => ({
        path,
        message: "uses none, which is no published partial or layout (line 1, column 1)",
      })),
    )
  })

  it.effect("are those that have the names now: one may go, and another take its name", function* () {
    const { call, world } = yield* shop
    const make = Effect.fnUntraced(function* (kind: string, alias: string, html: string) {
      yield* call("POST", "/v1/templates", { name: alias, kind, alias, html, subject: "Hi" })
      return yield* call("POST", `/v1/templates/${alias}/publish`, {})
    })
    yield* make("partial", "foot", "<i>old</i>")
    yield* make("partial", "other", "<i>new</i>")
    yield* make("template", "hello", '{% render "foot" %}')
    const htmlOf = Effect.gen(function* () {
      const { json } = yield* call("POST", "/v1/email/send", { ...MAIL, template: { alias: "hello" } })
      return (yield* contentOf(call, json.id)).content.html
    })
    assert.strictEqual(yield* htmlOf, "<i>old</i>")
    // Both at once, which a request may not do while they are used.
    yield* world.sql`UPDATE templates SET alias = CASE alias WHEN 'foot' THEN 'former' ELSE 'foot' END
      WHERE alias IN ('foot', 'other')`
    assert.strictEqual(yield* htmlOf, "<i>new</i>")
  })

  it.effect("are at most as many and as large as one template may use, in each language", function* () {
    const { call } = yield* shop
    const names = Array.from({ length: Limits.MAX_PARTS + 1 }, (_, nth) => `part${nth}`)
    const large = ["large0", "large1", "large2"]
    for (const alias of [...names, ...large]) {
      const html = large.includes(alias) ? "a".repeat(Limits.MAX_TOGETHER_CHARS / 2) : alias
      yield* call("POST", "/v1/templates", { name: alias, kind: "partial", alias, html })
      yield* call("POST", `/v1/templates/${alias}/publish`, {})
    }
    const uses = (aliases: ReadonlyArray<string>) => aliases.map((alias) => `{% render "${alias}" %}`).join("")
    const problemsOf = (html: string, more: object = {}) =>
      Effect.map(call("POST", "/v1/templates/validate", { html, ...more }), ({ json }) => json.problems)
    const most = uses(names.slice(1))
    assert.deepStrictEqual(yield* problemsOf(most, { locales: { de: { html: uses(["part0"]) } } }), [])
    assert.deepStrictEqual(yield* problemsOf(most + uses(["part0"])), [
      {
        path: "html",
        message: `uses more than ${Limits.MAX_PARTS} partials and layouts (line 1, column ${most.length + 1})`,
      },
    ])
    assert.deepStrictEqual(yield* problemsOf(uses(large.slice(1)), { locales: { de: { html: uses(["large0"]) } } }), [])
    const message = `uses partials of more than ${Limits.MAX_TOGETHER_CHARS} characters or ${Limits.MAX_TOGETHER_PIECES} tags and variables`
    assert.deepStrictEqual(yield* problemsOf("", { locales: { de: { html: uses([...large, "part0"]) } } }), [
      { path: "locales.de.html", message },
    ])
  })
})
