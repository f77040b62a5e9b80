import { CurrentKey } from "@waybill/api/middleware/Authorization"
import { Effect } from "effect"
import * as TemplatePush from "../../../../apps/server/src/http/api/templates/TemplatePush.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { longestTurn } from "../../../support/longestTurn.ts"
import { HttpWorld, reasonOf, signUp } from "../../../support/world/HttpWorld.ts"
import { MAIL, RECEIPT, VARIABLES } from "../receiptTemplate.ts"

const BASE = { alias: "base", name: "Base", kind: "layout", html: "<main>{{ content }}</main>" }
const HELLO = { alias: "hello", name: "Hello", layout: "base", subject: "Hi", html: "<p>Hi</p>" }

interface Result {
  readonly action: string
  readonly version: number | null
}
const resultsOf = ({ json }: { readonly json: { readonly templates: ReadonlyArray<Result> } }) =>
  json.templates.map(({ action, version }) => [action, version])

layer(HttpWorld.layer(), { excludeTestServices: true })("a push of templates", (it) => {
  const shop = signUp({ domains: ["shop.test"] })

  it.effect("creates, changes and publishes all of them, and leaves alone what is as it should be", function* () {
    const { call } = yield* shop
    const push = (body: object) => call("POST", "/v1/templates/push", body)
    const checked = yield* push({ templates: [HELLO, BASE], publish: true, dry_run: true })
    assert.deepStrictEqual(resultsOf(checked), [
      ["created", 1],
      ["created", 1],
    ])
    assert.deepInclude(checked.json.templates[0], { id: null, base: null, problems: [] })
    assert.strictEqual((yield* call("GET", "/v1/templates")).json.data.length, 0)

    const first = yield* push({ templates: [HELLO, BASE], publish: true, notes: "First" })
    assert.strictEqual(first.status, 200)
    const rendered = yield* call("POST", "/v1/templates/hello/render", { version: 1 })
    assert.strictEqual(rendered.json.html, "<main><p>Hi</p></main>")
    assert.deepInclude((yield* call("GET", "/v1/templates/hello/versions/1")).json, { notes: "First" })
    const { etag } = (yield* call("GET", "/v1/templates/hello")).json
    assert.strictEqual(etag, first.json.templates[0].etag)

    const again = yield* push({ templates: [HELLO, BASE], publish: true })
    assert.deepStrictEqual(resultsOf(again), [
      ["unchanged", null],
      ["unchanged", null],
    ])
    const draft = yield* push({ templates: [{ ...HELLO, subject: "Hello" }] })
    assert.deepStrictEqual(draft.json.templates[0].changed_fields, ["subject"])
    assert.deepStrictEqual(resultsOf(draft), [["changed", null]])
    assert.deepInclude((yield* call("GET", "/v1/templates/hello")).json, { current_version: 1, versions: 1 })
    const published = yield* push({ templates: [{ ...HELLO, subject: "Hello" }], publish: true })
    assert.deepStrictEqual(resultsOf(published), [["published", 2]])
    const kept = yield* push({ templates: [{ ...HELLO, subject: "Hey", publish: false }], publish: true })
    assert.deepStrictEqual(resultsOf(kept), [["changed", null]])
    const back = yield* push({ templates: [{ ...HELLO, subject: "Hello" }], publish: true })
    assert.deepStrictEqual(resultsOf(back), [["changed", null]])
  })

  it.effect("is refused as a whole, with all that is wrong", function* () {
    const { call } = yield* shop
    const push = (body: object) => call("POST", "/v1/templates/push", body)
    const templates = [
      BASE,
      { ...HELLO, html: "{{ name | upcas }}" },
      { ...HELLO, alias: "lost", layout: "nowhere" },
      { alias: "ring", name: "Ring", kind: "partial", html: '{% render "ring" %}' },
    ]
    const refused = yield* push({ templates, publish: true })
    assert.deepStrictEqual(reasonOf(refused), [422, "template_invalid"])
    assert.deepStrictEqual(refused.json.error.details, [
      {
        path: "templates[1].html",
        message: "there is no filter upcas; did you mean upcase? (line 1, column 1)",
      },
      { path: "templates[2].layout", message: "uses nowhere, which is no published partial or layout" },
      { path: "templates[3].html", message: "uses itself: ring → ring (line 1, column 1)" },
    ])
    assert.strictEqual((yield* call("GET", "/v1/templates")).json.data.length, 0)
    const checked = yield* push({ templates, publish: true, dry_run: true })
    assert.deepStrictEqual(
      checked.json.templates.map(({ problems }: { readonly problems: ReadonlyArray<unknown> }) => problems.length),
      [0, 1, 1, 1],
    )
    yield* push({ templates: [BASE] })
    const other = yield* push({ templates: [HELLO, { ...BASE, kind: "template" }] })
    assert.deepStrictEqual(other.json.error.details, [
      { path: "templates[1].kind", message: "is layout in this account, and never changes" },
    ])
  })

  it.effect("loses no change of somebody else", function* () {
    const { call } = yield* shop
    const push = (body: object) => call("POST", "/v1/templates/push", body)
    const { json } = yield* push({ templates: [HELLO] })
    const { etag } = json.templates[0]
    yield* call("PATCH", "/v1/templates/hello", { subject: "Changed in the dashboard" })
    const stale = yield* push({ templates: [BASE, { ...HELLO, subject: "Pushed", base: etag }] })
    assert.deepStrictEqual(reasonOf(stale), [422, "template_push_conflict"])
    assert.deepStrictEqual(stale.json.error.details, [
      { path: "templates[1]", message: "was changed since it was read" },
    ])
    assert.strictEqual((yield* call("GET", "/v1/templates/base")).status, 404)
    assert.deepStrictEqual(reasonOf(yield* push({ templates: [{ ...HELLO, base: "none" }] })), [
      422,
      "template_push_conflict",
    ])
    const now = (yield* call("GET", "/v1/templates/hello")).json
    assert.strictEqual(now.draft.subject, "Changed in the dashboard")
    assert.strictEqual((yield* push({ templates: [{ ...HELLO, subject: "Pushed", base: now.etag }] })).status, 200)
  })

  it.effect("of two at once creates each template once", function* () {
    const { call } = yield* shop
    const pushes = yield* Effect.all(
      Array.from({ length: 4 }, (_, nth) =>
        call("POST", "/v1/templates/push", { templates: [{ ...HELLO, subject: `Number ${nth}` }, BASE] }),
      ),
      { concurrency: 4 },
    )
    for (const answer of pushes)
      if (answer.status !== 200) assert.deepStrictEqual(reasonOf(answer), [422, "template_push_conflict"])
    const { json } = yield* call("GET", "/v1/templates")
    assert.strictEqual(json.data.length, 2)
  })

  // The batch holds up all accounts: it would read the whole history of each template, with all its words.
  it.effect("reads the history of its templates outside the batch", function* () {
    const { account, call } = yield* shop
    for (const subject of ["One", "Two", "Three"])
      yield* call("POST", "/v1/templates/push", { templates: [{ ...HELLO, subject, layout: null }], publish: true })
    const template = { ...HELLO, kind: null, preheader: null, text: null, base: null, description: null, layout: null }
    const push = { templates: [template as never], publish: true, notes: null, dry_run: false }
    const work = yield* TemplatePush.pushing(push).pipe(
      Effect.provideService(CurrentKey, { account_id: account, key_id: null, scopes: [], domain: null }),
    )
    const known = work.streams[0]?.known ?? assert.fail("reads it in the batch")
    assert.strictEqual(known.version, 6)
    assert.isDefined(known.last)
    assert.deepInclude(known.state, { recent: [], versions: 3 })
  })

  it.effect("is answered once for one idempotency key, and belongs to its account", function* () {
    const { call, key, world } = yield* shop
    const stranger = yield* signUp({ domains: ["other.test"] })
    const headers = { "idempotency-key": "push-1" }
    const body = { templates: [RECEIPT], publish: true }
    const first = yield* world.request("POST", "/v1/templates/push", { key, headers, body })
    const again = yield* world.request("POST", "/v1/templates/push", { key, headers, body })
    assert.deepStrictEqual(again.json, first.json)
    assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    assert.strictEqual((yield* stranger.call("GET", "/v1/templates/receipt")).status, 404)
    const sent = yield* call("POST", "/v1/email/send", {
      ...MAIL,
      template: { alias: "receipt", variables: VARIABLES },
    })
    assert.strictEqual(sent.status, 200)
  })

  it.effect("takes a bounded number of templates and characters", function* () {
    const { call } = yield* shop
    const many = Array.from({ length: 201 }, (_, nth) => ({ alias: `t${nth}`, name: "x" }))
    const refused = yield* call("POST", "/v1/templates/push", { templates: many })
    assert.deepStrictEqual(refused.json.error.details, [
      { path: "templates", message: "takes 1 to 200 templates; 201 were given" },
    ])
    const twice = yield* call("POST", "/v1/templates/push", { templates: [HELLO, HELLO] })
    assert.deepStrictEqual(twice.json.error.details, [{ path: "templates[1].alias", message: "is in this push twice" }])
    const html = "x".repeat(250_000)
    const large = Array.from({ length: 35 }, (_, nth) => ({ alias: `t${nth}`, name: "x", html }))
    const tooLarge = yield* call("POST", "/v1/templates/push", { templates: large })
    assert.deepStrictEqual(tooLarge.json.error.details, [
      { path: "templates", message: "have 8750000 characters; at most 8388608 are allowed together" },
    ])
  })

  it.effect("as large as one may be holds up no other request", function* () {
    const { call } = yield* shop
    const html = "<p>{{ name }} hello there</p>".repeat(1_300)
    const templates = Array.from({ length: 200 }, (_, nth) => ({ alias: `t${nth}`, name: "x", html }))
    const longest = longestTurn()
    assert.strictEqual((yield* call("POST", "/v1/templates/push", { templates, publish: true })).status, 200)
    assert.isBelow(longest(), 500)
  })
})
