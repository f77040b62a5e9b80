import type { Pushed } from "@waybill/api/groups/templates/TemplateRecords"
import * as TemplateRequests from "@waybill/api/groups/templates/TemplateRequests"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as State from "@waybill/domain/template/TemplateState"
import type * as Id from "@waybill/domain/values/Id"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as Templates from "@waybill/store/readmodels/templates/Templates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import * as Inspection from "@waybill/templates/version/Inspection"
import type { Library } from "@waybill/templates/version/Parts"
import * as Warnings from "@waybill/templates/version/Warnings"
import { Effect, Equal, Option } from "effect"
import * as Etag from "./Etag.ts"
import * as TemplateSources from "./TemplateSources.ts"
import * as UsedParts from "./UsedParts.ts"

/** A template of a push beside what the account has. */
export interface Planned {
  readonly pushed: TemplateRequests.PushedTemplate & {
    readonly kind: State.TemplateKind
    readonly draft: State.TemplateSource
  }
  /** Absent if the push creates it. */
  readonly existing: { readonly id: Id.TemplateId; readonly version: number } | undefined
  readonly publishes: boolean
  /** Whether the version that is sent is already what the push brings. */
  readonly isSent: boolean
  readonly result: Pushed
  /** Whether somebody else changed it since the caller read it. */
  readonly isStale: boolean
}

/** Returns what a push would do, and all that is wrong with it. Reads one template after another, each in a turn of its own. */
export const plan = Effect.fnUntraced(function* (account_id: string, { publish, templates }: TemplateRequests.Push) {
  const planned: Array<Planned> = []
  for (const template of templates) {
    yield* Turn.next
    planned.push(yield* planOne(account_id, template, publish === true))
  }
  const parts = new Map<string, State.TemplateSource>()
  for (const { publishes, pushed } of planned)
    if (publishes && pushed.kind !== "template") parts.set(pushed.alias, pushed.draft)
  return yield* Effect.forEach(planned, (each) => withParts(account_id, each, parts))
})

const planOne = Effect.fnUntraced(function* (
  account_id: string,
  template: TemplateRequests.PushedTemplate,
  publish: boolean,
) {
  const { alias, base, description, name } = template
  const kind = template.kind ?? "template"
  const draft = TemplateSources.changed(State.EMPTY, template)
  const found = yield* Templates.findPushable(account_id, alias)
  const publishes = publish && template.publish !== false
  const before = found === undefined ? undefined : { ...found.record, draft: found.draft }
  const after = { alias, name, description, kind, draft }
  const changed_fields = changedFields(before, after)
  const isChanged = found !== undefined && changed_fields.length > 0
  const isSent = isChanged && publishes ? yield* sends(account_id, found, draft) : found?.is_sent === true
  const tag = before === undefined ? null : Etag.of(before)
  const problems: Array<Detail> = [...Inspection.problemsOf(draft)]
  if (before !== undefined && before.kind !== kind)
    problems.unshift({ path: "kind", message: `is ${before.kind} in this account, and never changes` })
  const isStale = base !== null && base !== (tag ?? TemplateRequests.NO_BASE)
  if (isStale) problems.unshift({ path: "base", message: "is not the template any more: somebody changed it" })
  const isPublished = publishes && !isSent
  // A large template takes up to 120 ms to be checked, and half of that for its warnings.
  yield* Turn.next
  const warnings = problems.length > 0 ? [] : [...Warnings.ofSubject(kind, draft.subject), ...Warnings.ofSource(draft)]
  const result: Pushed = {
    alias,
    id: found?.record.id ?? null,
    action: found === undefined ? "created" : isChanged ? "changed" : isPublished ? "published" : "unchanged",
    changed_fields: found === undefined ? [] : changed_fields,
    version: isPublished ? (found?.record.versions ?? 0) + 1 : null,
    base: tag,
    etag: Etag.of(after),
    problems: problems.slice(0, TemplateSources.MAX_PROBLEMS),
    warnings,
  }
  const existing = found === undefined ? undefined : { id: found.record.id, version: found.version }
  return { pushed: { ...template, kind, draft }, existing, publishes, isSent, result, isStale } satisfies Planned
})

/** Whether the version that is sent has these words already, although the draft has others. */
const sends = Effect.fnUntraced(function* (
  account_id: string,
  { record }: Templates.Pushable,
  draft: State.TemplateSource,
) {
  if (record.current_version === null) return false
  const version = yield* TemplateVersions.find(account_id, record.id, record.current_version)
  return Option.isSome(version) && Equal.equals(version.value.source, draft)
})

/** The parts that a template uses must be published, or be published by the same push. */
const withParts = Effect.fnUntraced(function* (account_id: string, planned: Planned, parts: Library) {
  const { publishes, pushed, result } = planned
  if (!publishes || result.problems.length > 0) return planned
  const problems = (yield* UsedParts.unresolved(account_id, pushed.draft, parts)).slice(0, TemplateSources.MAX_PROBLEMS)
  return problems.length === 0 ? planned : { ...planned, result: { ...result, problems } }
})

const changedFields = (before: Etag.Tagged | undefined, after: Etag.Tagged): ReadonlyArray<string> => {
  if (before === undefined) return []
  const names = (["name", "description"] as const).filter((field) => before[field] !== after[field])
  const words = [...new Set([...Object.keys(before.draft), ...Object.keys(after.draft)])].filter((name) => {
    const field = name as keyof State.TemplateSource
    return !Equal.equals(before.draft[field], after.draft[field])
  })
  return [...names, ...words]
}
