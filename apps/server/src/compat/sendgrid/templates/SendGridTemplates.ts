import type { ListedTemplate } from "@waybill/api/groups/templates/TemplateRecords"
import { Effect, Schema } from "effect"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as NativeTemplates from "../../NativeTemplates.ts"
import { route } from "../../route.ts"
import * as SendGridIds from "./SendGridIds.ts"
import * as SendGridVersions from "./SendGridVersions.ts"

const Creation = Schema.Struct({ name: Schema.String, generation: Schema.optional(Schema.String) })
const Change = Schema.Struct({ name: Schema.optional(Schema.String) })

/** Versions whose content one answer has. */
export const MAX_SHOWN = 20

const listed = ({ id, name, updated_at }: ListedTemplate) => ({
  id: SendGridIds.templateId(id),
  name,
  generation: "dynamic",
  updated_at: SendGridVersions.timeOf(updated_at),
})

const create = route(
  "POST /v3/templates",
  { endpoint: "templates.create", body: Creation },
  function* ({ body: { generation, name }, headers }) {
    if (generation !== "dynamic")
      return yield* Native.refuse("generation", "must be dynamic: Waybill has no legacy templates")
    const made = yield* NativeTemplates.create({ name, kind: "template", language: "handlebars" }, headers)
    return Native.created({ ...listed(made), versions: [] })
  },
)

/** Returns the versions of a template, those with the newest content first. */
const versionsOf = (template: ListedTemplate) =>
  template.versions === 0
    ? Effect.succeed([])
    : Effect.flatMap(NativeTemplates.versions(template.id), (versions) =>
        SendGridVersions.grouped(template.id, versions, template.current_version),
      )

const whole = Effect.fnUntraced(function* (template: ListedTemplate) {
  const versions = yield* Effect.forEach(yield* versionsOf(template), (version, nth) => {
    const short = SendGridVersions.listed(template.id, version)
    return nth >= MAX_SHOWN
      ? Effect.succeed(short)
      : Effect.map(NativeTemplates.version(template.id, version.last.number), (source) =>
          SendGridVersions.withContent(short, source),
        )
  })
  return { ...listed(template), versions }
})

const get = route("GET /v3/templates/:template_id", "templates.get", function* (_, { template_id = "" }) {
  return Native.ok(yield* whole(yield* NativeTemplates.get(SendGridIds.templateName(template_id))))
})

/** Templates of one page, as at SendGrid. */
const MAX_PAGE = 200

/** Without `page_size`, old clients get all templates under another name. */
const list = route(
  "GET /v3/templates",
  { endpoint: "templates.list", query: ["generations", "page_size", "page_token"] },
  function* ({ query }) {
    const size = query.get("page_size")
    const count = size === null ? MAX_PAGE : /^\d{1,3}$/u.test(size) ? Number(size) : 0
    if (count < 1 || count > MAX_PAGE)
      return yield* Native.refuse("page_size", `must be a whole number from 1 to ${MAX_PAGE}`)
    const token = query.get("page_token")
    const generations = query.get("generations")?.split(",") ?? ["dynamic"]
    const all = generations.includes("dynamic") ? yield* NativeTemplates.all("template") : []
    const start = token === null ? 0 : all.findIndex(({ id }) => SendGridIds.templateId(id) === token) + 1
    if (token !== null && start === 0) return yield* Native.refuse("page_token", "is not of this list")
    const page = all.slice(start, start + count)
    const result = yield* Effect.forEach(page, (template) =>
      Effect.map(versionsOf(template), (versions) => ({
        ...listed(template),
        versions: versions.map((version) => SendGridVersions.listed(template.id, version)),
      })),
    )
    if (size === null) return Native.ok({ templates: result })
    const last = page.at(-1)
    const more = last !== undefined && start + count < all.length ? { next: SendGridIds.templateId(last.id) } : {}
    return Native.ok({ result, _metadata: { count: all.length, ...more } })
  },
)

const rename = route(
  "PATCH /v3/templates/:template_id",
  { endpoint: "templates.update", body: Change },
  function* ({ body: { name } }, { template_id = "" }) {
    return Native.ok(yield* whole(yield* NativeTemplates.update(SendGridIds.templateName(template_id), { name })))
  },
)

const duplicate = route(
  "POST /v3/templates/:template_id",
  { endpoint: "templates.duplicate", body: Change, prepare: (body) => body ?? {} },
  function* ({ body: { name }, headers }, { template_id = "" }) {
    const made = yield* NativeTemplates.duplicate(SendGridIds.templateName(template_id), { name }, headers)
    return Native.created({ ...listed(made), versions: [] })
  },
)

const remove = route("DELETE /v3/templates/:template_id", "templates.archive", function* (_, { template_id = "" }) {
  yield* NativeTemplates.archive(SendGridIds.templateName(template_id))
  return Native.NOTHING
})

export const routes: ReadonlyArray<Route> = [create, list, get, rename, duplicate, remove, ...SendGridVersions.routes]
