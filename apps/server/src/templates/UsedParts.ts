import type { TemplateSource } from "@waybill/domain/template/TemplateState"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import * as Limits from "@waybill/templates/language/Limits"
import * as Inspection from "@waybill/templates/version/Inspection"
import * as Parts from "@waybill/templates/version/Parts"
import * as Rendering from "@waybill/templates/version/Rendering"
import { Effect } from "effect"

/** Parts that come before those of the account. */
type Own = ReadonlyMap<string, TemplateSource>

const NONE: Own = new Map()

/** The parts that a template uses, with the state of all parts of the account; none if it was not read. */
interface Used {
  readonly library: Parts.Library
  readonly state: string | undefined
}

/** Reads the parts that a template uses in one language; no more than one may use. */
export const load = (account_id: string, source: TemplateSource, locale: string | undefined, own: Own = NONE) => {
  const uses = Rendering.allUses(source, locale).filter(({ names }) => names.length > 0)
  return uses.length === 0
    ? Effect.succeed<Used>({ library: own, state: undefined })
    : CurrentTemplates.atOneMoment(loadLevels(account_id, uses, own))
}

const loadLevels = Effect.fnUntraced(function* (account_id: string, uses: ReadonlyArray<Rendering.Uses>, own: Own) {
  const library = new Map(own)
  const read = new Set<string>()
  let state: string | undefined
  for (const { form, names } of uses) {
    const seen = new Set<string>()
    let room = Limits.MAX_TOGETHER_CHARS
    for (let level = names; level.length > 0;) {
      const within = level.slice(0, Math.max(0, MAX_NAMES - seen.size))
      for (const name of level) seen.add(name)
      for (const name of level.slice(within.length)) if (!own.has(name)) library.set(name, Parts.BEYOND)
      const unread = within.filter((name) => !own.has(name) && !read.has(`${form} ${name}`))
      if (unread.length > 0) {
        const found = yield* CurrentTemplates.parts(account_id, form, unread, room)
        state = found.state
        for (const name of unread) read.add(`${form} ${name}`)
        for (const { alias, body, is_beyond, source } of found.parts) {
          room -= body?.length ?? 0
          const known = library.get(alias) ?? source
          library.set(alias, is_beyond || known === Parts.BEYOND ? Parts.BEYOND : { ...known, [form]: body })
        }
      }
      level = [...new Set(within.flatMap((name) => Parts.usesOf(form, library.get(name))))].filter(
        (name) => !seen.has(name),
      )
    }
  }
  return { library, state } satisfies Used
})

/** A layout without a text is looked up for the text, too. */
const MAX_NAMES = Limits.MAX_PARTS + 1

/** Returns what is wrong with the parts that a source uses, language by language. */
export const unresolved = Effect.fnUntraced(function* (account_id: string, source: TemplateSource, own: Own = NONE) {
  const problems: Array<Detail> = []
  let last: { readonly uses: string; readonly library: Parts.Library } | undefined
  for (const { path, source: one } of Inspection.byLanguage(source)) {
    const uses = JSON.stringify(Rendering.allUses(one, undefined))
    if (last?.uses !== uses) {
      yield* Turn.next
      last = { uses, library: (yield* load(account_id, one, undefined, own)).library }
    }
    problems.push(
      ...Inspection.unresolved(one, last.library).map((problem) => ({ ...problem, path: `${path}${problem.path}` })),
    )
  }
  return problems
})
