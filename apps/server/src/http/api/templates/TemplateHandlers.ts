import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type { VersionRecord } from "@waybill/api/groups/templates/TemplateRecords"
import * as Template from "@waybill/domain/template/Template"
import * as TemplateRefusal from "@waybill/domain/template/TemplateRefusal"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as State from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Parser from "@waybill/mail/parsing/Parser"
import type { View } from "@waybill/store/commit/Commit"
import { Provenance } from "@waybill/store/log/Provenance"
import * as Templates from "@waybill/store/readmodels/templates/Templates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as Inspection from "@waybill/templates/version/Inspection"
import * as Rendering from "@waybill/templates/version/Rendering"
import * as Suggestion from "@waybill/templates/version/Suggestion"
import * as Warnings from "@waybill/templates/version/Warnings"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect, Predicate, Result, type Schema } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as TemplateSources from "../../../templates/TemplateSources.ts"
import * as Templating from "../../../templates/Templating.ts"
import * as UsedParts from "../../../templates/UsedParts.ts"
import * as Records from "../../../web/Records.ts"
import * as FoundTemplate from "./FoundTemplate.ts"
import * as NewTemplate from "./NewTemplate.ts"
import * as TemplatePush from "./TemplatePush.ts"
import * as TemplateRecords from "./TemplateRecords.ts"
import * as Handlers from "../../middleware/Handlers.ts"

