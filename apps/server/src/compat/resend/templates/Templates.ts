import type { ListedTemplate, TemplateRecord } from "@waybill/api/groups/templates/TemplateRecords"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Equal, Schema } from "effect"
import { hash } from "node:crypto"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as NativeTemplates from "../../NativeTemplates.ts"
import { route } from "../../route.ts"
import * as Paging from "../Paging.ts"
import { templateName } from "./templateName.ts"
import * as Variables from "./Variables.ts"

const fields = {
  alias: Schema.optional(Schema.String),
  from: Schema.optional(Schema.String),
  subject: Schema.optional(Schema.String),
  reply_to: Schema.optional(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  text: Schema.optional(Schema.String),
  variables: Schema.optional(Variables.Variables),
}
const Creation = Schema.Struct({ name: Schema.String, html: Schema.String, ...fields })
const Change = Schema.Struct({
  name: Schema.optional(Schema.String),
  html: Schema.optional(Schema.String),
  ...fields,
})

const toNative = ({ reply_to, variables, ...same }: typeof Change.Type) => ({
  ...same,
  ...(reply_to === undefined ? {} : { reply_to: [reply_to].flat() }),
  ...(variables === undefined ? {} : { variables: Variables.schemaOf(variables) }),
})

const named = ({ id }: { readonly id: string }) => ({ object: "template", id })
const short = (template: { readonly id: string }) => Native.ok(named(template))

const create = route(
  "POST /templates",
  { endpoint: "templates.create", body: Creation },
  function* ({ body, headers }) {
    return Native.created(named(yield* NativeTemplates.create({ ...toNative(body), language: "resend" }, headers)))
  },
)

/** Returns an id for a version, by which nothing is asked for. */
const versionId = (id: string, number: number): string =>
  Uuid.format(hash("sha256", `${id} ${number}`, "hex").slice(0, 32))

const listed = ({ alias, created_at, current_version, id, name, status, updated_at }: ListedTemplate) => ({
  id,
  name,
  status: current_version === null ? "draft" : status,
  alias,
  created_at,
  updated_at,
})

/** Fields that make a version of a draft. */
const sourceOf = ({ from, html, language, layout, locales, preheader, reply_to, subject, text, variables }: Draft) => ({
  from,
  html,
  layout,
  locales,
  preheader,
  reply_to,
  subject,
  text,
  variables,
  language: language ?? "liquid",
})
type Draft = TemplateRecord["draft"]

const get = route("GET /templates/:id", "templates.get", function* (_, { id = "" }) {
  const found = yield* NativeTemplates.get(templateName(id))
  const { created_at, current_version, draft, updated_at } = found
  const version = current_version === null ? undefined : yield* NativeTemplates.version(found.id, current_version)
  return Native.ok({
    object: "template",
    ...listed(found),
    published_at: version?.published_at ?? null,
    from: draft.from,
    subject: draft.subject,
    reply_to: draft.reply_to.length === 0 ? null : draft.reply_to,
    html: draft.html ?? "",
    text: draft.text,
    variables: Variables.listed(draft.variables, created_at, updated_at),
    has_unpublished_versions: version === undefined || !Equal.equals(sourceOf(version), sourceOf(draft)),
    current_version_id: versionId(found.id, current_version ?? 0),
  })
})

const list = route("GET /templates", { endpoint: "templates.list", query: Paging.NAMES }, function* ({ query }) {
  const templates = yield* NativeTemplates.all("template")
  return yield* Paging.pageOf(
    query,
    templates.map((template) => ({ ...listed(template), published_at: publishedAt(template) })),
  )
})

/** The list has no versions; a published template was published when it last changed, or before. */
const publishedAt = ({ current_version, updated_at }: ListedTemplate) => (current_version === null ? null : updated_at)

const update = route(
  "PATCH /templates/:id",
  { endpoint: "templates.update", body: Change },
  function* ({ body }, { id = "" }) {
    yield* NativeTemplates.checkLanguage(yield* NativeTemplates.get(templateName(id)), "resend")
    return short(yield* NativeTemplates.update(templateName(id), { ...toNative(body), language: "resend" }))
  },
)

const publish = route("POST /templates/:id/publish", "templates.publish", function* ({ headers }, { id = "" }) {
  const { template_id } = yield* NativeTemplates.publish(templateName(id), {}, headers)
  return short({ id: template_id })
})

const duplicate = route("POST /templates/:id/duplicate", "templates.duplicate", function* ({ headers }, { id = "" }) {
  return short(yield* NativeTemplates.duplicate(templateName(id), {}, headers))
})

const remove = route("DELETE /templates/:id", "templates.archive", function* (_, { id = "" }) {
  const found = yield* NativeTemplates.get(templateName(id))
  yield* NativeTemplates.archive(found.id)
  return Native.ok({ object: "template", id: found.id, deleted: true })
})

export const routes: ReadonlyArray<Route> = [create, list, get, update, publish, duplicate, remove]
