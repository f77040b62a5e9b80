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
    assert.deepStrictEqual(ring.json.error.details, [{ path: "html", message: "uses itself: foot → foot" }])
  })
})
