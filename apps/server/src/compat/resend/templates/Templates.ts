import type { ListedTemplate, TemplateRecord } from "@waybill/api/groups/templates/TemplateRecords"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Equal, Schema } from "effect"
import { hash } from "node:crypto"
import { decodeBody } from "../../decodeBody.ts"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as NativeTemplates from "../../NativeTemplates.ts"
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

const create: Route = {
  method: "POST",
  path: "/templates",
  endpoint: "templates.create",
  body: Creation,
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const creation = toNative(yield* decodeBody(Creation, body))
    return Native.created(named(yield* NativeTemplates.create({ ...creation, language: "resend" }, headers)))
  }),
}

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

const get: Route = {
  method: "GET",
  path: "/templates/:id",
  endpoint: "templates.get",
  handle: Effect.fnUntraced(function* (_, { id = "" }) {
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
  }),
}

const list: Route = {
  method: "GET",
  path: "/templates",
  endpoint: "templates.list",
  query: Paging.NAMES,
  handle: Effect.fnUntraced(function* ({ query }) {
    const templates = yield* NativeTemplates.all("template")
    return yield* Paging.pageOf(
      query,
      templates.map((template) => ({ ...listed(template), published_at: publishedAt(template) })),
    )
  }),
}

/** The list has no versions; a published template was published when it last changed, or before. */
const publishedAt = ({ current_version, updated_at }: ListedTemplate) => (current_version === null ? null : updated_at)

const update: Route = {
  method: "PATCH",
  path: "/templates/:id",
  endpoint: "templates.update",
  body: Change,
  handle: Effect.fnUntraced(function* ({ body }, { id = "" }) {
    const change = toNative(yield* decodeBody(Change, body))
    yield* NativeTemplates.checkLanguage(yield* NativeTemplates.get(templateName(id)), "resend")
    return short(yield* NativeTemplates.update(templateName(id), { ...change, language: "resend" }))
  }),
}

const publish: Route = {
  method: "POST",
  path: "/templates/:id/publish",
  endpoint: "templates.publish",
  handle: Effect.fnUntraced(function* ({ headers }, { id = "" }) {
    const { template_id } = yield* NativeTemplates.publish(templateName(id), {}, headers)
    return short({ id: template_id })
  }),
}

const duplicate: Route = {
  method: "POST",
  path: "/templates/:id/duplicate",
  endpoint: "templates.duplicate",
  handle: ({ headers }, { id = "" }) => Effect.map(NativeTemplates.duplicate(templateName(id), {}, headers), short),
}

const remove: Route = {
  method: "DELETE",
  path: "/templates/:id",
  endpoint: "templates.archive",
  handle: Effect.fnUntraced(function* (_, { id = "" }) {
    const found = yield* NativeTemplates.get(templateName(id))
    yield* NativeTemplates.archive(found.id)
    return Native.ok({ object: "template", id: found.id, deleted: true })
  }),
}

export const routes: ReadonlyArray<Route> = [create, list, get, update, publish, duplicate, remove]
