import { Effect } from "effect"
import * as RequestTarget from "../../../apps/server/src/requests/RequestTarget.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL } from "./receiptTemplate.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("templates that are edited", (it) => {
  const shop = signUp({ domains: ["shop.test"] })
  const namesOf = ({ json }: { readonly json: { readonly data: ReadonlyArray<{ readonly alias: string }> } }) =>
    json.data.map(({ alias }) => alias).toSorted()

  it.effect("are rendered as they are typed, without being stored", function* () {
    const { call } = yield* shop
    yield* call("POST", "/v1/templates", { name: "Typed", alias: "typed", subject: "Old", html: "<p>Old</p>" })
    const draft = { subject: "New {{ n }}", html: "<p>{{ n }}</p>", locales: { de: { subject: "Neu {{ n }}" } } }
    const { json } = yield* call("POST", "/v1/templates/typed/render", { draft, variables: { n: "<1>" }, locale: "de" })
    assert.deepInclude(json, { subject: "Neu <1>", html: "<p>&lt;1&gt;</p>", locale: "de" })
    assert.deepInclude((yield* call("GET", "/v1/templates/typed")).json.draft, { subject: "Old", locales: {} })
    const both = yield* call("POST", "/v1/templates/typed/render", { draft, version: 1 })
    assert.deepStrictEqual(reasonOf(both), [400, "validation_failed"])
    const wrong = yield* call("POST", "/v1/templates/typed/render", { draft: { html: "{{ n | upcas }}" } })
    assert.deepStrictEqual(reasonOf(wrong), [422, "template_invalid"])
  })

  it.effect("are given sample values of their own schema", function* () {
    const { call } = yield* shop
    const variables = { type: "object", properties: { n: { type: "integer", default: 7 } } }
    const own = yield* call("POST", "/v1/templates/validate", { html: "{{ n }}{{ other }}", variables })
    assert.deepStrictEqual(own.json.sample, { n: 7 })
    assert.hasAllKeys(own.json.suggested_variables.properties, ["n", "other"])
    const examples = [{ n: 8 }, { n: 9 }]
    const kept = yield* call("POST", "/v1/templates/validate", {
      html: "{{ n }}",
      variables: { ...variables, examples },
    })
    assert.deepStrictEqual(kept.json.sample, { n: 8 })
    const of = (each: object) => ({ type: "object", properties: { n: each } })
    const nested = { html: "{{ n }}", variables: of({ type: "integer", examples: [5], default: 7 }) }
    assert.deepStrictEqual((yield* call("POST", "/v1/templates/validate", nested)).json.sample, { n: 5 })
    const wrong = yield* call("POST", "/v1/templates/validate", { html: "{{ n }}", variables: of({ examples: 5 }) })
    assert.deepStrictEqual(wrong.json.problems, [
      { path: "variables.properties.n.examples", message: "must be a list of at most 20 values" },
    ])
  })

  it.effect("are neither changed nor published over a change that their author has not seen", function* () {
    const { call } = yield* shop
    const { json: seen } = yield* call("POST", "/v1/templates", { name: "Seen", alias: "seen", subject: "One" })
    const { json: next } = yield* call("PATCH", "/v1/templates/seen", { subject: "Two" })
    const unchanged_since = seen.updated_at
    const change = yield* call("PATCH", "/v1/templates/seen", { subject: "Three", unchanged_since })
    assert.deepStrictEqual(reasonOf(change), [422, "template_draft_changed"])
    const published = yield* call("POST", "/v1/templates/seen/publish", { unchanged_since })
    assert.deepStrictEqual(reasonOf(published), [422, "template_draft_changed"])
    const { json: third } = yield* call("PATCH", "/v1/templates/seen", {
      subject: "Three",
      unchanged_since: next.updated_at,
    })
    assert.strictEqual(third.draft.subject, "Three")
    const version = yield* call("POST", "/v1/templates/seen/publish", { unchanged_since: third.updated_at })
    assert.deepInclude(version.json, { number: 1 })
  })

  it.effect("are found by the layout or partial that they use, in the draft or in what is sent", function* () {
    const { call } = yield* shop
    const create = (alias: string, source: object) => call("POST", "/v1/templates", { name: alias, alias, ...source })
    yield* create("base.a", { kind: "layout", html: "{{ content }}" })
    yield* create("baseXa", { kind: "layout", html: "{{ content }}" })
    yield* create("footer", { kind: "partial", html: "<i>Bye</i>" })
    for (const name of ["base.a", "baseXa", "footer"]) yield* call("POST", `/v1/templates/${name}/publish`, {})
    yield* create("field", { layout: "base.a", subject: "Hi", html: "Hi" })
    yield* create("tag", { subject: "Hi", html: `{%- layout 'base.a' -%}Hi` })
    yield* create("partial", { subject: "Hi", html: "x", locales: { de: { html: '{% render "footer", a: 1 %}' } } })
    yield* create("other", { layout: "baseXa", subject: "Hi", html: "Hi" })
    yield* create("sent", { subject: "Hi", html: '{% render "footer" %}' })
    yield* call("POST", "/v1/templates/sent/publish", {})
    yield* call("PATCH", "/v1/templates/sent", { html: "Hi" })
    assert.deepStrictEqual(namesOf(yield* call("GET", "/v1/templates?uses=base.a")), ["field", "tag"])
    assert.deepStrictEqual(namesOf(yield* call("GET", "/v1/templates?uses=footer")), ["partial", "sent"])
    const wrong = yield* call("GET", "/v1/templates?uses=tpl_1")
    assert.deepStrictEqual(reasonOf(wrong), [400, "validation_failed"])
  })

  it.effect("make each of many messages at once of the version that is sent now", function* () {
    const { call } = yield* shop
    const names = ["one", "two", "three"]
    for (const alias of names) {
      yield* call("POST", "/v1/templates", { name: alias, alias, subject: alias, text: `I am ${alias}` })
      yield* call("POST", `/v1/templates/${alias}/publish`, {})
    }
    const send = (alias: string) => call("POST", "/v1/email/send", { ...MAIL, template: { alias } })
    const wanted = Array.from({ length: 24 }, (_, nth) => names[nth % names.length] ?? "")
    const sent = yield* Effect.forEach([...wanted, "nobody"], send, { concurrency: "unbounded" })
    assert.deepStrictEqual(reasonOf(sent.at(-1) ?? { status: 0, json: {} }), [422, "template_not_found"])
    for (const [nth, alias] of wanted.entries()) {
      const { json } = yield* call("GET", `/v1/email/logs/${sent[nth]?.json.id}`)
      assert.strictEqual(json.subject, alias)
    }
    yield* call("PATCH", "/v1/templates/one", { subject: "New" })
    yield* call("POST", "/v1/templates/one/publish", {})
    const after = yield* send("one")
    assert.strictEqual((yield* call("GET", `/v1/email/logs/${after.json.id}`)).json.subject, "New")
  })

  it("are tried without a line in the log of requests for each pause of an author", () => {
    const trials = ["/v1/templates/validate", "/v1/templates/receipt/render"]
    assert.isTrue(trials.every((path) => RequestTarget.isTrial("POST", path)))
    const others = ["/v1/templates", "/v1/templates/receipt/publish", "/v1/templates/a/b/render", "/v1/email/send"]
    assert.isFalse(others.some((path) => RequestTarget.isTrial("POST", path)))
    assert.isFalse(RequestTarget.isTrial("GET", "/v1/templates/validate"))
  })
})
