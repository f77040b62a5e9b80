import type { NewSource } from "@waybill/api/groups/templates/TemplateRequests"
import * as TemplateRefusal from "@waybill/domain/template/TemplateRefusal"
import type * as State from "@waybill/domain/template/TemplateState"
import * as Inspection from "@waybill/templates/version/Inspection"
import { Effect } from "effect"
import * as UsedParts from "./UsedParts.ts"

/** A change of a source as a request brings it. */
export type Change = { readonly [K in keyof NewSource]?: NewSource[K] | undefined }

const wordsOf = ({ html, preheader, subject, text }: State.Words): State.Words => ({ subject, html, text, preheader })

/** Returns a source after a change. Absent fields stay as they are. */
export const changed = (source: State.TemplateSource, change: Change): State.TemplateSource => {
  const {
    from,
    html,
    language = source.language,
    layout,
    locales,
    preheader,
    reply_to,
    subject,
    text,
    variables,
  } = change
  return {
    subject: subject === undefined ? source.subject : subject,
    html: html === undefined ? source.html : html,
    text: text === undefined ? source.text : text,
    preheader: preheader === undefined ? source.preheader : preheader,
    from: from === undefined ? source.from : from,
    reply_to: reply_to === undefined ? source.reply_to : (reply_to ?? []),
    layout: layout === undefined ? source.layout : layout,
    locales:
      locales === undefined
        ? source.locales
        : Object.fromEntries(Object.entries(locales ?? {}).map(([tag, each]) => [tag, wordsOf(each)])),
    variables: variables === undefined ? source.variables : variables,
    ...(language === undefined || language === null || language === "liquid" ? {} : { language }),
  }
}

/** Refuses a source that has errors by itself. What it uses may come later. */
export const check = (source: State.TemplateSource) => {
  const problems = Inspection.problemsOf(source)
  return problems.length === 0
    ? Effect.void
    : Effect.fail(new TemplateRefusal.TemplateInvalid({ problems: problems.slice(0, MAX_PROBLEMS) }))
}

/** Problems that an answer lists. */
export const MAX_PROBLEMS = 100

/** Refuses a source that uses what is not there, or itself. `name` is that of the source, if it is a part of others. */
export const checkParts = Effect.fnUntraced(function* (
  account_id: string,
  source: State.TemplateSource,
  name: string | null = null,
) {
  const own = new Map(name === null ? [] : [[name, source]])
  const problems = yield* UsedParts.unresolved(account_id, source, own)
  if (problems.length > 0)
    return yield* new TemplateRefusal.TemplateInvalid({ problems: problems.slice(0, MAX_PROBLEMS) })
})
