import * as Template from "@waybill/domain/template/Template"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import type * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { assert, describe, it } from "../support/effectTest.ts"
import { given } from "../support/givenWhenThen.ts"

const now = "2026-11-29T09:00:00.000Z" as Timestamp.Timestamp
const template_id = "tpl_01m7ynaym0e008000000000001" as Id.TemplateId
const ALONE: Template.Others = { count: 0, withAlias: () => undefined }
const NEW = {
  template_id,
  kind: "template",
  alias: "receipt",
  name: "Receipt",
  description: null,
  draft: TemplateState.EMPTY,
} as const
const created: Template.Event = { _tag: "TemplateCreated", ...NEW, at: now }
const draft = { ...TemplateState.EMPTY, html: "<p>Hi</p>" }
const NAMES = { alias: "receipt", name: "Receipt", description: null }
const BY = { created_by: null, notes: null, activates: true }
const published = (number: number, source = TemplateState.EMPTY): Template.Event => ({
  _tag: "TemplatePublished",
  template_id,
  number,
  source,
  notes: null,
  created_by: null,
  at: now,
})

describe("a template", () => {
  it("is made with an alias that no other has, up to the limit of the account", () => {
    given(Template)
      .when(Template.create(now, ALONE, NEW))
      .appends(created)
    const taken = { ...ALONE, withAlias: () => "tpl_other" }
    given(Template)
      .when(Template.create(now, taken, NEW))
      .refuses({ status: 422, reason: "template_alias_taken" })
    given(Template)
      .when(Template.create(now, { ...ALONE, count: 1_000 }, NEW))
      .refuses({ status: 422, reason: "too_many_templates" })
    assert.strictEqual(Template.evolve(Template.initial, published(1))._tag, "NotCreated")
  })

  it("keeps its alias through a change, and is changed once", () => {
    const own = { ...ALONE, withAlias: () => template_id }
    const changed: Template.Event = { _tag: "TemplateChanged", ...NAMES, draft, at: now }
    given(Template, created)
      .when(Template.change(now, own, { draft }))
      .appends(changed)
    given(Template, created, changed)
      .when(Template.change(now, own, { draft }))
      .refuses({ status: 422, reason: "nothing_new" })
  })

  it("is pushed: created, changed and published, as far as it is another", () => {
    const own = { ...ALONE, withAlias: () => template_id }
    const publication = { ...BY, isSent: false }
    given(Template)
      .when(Template.push(now, ALONE, { ...NEW, publication: null }))
      .appends(created)
    given(Template)
      .when(Template.push(now, ALONE, { ...NEW, publication }))
      .appends(created, published(1))
    given(Template, created)
      .when(Template.push(now, own, { ...NEW, draft, publication }))
      .appends({ _tag: "TemplateChanged", ...NAMES, draft, at: now }, published(1, draft))
    given(Template, created)
      .when(Template.push(now, own, { ...NEW, publication }))
      .appends(published(1))
    given(Template, created, published(1))
      .when(Template.push(now, own, { ...NEW, publication: { ...BY, isSent: true } }))
      .refuses({ status: 422, reason: "nothing_new" })
    given(Template, created)
      .when(Template.push(now, own, { ...NEW, kind: "layout", publication }))
      .refuses({ status: 422, reason: "template_push_conflict" })
    given(Template)
      .when(Template.push(now, { ...ALONE, count: 1_000 }, { ...NEW, publication }))
      .refuses({ status: 422, reason: "too_many_templates" })
  })

  it("is published as it was checked, and not if it was changed meanwhile", () => {
    given(Template, { ...created, draft })
      .when(Template.publish(now, draft, BY))
      .appends(published(1, draft))
    given(Template, created)
      .when(Template.publish(now, draft, BY))
      .refuses({ status: 422, reason: "template_draft_changed" })
  })

  it("makes a version without sending it, and goes on sending the present one or none", () => {
    const inactive = { ...BY, activates: false }
    const back = (number: number): Template.Event => ({ _tag: "TemplateRolledBack", template_id, number, at: now })
    given(Template, created, published(1))
      .when(Template.publish(now, TemplateState.EMPTY, inactive))
      .appends(published(2), back(1))
    given(Template, created)
      .when(Template.publish(now, TemplateState.EMPTY, inactive))
      .appends(published(1), back(0))
    const state = [created, published(1), back(0)].reduce(Template.evolve, Template.initial as Template.State)
    assert.deepInclude(state, { current: 0, versions: 1 })
  })

  it("numbers its versions, whatever is sent now", () => {
    given(Template, created)
      .when(Template.publish(now, TemplateState.EMPTY, BY))
      .appends(published(1))
    const back: Template.Event = { _tag: "TemplateRolledBack", template_id, number: 1, at: now }
    given(Template, created, published(1), published(2)).when(Template.rollBack(now, 1)).appends(back)
    given(Template, created, published(1), published(2), back)
      .when(Template.publish(now, TemplateState.EMPTY, BY))
      .appends(published(3))
    given(Template, created, published(1))
      .when(Template.rollBack(now, 2))
      .refuses({ status: 404, reason: "template_version_not_found" })
  })

  it("remembers the versions of its last events alone", () => {
    const numbers = ({ state }: { readonly state: Template.State }) =>
      state._tag === "Template" ? state.recent.map(({ published: { number } }) => number) : []
    const after = (versions: number) =>
      numbers(given(Template, created, ...Array.from({ length: versions }, (_, nth) => published(nth + 1))))
    assert.deepStrictEqual(after(2), [1, 2])
    assert.deepStrictEqual(after(10), [3, 4, 5, 6, 7, 8, 9, 10])
  })

  it("does nothing more when it is archived", () => {
    const archived: Template.Event = { _tag: "TemplateArchived", template_id, at: now }
    given(Template, created).when(Template.archive(now)).appends(archived)
    given(Template, created, archived)
      .when(Template.publish(now, TemplateState.EMPTY, BY))
      .refuses({ status: 422, reason: "template_archived" })
    given(Template).when(Template.archive(now)).refuses({ status: 404, reason: "template_not_found" })
  })
})
