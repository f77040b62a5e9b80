import type { ListedTemplate, TemplateRecord } from "@waybill/api/groups/templates/TemplateRecords"
import * as StoredTemplates from "@waybill/store/readmodels/templates/Templates"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as NativeTemplates from "../../NativeTemplates.ts"
import * as Respelling from "../../Respelling.ts"
import { route } from "../../route.ts"
import * as Words from "../../../webhookFormats/PostmarkWords.ts"
import { inCaseOf } from "../../lenient/inCaseOf.ts"
import * as Paging from "../Paging.ts"
import * as TemplateBodies from "./TemplateBodies.ts"
import * as TemplateNumber from "./TemplateNumber.ts"

const NAMES = {
  name: "Name",
  alias: "Alias",
  subject: "Subject",
  html: "HtmlBody",
  text: "TextBody",
  layout: "LayoutTemplate",
}
const respelled = Respelling.renamed(NAMES)

const short = ({ alias, id, kind, name }: ListedTemplate, layout: string | null) => ({
  TemplateId: TemplateNumber.of(id),
  Name: name,
  Active: true,
  Alias: alias,
  TemplateType: kind === "layout" ? "Layout" : "Standard",
  LayoutTemplate: layout,
})

const full = (template: TemplateRecord) => ({
  ...short(template, template.draft.layout),
  Subject: template.draft.subject ?? "",
  HtmlBody: template.draft.html,
  TextBody: template.draft.text,
  AssociatedServerId: Words.SERVER_ID,
})

const PLACEHOLDER = /\{\{\{\s*@content\s*\}\}\}/u

/** Returns what a source lacks. */
const refusalOf = (kind: string, { html, subject, text }: NativeTemplates.Source) => {
  if (html === undefined && text === undefined) return Native.refuse("HtmlBody", "or `TextBody` is required")
  if (kind === "layout")
    for (const [name, body] of Object.entries({ HtmlBody: html, TextBody: text }))
      if (body !== undefined && !PLACEHOLDER.test(body))
        return Native.refuse(name, "has no {{{ @content }}}. The layout content placeholder must be present")
  return kind === "template" && subject === undefined ? Native.refuse("Subject", "is required") : undefined
}

const sourceOf = ({ HtmlBody, LayoutTemplate, Subject, TextBody }: TemplateBodies.Change): NativeTemplates.Source => ({
  subject: Subject,
  html: HtmlBody,
  text: TextBody,
  layout: LayoutTemplate,
  language: "mustachio",
})

/** Publishes the template at once: Postmark has no drafts. */
const create = route(
  "POST /templates",
  { endpoint: "templates.create", body: TemplateBodies.Creation, prepare: inCaseOf(TemplateBodies.Creation) },
  function* ({ body: creation, headers }) {
    const kind = creation.TemplateType === "Layout" ? "layout" : "template"
    const source = sourceOf(creation)
    const refusal = refusalOf(kind, source)
    if (refusal !== undefined) return yield* refusal
    yield* NativeTemplates.check(source, NAMES)
    const names = { name: creation.Name, alias: creation.Alias, kind } as const
    const made = yield* respelled(NativeTemplates.create({ ...names, ...source }, headers))
    yield* respelled(NativeTemplates.publish(made.id, {}, headers, 1))
    return Native.ok(short(made, made.draft.layout))
  },
)

const edit = route(
  "PUT /templates/:id",
  { endpoint: "templates.update", body: TemplateBodies.Change, prepare: inCaseOf(TemplateBodies.Change) },
  function* ({ body: change, headers }, { id = "" }) {
    const found = yield* NativeTemplates.get(yield* TemplateNumber.nameOf(id))
    const type = found.kind === "layout" ? "Layout" : "Standard"
    if ((change.TemplateType ?? type) !== type)
      return yield* Native.refuse("TemplateType", "cannot change: create another template")
    yield* NativeTemplates.checkLanguage(found, "mustachio")
    const given = sourceOf(change)
    const { draft } = found
    const source = {
      ...given,
      subject: given.subject ?? draft.subject ?? undefined,
      html: given.html ?? draft.html ?? undefined,
      text: given.text ?? draft.text ?? undefined,
      layout: given.layout ?? draft.layout ?? undefined,
    }
    const refusal = refusalOf(found.kind, source)
    if (refusal !== undefined) return yield* refusal
    yield* NativeTemplates.check(source, NAMES)
    const names = { name: change.Name, alias: change.Alias }
    const { changed } = yield* respelled(
      NativeTemplates.updateAndPublish(found.id, { ...names, ...given }, {}, headers),
    )
    return Native.ok(short(changed, changed.draft.layout))
  },
)

const get = route("GET /templates/:id", "templates.get", function* (_, { id = "" }) {
  return Native.ok(full(yield* NativeTemplates.get(yield* TemplateNumber.nameOf(id))))
})

const remove = route("DELETE /templates/:id", "templates.archive", function* (_, { id = "" }) {
  yield* NativeTemplates.archive(yield* TemplateNumber.nameOf(id))
  return Native.ok({ ErrorCode: 0, Message: `Template ${id} removed.` })
})

const TYPES = ["all", "standard", "layout"]

const list = route(
  "GET /templates",
  { endpoint: "templates.list", query: ["count", "offset", "templatetype", "layouttemplate"] },
  function* ({ query }) {
    const { count, offset } = yield* Paging.rangeOf(query)
    const type = query.get("templatetype")?.toLowerCase() ?? "all"
    if (!TYPES.includes(type)) return yield* Native.refuse("TemplateType", "must be All, Standard or Layout")
    const layout = query.get("layouttemplate")
    const all = (yield* NativeTemplates.all()).filter(
      ({ kind }) => kind !== "partial" && (type === "all" || (kind === "layout") === (type === "layout")),
    )
    const layouts = yield* StoredTemplates.layouts(yield* NativeTemplates.owner)
    const layoutOf = (id: string) => layouts.get(id) ?? null
    const found = layout === null ? all : all.filter(({ id }) => layoutOf(id) === layout)
    const shown = found.slice(offset, offset + count)
    return Native.ok({
      TotalCount: found.length,
      Templates: shown.map((template) => short(template, layoutOf(template.id))),
    })
  },
)

/** An account is one server of Postmark, so that there is nothing to push. */
const push = route(
  "PUT /templates/push",
  { endpoint: "templates.list", body: TemplateBodies.Push, prepare: inCaseOf(TemplateBodies.Push) },
  function* ({ body: { DestinationServerID, SourceServerID } }) {
    for (const [name, id] of Object.entries({ SourceServerID, DestinationServerID }))
      if (String(id) !== String(Words.SERVER_ID))
        return yield* Native.refuse(
          name,
          `must be ${Words.SERVER_ID}, the server of this account: push from one account to another by \`waybill templates push\``,
        )
    return Native.ok({ TotalCount: 0, Templates: [] })
  },
)

export const routes: ReadonlyArray<Route> = [push, create, list, get, edit, remove]
