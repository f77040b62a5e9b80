import * as Template from "@waybill/domain/template/Template"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import type { AccountId, TemplateId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Rendering from "@waybill/templates/version/Rendering"
import { Clock, Effect, Result } from "effect"
import * as Programs from "../../../apps/server/src/templates/Programs.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Smtp from "../smtp/support.ts"

const OTHERS = { count: 0, withAlias: () => undefined }
const BY = { created_by: null, notes: null, activates: true }

layer(Smtp.layer, { excludeTestServices: true })("the parts that a template uses", (it) => {
  const now = Effect.map(Clock.currentTimeMillis, Timestamp.fromMillis)

  const create = Effect.fnUntraced(function* (
    account_id: AccountId,
    kind: TemplateState.TemplateKind,
    alias: string,
    html: string,
  ) {
    const { commit } = yield* EventStore
    const template_id: TemplateId = id("TemplateId")
    const draft = { ...TemplateState.EMPTY, html }
    const ref = { account_id, stream_id: template_id }
    const made = { template_id, kind, alias, name: alias, description: null, draft }
    yield* Effect.orDie(commit(Template, ref, Template.create(yield* now, OTHERS, made)))
    yield* Effect.orDie(commit(Template, ref, Template.publish(yield* now, draft, BY)))
    return template_id
  })

  it.effect("are kept under the state in which they were read, not that which was looked up before", function* () {
    const { account_id } = yield* Smtp.customer()
    const { commit } = yield* EventStore
    const part = { account_id, stream_id: yield* create(account_id, "partial", "foot", "<i>one</i>") }
    yield* create(account_id, "template", "hello", '{% render "foot" %}')
    const find = Effect.map(CurrentTemplates.find(account_id, ["hello"]), (found) => found.get("hello"))
    const before = (yield* find) ?? assert.fail("not found")
    const draft = { ...TemplateState.EMPTY, html: "<i>two</i>" }
    yield* Effect.orDie(commit(Template, part, Template.change(yield* now, OTHERS, { draft })))
    yield* Effect.orDie(commit(Template, part, Template.publish(yield* now, draft, BY)))
    const htmlOf = Effect.fnUntraced(function* (current: CurrentTemplates.Current) {
      const version = yield* Programs.version(account_id, current, 1, undefined)
      const compiled = Result.getOrThrow(version?.compiled ?? assert.fail("no version"))
      const writing = { locale: "en", time_zone: "UTC" }
      return Result.getOrThrow(Rendering.render(compiled, {}, writing, { isOver: () => false })).html
    })
    assert.strictEqual(yield* htmlOf(before), "<i>two</i>")
    yield* Effect.orDie(commit(Template, part, Template.rollBack(yield* now, 1)))
    const after = (yield* find) ?? assert.fail("not found")
    assert.strictEqual(after.parts, before.parts)
    assert.strictEqual(yield* htmlOf(after), "<i>one</i>")
  })

  it.effect("are of one moment, though one is published while others are read", function* () {
    const { account_id } = yield* Smtp.customer()
    const { commit } = yield* EventStore
    const part = { account_id, stream_id: yield* create(account_id, "partial", "foot", "<i>one</i>") }
    const draft = { ...TemplateState.EMPTY, html: "<i>two</i>" }
    const publish = Effect.gen(function* () {
      yield* Effect.orDie(commit(Template, part, Template.change(yield* now, OTHERS, { draft })))
      yield* Effect.orDie(commit(Template, part, Template.publish(yield* now, draft, BY)))
    })
    const read = CurrentTemplates.parts(account_id, "html", ["foot"], 100)
    const { after, before } = yield* CurrentTemplates.atOneMoment(
      Effect.gen(function* () {
        const before = yield* read
        yield* publish
        return { before, after: yield* read }
      }),
    )
    assert.deepStrictEqual(after, before)
    assert.notDeepEqual(yield* read, before)
  })

  it.effect("are read by their names, as far as they fit together", function* () {
    const { account_id } = yield* Smtp.customer()
    for (const alias of ["a", "b", "c", "d"]) yield* create(account_id, "partial", alias, alias.repeat(10))
    const { parts, state } = yield* CurrentTemplates.parts(account_id, "html", ["a", "b", "c", "none"], 15)
    assert.deepStrictEqual(
      parts.map(({ alias, body, is_beyond }) => [alias, body, is_beyond]),
      [
        ["a", "a".repeat(10), false],
        ["b", "b".repeat(10), false],
        ["c", null, true],
      ],
    )
    const none = yield* CurrentTemplates.parts(account_id, "text", ["none"], 15)
    assert.deepStrictEqual(none, { state, parts: [] })
  })

  it.effect("are written beside drafts and versions, so that a search reads no source", function* () {
    const { account_id } = yield* Smtp.customer()
    const sql = yield* Sql
    const html = `{%- layout 'base.a' -%}{% render "foot", a: 1 %}{% render "foot" %}{% render "odd' %}{{ "render" }}`
    yield* create(account_id, "template", "hello", html)
    for (const table of ["templates", "template_versions"])
      assert.deepStrictEqual(yield* sql`SELECT uses FROM ${sql(table)} WHERE account_id = ${account_id}`, [
        { uses: ["base.a", "foot"] },
      ])
  })
})
