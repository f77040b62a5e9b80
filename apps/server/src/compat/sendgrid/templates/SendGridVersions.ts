import type { ListedVersion, TemplateRecord, VersionRecord } from "@waybill/api/groups/templates/TemplateRecords"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import { Effect, Option, Schema } from "effect"
import type { DoorRequest, Params, Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as NativeTemplates from "../../NativeTemplates.ts"
import * as Respelling from "../../Respelling.ts"
import { route } from "../../route.ts"
import * as SendGridIds from "./SendGridIds.ts"

/**
 * A version of SendGrid can be edited, and ours never change: it is all of our versions that have its name, of which the last
 * one counts.
 */
export interface NamedVersion {
  readonly name: string
  /** Number of the first, which its id has. */
  readonly first: number
  readonly last: ListedVersion
  readonly isActive: boolean
}

const nameOf = ({ notes, number }: Pick<ListedVersion, "notes" | "number">): string => notes ?? `Version ${number}`

/** Groups our versions, newest first, by name. A name can have more versions than are listed. */
export const grouped = Effect.fnUntraced(function* (
  id: string,
  versions: ReadonlyArray<ListedVersion>,
  current: number | null,
) {
  const newest = new Map(versions.toReversed().map((version) => [nameOf(version), version]))
  const account_id = yield* NativeTemplates.owner
  const groups = yield* TemplateVersions.named(account_id, id, [...newest.keys()], current)
  return groups.flatMap(({ first, is_active, name }): ReadonlyArray<NamedVersion> => {
    const last = newest.get(name)
    return last === undefined ? [] : [{ name, first, last, isActive: is_active }]
  })
})

/** Times as SendGrid writes them. */
export const timeOf = (at: string): string => at.slice(0, 19).replace("T", " ")

/** Returns a version as SendGrid lists it, without its content. */
export const listed = (id: string, { first, isActive, last, name }: NamedVersion) => ({
  id: SendGridIds.versionId(id, first),
  template_id: SendGridIds.templateId(id),
  active: isActive ? 1 : 0,
  name,
  updated_at: timeOf(last.published_at),
  generate_plain_content: true,
  editor: "code",
})

export const withContent = (version: ReturnType<typeof listed>, { html, subject, text }: VersionRecord) => ({
  ...version,
  subject: subject ?? "",
  html_content: html ?? "",
  plain_content: text ?? "",
})

const fields = {
  subject: Schema.optional(Schema.String),
  html_content: Schema.optional(Schema.String),
  plain_content: Schema.optional(Schema.String),
  active: Schema.optional(Schema.Literals([0, 1])),
  /** Without a text, it is always made of the HTML. */
  generate_plain_content: Schema.optional(Schema.Boolean),
  /** The editor of SendGrid that made it, and its data for tests, which are not kept. */
  editor: Schema.optional(Schema.Literals(["code", "design"])),
  test_data: Schema.optional(Schema.String),
}
const Creation = Schema.Struct({ name: Schema.String, template_id: Schema.optional(Schema.String), ...fields })
const Change = Schema.Struct({ name: Schema.optional(Schema.String), ...fields })

const NAMES = { html: "html_content", text: "plain_content", notes: "name" }
const respelled = Respelling.renamed(NAMES)

type Written = Pick<typeof Change.Type, "html_content" | "plain_content" | "subject">
const sourceOf = ({ html_content, plain_content, subject }: Written) =>
  ({ subject, html: html_content, text: plain_content, language: "handlebars" }) as const

/** Publishes a source under a name, and returns the version that has it. */
const publish = Effect.fnUntraced(function* (
  template: TemplateRecord,
  source: NativeTemplates.Source,
  { activate, name }: { readonly name: string; readonly activate: boolean },
  headers: DoorRequest["headers"],
) {
  yield* NativeTemplates.checkLanguage(template, "handlebars")
  yield* NativeTemplates.check(source, NAMES)
  const how = { notes: name, activate }
  const { published } = yield* respelled(NativeTemplates.updateAndPublish(template.id, source, how, headers))
  return yield* shown(template.id, published.number)
})

const shown = Effect.fnUntraced(function* (id: string, number: number) {
  const { current_version } = yield* NativeTemplates.get(id)
  const version = yield* NativeTemplates.version(id, number)
  const [found] = yield* grouped(id, [version], current_version)
  return found === undefined ? yield* MISSING : withContent(listed(id, found), version)
})

const MISSING = Native.missing("This template has no version with this id.")

/** Finds a version by the id of its first. */
const find = Effect.fnUntraced(function* (template: TemplateRecord, id = "") {
  const number = SendGridIds.numberOf(template.id, id)
  if (number === undefined || number > template.versions) return yield* MISSING
  const account_id = yield* NativeTemplates.owner
  const first = yield* TemplateVersions.find(account_id, template.id, number)
  if (Option.isNone(first)) return yield* MISSING
  const names = [nameOf(first.value.record)]
  const [found] = yield* TemplateVersions.named(account_id, template.id, names, template.current_version)
  return found === undefined || found.first !== number ? yield* MISSING : found
})

/** The template that a path names. */
const templateOf = ({ template_id = "" }: Params) => NativeTemplates.get(SendGridIds.templateName(template_id))

const create = route(
  "POST /v3/templates/:template_id/versions",
  { endpoint: "templates.publish", body: Creation },
  function* ({ body, headers }, params) {
    if (body.subject === undefined) return yield* Native.refuse("subject", "is required")
    const template = yield* templateOf(params)
    const how = { name: body.name, activate: body.active !== 0 }
    return Native.created(yield* publish(template, sourceOf(body), how, headers))
  },
)

const get = route("GET /v3/templates/:template_id/versions/:version_id", "templates.version", function* (_, params) {
  const template = yield* templateOf(params)
  const found = yield* find(template, params["version_id"])
  return Native.ok(yield* shown(template.id, found.last))
})

const edit = route(
  "PATCH /v3/templates/:template_id/versions/:version_id",
  { endpoint: "templates.publish", body: Change },
  function* ({ body, headers }, params) {
    const template = yield* templateOf(params)
    const found = yield* find(template, params["version_id"])
    const before = yield* NativeTemplates.version(template.id, found.last)
    const source = {
      subject: body.subject ?? before.subject ?? undefined,
      html_content: body.html_content ?? before.html ?? undefined,
      plain_content: body.plain_content ?? before.text ?? undefined,
    }
    const activate = body.active === undefined ? found.is_active : body.active === 1
    const how = { name: body.name ?? found.name, activate }
    return Native.ok(yield* publish(template, sourceOf(source), how, headers))
  },
)

const activate = route(
  "POST /v3/templates/:template_id/versions/:version_id/activate",
  "templates.rollback",
  function* ({ headers }, params) {
    const template = yield* templateOf(params)
    const { last } = yield* find(template, params["version_id"])
    yield* NativeTemplates.rollBack(template.id, last, headers)
    return Native.ok(yield* shown(template.id, last))
  },
)

const remove = route("DELETE /v3/templates/:template_id/versions/:version_id", { endpoint: undefined }, function* () {
  return yield* Native.missing("Versions of a template stay for ever. Activate another one, or delete the template.")
})

export const routes: ReadonlyArray<Route> = [create, get, edit, activate, remove]
