import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Template from "@waybill/domain/template/Template"
import type * as Id from "@waybill/domain/values/Id"
import type { View } from "@waybill/store/commit/Commit"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect } from "effect"
import * as NewIds from "../../../process/NewIds.ts"
import * as TemplateSources from "../../../templates/TemplateSources.ts"
import * as TemplateRecords from "./TemplateRecords.ts"

/** The commit gets a batch of its own, so that the count and the alias hold until its end. */
export const needsOf = (alias: string | null) => ({
  countOf: "template" as const,
  ...(alias === null ? {} : { aliases: [alias] }),
})

/** Returns a function that reads what the account has beside a template. */
export const othersOf =
  (account_id: Id.AccountId) =>
  ({ facts }: View): Template.Others => ({
    count: facts.countOf(account_id, "template"),
    withAlias: (alias) => facts.alias(account_id, alias),
  })

/** Returns the work that creates a template. */
export const creating = Effect.fnUntraced(function* (template: Omit<Template.NewTemplate, "template_id">) {
  yield* TemplateSources.check(template.draft)
  const { account_id } = yield* CurrentKey
  const template_id = yield* NewIds.newId("TemplateId")
  const { alias, description, draft, kind, name } = template
  const others = othersOf(account_id)
  return workOnStream(
    Template,
    template_id,
    (now, view) => Template.create(now, others(view), { template_id, alias, description, draft, kind, name }),
    (state) => TemplateRecords.recordOf(state),
    { isNew: true, needs: needsOf(alias) },
  )
})
