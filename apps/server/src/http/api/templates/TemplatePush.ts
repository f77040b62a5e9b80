import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type * as Records from "@waybill/api/groups/templates/TemplateRecords"
import type { Push } from "@waybill/api/groups/templates/TemplateRequests"
import * as Template from "@waybill/domain/template/Template"
import * as TemplateRefusal from "@waybill/domain/template/TemplateRefusal"
import type * as State from "@waybill/domain/template/TemplateState"
import type * as Id from "@waybill/domain/values/Id"
import * as Turn from "@waybill/runtime/flow/Turn"
import type { Detail } from "@waybill/domain/values/Refusal"
import type { Append, StreamOfCommit, View, Work } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/log/Provenance"
import { Effect, Result } from "effect"
import * as NewIds from "../../../process/NewIds.ts"
import * as Pushing from "../../../templates/Pushing.ts"
import * as TemplateSources from "../../../templates/TemplateSources.ts"

type Refusal = Exclude<TemplateRefusal.PushRefusal, { readonly _tag: "NothingNew" }>
type PushWork = Work<Records.Push, Refusal>

/** Returns what a push would do. */
export const dryRun = Effect.fnUntraced(function* (payload: Push) {
  const { account_id } = yield* CurrentKey
  const planned = yield* Pushing.plan(account_id, payload)
  return answerOf(
    true,
    planned.map(({ result }) => result),
  )
})

/** Returns the work of a push: all of its templates in one commit, which is refused if one of them is another by then. */
export const pushing = Effect.fnUntraced(function* (payload: Push) {
  const { account_id } = yield* CurrentKey
  const { actor } = yield* Provenance
  const planned = yield* Pushing.plan(account_id, payload)
  yield* refuse(planned)
  const templates = yield* Effect.forEach(planned, (each) =>
    Effect.map(NewIds.newId("TemplateId"), (newId) => ({ ...each, id: each.existing?.id ?? newId })),
  )
  const streams: Array<StreamOfCommit> = []
  for (const { existing, id } of templates) {
    const read = existing === undefined ? { isNew: true } : { known: yield* knownOf(account_id, id) }
    streams.push({ aggregate: Template, id, ...read })
  }
  const by = { created_by: actor.id, notes: payload.notes }
  const work: PushWork = {
    streams,
    needs: { countOf: "template", aliases: templates.map(({ pushed }) => pushed.alias) },
    decide: (view) => {
      const append: Array<Append> = []
      let created = 0
      for (const [nth, each] of templates.entries()) {
        const decided = decide(view, account_id, each, by, created)
        if (Result.isFailure(decided)) return Result.fail(placed(nth, decided.failure))
        if (decided.success.length > 0) append.push({ aggregate: Template, id: each.id, events: decided.success })
        if (each.existing === undefined) created++
      }
      const results = templates.map(({ id, result }) => ({ ...result, id }))
      return Result.succeed({ append, answer: answerOf(false, results) })
    },
  }
  return work
})

/**
 * The batch, which other accounts wait for, must not read the history of hundreds of templates: it is read here, one after
 * another, and without former versions, which a push does not ask for.
 */
const knownOf = Effect.fnUntraced(function* (account_id: Id.AccountId, stream_id: Id.TemplateId) {
  const store = yield* EventStore
  yield* Turn.next
  const stream = yield* store.known(Template, { account_id, stream_id })
  return { ...stream, state: { ...stream.state, recent: [] } }
})

const answerOf = (dry_run: boolean, templates: ReadonlyArray<Records.Pushed>): Records.Push => ({
  object: "template_push",
  dry_run,
  templates,
})

type Chosen = Pushing.Planned & { readonly id: Id.TemplateId }

const decide = (
  view: View,
  account_id: Id.AccountId,
  { existing, id, isSent, publishes, pushed }: Chosen,
  by: { readonly created_by: string | null; readonly notes: string | null },
  created: number,
): Result.Result<ReadonlyArray<State.Event>, Refusal> => {
  const state = view.state<Template.State>(Template, id)
  // Nothing may have come between the plan and the commit.
  const isOther = existing === undefined ? state.version !== 0 : state.version !== existing.version
  if (isOther || view.facts.alias(account_id, pushed.alias) !== existing?.id)
    return Result.fail(new TemplateRefusal.PushConflict({}))
  const others: Template.Others = {
    count: view.facts.countOf(account_id, "template") + created,
    withAlias: (alias) => view.facts.alias(account_id, alias),
  }
  const { alias, description, draft, kind, name } = pushed
  const publication = publishes ? { ...by, isSent } : null
  const push = { template_id: id, alias, description, draft, kind, name, publication }
  const decided = Template.push(view.now, others, push)(state)
  if (Result.isSuccess(decided)) return Result.succeed(decided.success)
  return decided.failure._tag === "NothingNew" ? Result.succeed([]) : Result.fail(decided.failure)
}

/** Names the template of a conflict. */
const placed = (nth: number, refusal: Refusal): Refusal =>
  refusal._tag === "TemplatePushConflict" ? conflictOf([nth]) : refusal

const conflictOf = (numbers: ReadonlyArray<number>) =>
  new TemplateRefusal.PushConflict({
    problems: numbers.map((nth) => ({ path: `templates[${nth}]`, message: "was changed since it was read" })),
  })

/** Refuses a push of which one template cannot be pushed, with all that is wrong. */
const refuse = (planned: ReadonlyArray<Pushing.Planned>) => {
  const stale = [...planned.entries()].flatMap(([nth, { isStale }]) => (isStale ? [nth] : []))
  if (stale.length > 0) return Effect.fail(conflictOf(stale))
  const problems = [...planned.entries()].flatMap(([nth, { result }]) =>
    result.problems.map(({ message, path }): Detail => ({
      path: `templates[${nth}]${path === "" ? "" : `.${path}`}`,
      message,
    })),
  )
  return problems.length === 0
    ? Effect.void
    : Effect.fail(new TemplateRefusal.TemplateInvalid({ problems: problems.slice(0, TemplateSources.MAX_PROBLEMS) }))
}
