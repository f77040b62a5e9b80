import { PgClient } from "@effect/sql-pg"
import * as Sendable from "@waybill/api/schemas/send/Sendable"
import { EMPTY } from "@waybill/domain/template/TemplateState"
import type { AccountId, TemplateId } from "@waybill/domain/values/Id"
import { Effect, Result, Schema } from "effect"
import * as Programs from "../../../apps/server/src/templates/Programs.ts"
import * as Templating from "../../../apps/server/src/templates/Templating.ts"
import { assert, it, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL } from "./receiptTemplate.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("a message of a template that was used before", (it) => {
  const shop = Effect.gen(function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const create = Effect.fnUntraced(function* (alias: string, fields: object) {
      yield* call("POST", "/v1/templates", { name: alias, alias, ...fields })
      assert.strictEqual((yield* call("POST", `/v1/templates/${alias}/publish`, {})).status, 201)
    })
    const send = (name: string, headers?: Readonly<Record<string, string>>) =>
      call("POST", "/v1/email/send", { ...MAIL, subject: "Hi", template: { alias: name } }, headers)
    const textOf = Effect.fnUntraced(function* (name: string) {
      const sent = yield* send(name)
      return (yield* call("GET", `/v1/email/logs/${sent.json.id}`)).json.content.text as string
    })
    return { call, create, send, textOf }
  })

  it.effect("has what is sent now, whatever changed since", function* () {
    const { call, create, send, textOf } = yield* shop
    yield* create("foot", { kind: "partial", text: "one" })
    yield* create("hello", { text: 'Hello, {% render "foot" %}' })
    yield* create("other", { text: "Other" })
    assert.strictEqual(yield* textOf("hello"), "Hello, one")
    yield* call("PATCH", "/v1/templates/foot", { text: "two" })
    yield* call("POST", "/v1/templates/foot/publish", {})
    assert.strictEqual(yield* textOf("hello"), "Hello, two")
    yield* call("PATCH", "/v1/templates/hello", { text: "Hi" })
    assert.strictEqual(yield* textOf("hello"), "Hello, two")
    yield* call("POST", "/v1/templates/hello/publish", {})
    assert.strictEqual(yield* textOf("hello"), "Hi")
    yield* call("POST", "/v1/templates/hello/rollback", { version: 1 })
    assert.strictEqual(yield* textOf("hello"), "Hello, two")
    yield* call("PATCH", "/v1/templates/hello", { alias: "former" })
    yield* call("PATCH", "/v1/templates/other", { alias: "hello" })
    assert.strictEqual(yield* textOf("hello"), "Other")
    assert.strictEqual(yield* textOf("former"), "Hello, two")
    yield* call("DELETE", "/v1/templates/hello")
    assert.deepStrictEqual(reasonOf(yield* send("hello")), [422, "template_not_found"])
  })

  it.effect("is accepted, though what was sent before was refused", function* () {
    const { call, create, send, textOf } = yield* shop
    yield* create("hello", { text: "{{ x | money }}" })
    assert.deepStrictEqual(reasonOf(yield* send("hello")), [422, "template_not_rendered"])
    assert.deepStrictEqual(reasonOf(yield* send("hello")), [422, "template_not_rendered"])
    yield* call("PATCH", "/v1/templates/hello", { text: "Hi" })
    yield* call("POST", "/v1/templates/hello/publish", {})
    assert.strictEqual(yield* textOf("hello"), "Hi")
  })

  it.effect("is accepted once by the key of the request, though the template changed", function* () {
    const { call, create, send } = yield* shop
    yield* create("hello", { text: "Hi" })
    const key = { "idempotency-key": "one" }
    const first = yield* send("hello", key)
    yield* call("PATCH", "/v1/templates/hello", { text: "{{ x | money }}" })
    yield* call("POST", "/v1/templates/hello/publish", {})
    assert.deepStrictEqual((yield* send("hello", key)).json, first.json)
    yield* call("DELETE", "/v1/templates/hello")
    assert.deepStrictEqual((yield* send("hello", key)).json, first.json)
  })
})

it.effect("A message is made of what a template sent last without asking the database", function* () {
  const account_id: AccountId = id("AccountId")
  const caches = Programs.make()
  const current = { id: "tpl_1" as TemplateId, kind: "template", archived: false, current: 2, parts: "" } as const
  caches.current.set(`${account_id} hello`, current)
  const source = { ...EMPTY, text: "Hello" }
  Programs.keepSource(caches, `${account_id} tpl_1 2`, source)
  Programs.compile(caches, `${account_id} tpl_1 2  `, source, new Map(), undefined)
  const message = yield* Schema.decodeUnknownEffect(Sendable.Sendable)({
    ...MAIL,
    subject: "Hi",
    template: { alias: "hello" },
  })
  if (!Sendable.isTemplated(message)) return assert.fail("is of no template")
  const guessed = yield* Templating.guess(account_id, message).pipe(
    Effect.provideService(Programs.Programs, caches),
    Effect.provideService(PgClient.PgClient, Object.create(null) as PgClient.PgClient),
  )
  const filled = Result.getOrThrow(guessed?.filled ?? assert.fail("was looked up"))
  assert.deepInclude(filled.message, { text: "Hello" })
  assert.deepInclude(filled.used, { version: 2 })
})