export const TemplateHandlers = HttpApiBuilder.group(Api, "templates", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }, { query }) {
      const page = yield* Templates.list({ account_id, ...query })
      const ids = page.data.map(({ record }) => record.id)
      const used = ids.length === 0 ? undefined : yield* EmailStats.templatesUsed(account_id, ids)
      const data = page.data.map(({ record, ...standing }) =>
        TemplateRecords.listed(record, standing, used?.get(record.id)),
      )
      return { object: "list" as const, ...page, data }
    }),
    get: Effect.fnUntraced(function* ({ params }) {
      const found = yield* FoundTemplate.find(params.template)
      return TemplateRecords.whole(found, yield* FoundTemplate.usedAt(found.record.id))
    }),
    create: Handlers.commits(function* (_, call) {
      const { alias, description, kind, name, ...words } = call.payload
      const draft = TemplateSources.changed(State.EMPTY, words)
      return yield* NewTemplate.creating({ alias, description, kind: kind ?? "template", name, draft })
    }),
    update: Effect.fnUntraced(function* ({ params, payload }) {
      const { alias, description, name, unchanged_since, ...words } = payload
      const { draft, missing_parts, record } = yield* FoundTemplate.find(params.template)
      if (alias !== undefined && alias !== record.alias) yield* FoundTemplate.refuseUsed(record)
      const after = TemplateSources.changed(draft, words)
      yield* TemplateSources.check(after)
      // Only what the request names: another change may come in between.
      const whole = { ...after, language: after.language ?? "liquid" }
      const changed = Object.fromEntries(Object.entries(whole).filter(([field]) => Object.hasOwn(words, field)))
      const change = { ...names({ alias, description, name }), draft: changed, unchanged_since }
      const { account_id } = yield* CurrentKey
      const others = NewTemplate.othersOf(account_id)
      const decide = (now: Timestamp.Timestamp, view: View) => Template.change(now, others(view), change)
      const sent = yield* FoundTemplate.sentOf(record)
      const used_at = yield* FoundTemplate.usedAt(record.id)
      const answer = (state: Template.State) => TemplateRecords.recordOf(state, { missing_parts, sent, used_at })
      return yield* RequestCommit.commitRepeatable(
        workOnStream(Template, record.id, decide, answer, { needs: NewTemplate.needsOf(alias ?? null) }),
      )
    }),
    archive: Effect.fnUntraced(function* ({ params }) {
      const { record } = yield* FoundTemplate.find(params.template)
      yield* FoundTemplate.refuseUsed(record)
      const answer = () => ({ object: "template" as const, id: record.id, archived: true as const })
      return yield* RequestCommit.commitRepeatable(workOnStream(Template, record.id, Template.archive, answer))
    }),
    publish: Handlers.commits(function* ({ account_id }, call) {
      const { draft, record } = yield* FoundTemplate.find(call.params.template)
      yield* TemplateSources.check(draft)
      yield* TemplateSources.checkParts(account_id, draft, record.kind === "template" ? null : record.alias)
      const { actor } = yield* Provenance
      const { activate, notes, unchanged_since } = call.payload
      const by = { created_by: actor.id, notes, activates: activate ?? true }
      const sent = yield* FoundTemplate.sentOf(record)
      const publish = (now: Timestamp.Timestamp) => Template.publish(now, draft, by, unchanged_since, sent)
      return workOnStream(Template, record.id, publish, (state) =>
        sent !== undefined && Template.isSent(state, by, sent)
          ? TemplateRecords.listedVersion(record.id, sent)
          : TemplateRecords.newestOf(state),
      )
    }),
    versions: Handlers.withKey(function* ({ account_id }, { params }) {
      const { record } = yield* FoundTemplate.find(params.template)
      const versions = yield* TemplateVersions.list(account_id, record.id)
      return Records.completeList(versions.map((version) => TemplateRecords.listedVersion(record.id, version)))
    }),
    version: Effect.fnUntraced(function* ({ params }) {
      const { record } = yield* FoundTemplate.find(params.template)
      const { record: version, source } = yield* FoundTemplate.findVersion(record.id, Number(params.number))
      return { ...TemplateRecords.listedVersion(record.id, version), ...source } satisfies VersionRecord
    }),
    rollback: Handlers.commits(function* ({ account_id }, call) {
      const { record } = yield* FoundTemplate.find(call.params.template)
      const former = yield* FoundTemplate.findVersion(record.id, call.payload.version)
      yield* TemplateSources.checkParts(account_id, former.source, record.kind === "template" ? null : record.alias)
      const sent = { ...former.record, source: former.source }
      const used_at = yield* FoundTemplate.usedAt(record.id)
      return workOnStream(
        Template,
        record.id,
        (now) => Template.rollBack(now, call.payload.version),
        (state) => TemplateRecords.recordOf(state, { sent, used_at }),
      )
    }),
    duplicate: Handlers.commits(function* (_, call) {
      const { draft, record } = yield* FoundTemplate.find(call.params.template)
      const name = call.payload.name ?? `Copy of ${record.name}`.slice(0, Template.MAX_NAME_CHARS)
      return yield* NewTemplate.creating({ ...record, name, alias: call.payload.alias, draft })
    }),
    render: Handlers.withKey(function* ({ account_id }, { params, payload }) {
      const { draft, record } = yield* FoundTemplate.find(params.template)
      const stored =
        payload.version === null ? draft : (yield* FoundTemplate.findVersion(record.id, payload.version)).source
      const source = payload.draft === null ? stored : TemplateSources.changed(State.EMPTY, payload.draft)
      yield* TemplateSources.check(source)
      // Near the limits each of these takes a good part of what a turn may.
      yield* Turn.next
      const { library } = yield* UsedParts.load(account_id, source, payload.locale ?? undefined)
      const compiled = Rendering.prepare(source, library, payload.locale ?? undefined)
      if (Result.isFailure(compiled)) return yield* new TemplateRefusal.TemplateInvalid({ problems: compiled.failure })
      const variables = payload.variables ?? sampleOf(source)
      const { missing, ...rendered } = yield* Templating.render(account_id, compiled.success, {
        ...payload,
        variables,
      })
      const { html, subject, text } = rendered
      yield* Turn.next
      const ofSource = Warnings.ofSource(source)
      return {
        object: "rendered_template" as const,
        ...rendered,
        text: text ?? (html === null ? null : yield* derivedText(account_id, html)),
        from: source.from,
        locale: compiled.success.locale,
        warnings: [
          ...Warnings.ofSubject(record.kind, subject),
          ...Warnings.ofRendered(rendered),
          ...ofSource,
          ...Warnings.ofMissing(missing, ofSource),
        ],
      }
    }),
    push: (call) =>
      call.payload.dry_run === true
        ? Effect.map(TemplatePush.dryRun(call.payload), (body) => HttpApiSchema.withHeaders({ body, headers: {} }))
        : RequestCommit.commit(call, TemplatePush.pushing(call.payload)),
    validate: Handlers.withKey(function* ({ account_id }, { payload }) {
      const source = TemplateSources.changed(State.EMPTY, payload)
      const own = Inspection.problemsOf(source)
      const isRead = Inspection.isReadable(source)
      const problems = isRead ? [...own, ...(yield* UsedParts.unresolved(account_id, source))] : own
      yield* Turn.next
      const suggested = own.length > 0 ? { type: "object" as const } : Suggestion.suggest(source)
      yield* Turn.next
      return {
        object: "template_validation" as const,
        valid: problems.length === 0,
        problems: problems.slice(0, TemplateSources.MAX_PROBLEMS),
        warnings: own.length > 0 ? [] : Warnings.ofSource(source),
        suggested_variables: suggested as Schema.JsonObject,
        sample: own.length > 0 || source.variables === null ? asSample(suggested) : sampleOf(source),
      }
    }),
  }),
)

/** Returns the text that is sent with HTML alone; none if the HTML takes too long to read, as when it is sent. */
const derivedText = (account_id: string, html: string) =>
  Parser.run("text", html, account_id, { patient: true }).pipe(Effect.orElseSucceed(() => null))

/** Names that a change has. */
const names = ({ alias, description, name }: { readonly [K in keyof State.Naming]?: State.Naming[K] | undefined }) => ({
  ...(alias === undefined ? {} : { alias }),
  ...(description === undefined ? {} : { description }),
  ...(name === undefined ? {} : { name }),
})

/** Variables are an object, whatever their schema says or leaves out. */
const asSample = ({
  default: given,
  examples: [example] = [],
  properties = {},
}: VariableSchema.VariableSchema): Schema.JsonObject =>
  ([example, given].find(Predicate.isObject) ??
    VariableSchema.sampleOf({ type: "object", properties })) as Schema.JsonObject

const sampleOf = ({ variables }: State.TemplateSource): Schema.JsonObject =>
  variables === null ? {} : asSample(variables as VariableSchema.VariableSchema)
