import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Refusal from "@waybill/domain/values/Refusal"
import * as Templates from "@waybill/store/readmodels/templates/Templates"
import { Effect } from "effect"
import { hash } from "node:crypto"
import * as NativeTemplates from "../../NativeTemplates.ts"

class TemplateMissing extends Refusal.of("TemplateMissing", 422, "template_not_found")<{ readonly text: string }> {
  override readonly message = `The TemplateId or TemplateAlias ${this.text.slice(0, 64)} does not exist in this account.`
}

/** Returns the number of a template. Clients of Postmark in several languages read it as one of 32 bits. */
export const of = (id: string): number => Number.parseInt(hash("sha256", id, "hex").slice(0, 8), 16) >>> 1

/** Names of templates that are remembered by account and number: they never change. */
const MAX_REMEMBERED = 10_000
const remembered = new LruCache<string, string>({ maxEntries: MAX_REMEMBERED })

/** The ids of the account's templates by their numbers. */
const numbered = Effect.map(Effect.flatMap(NativeTemplates.owner, Templates.ids), (ids) =>
  Map.groupBy(ids, (id) => String(of(id))),
)

/**
 * Returns a function that returns our name of a template that is named by its number or alias. Two of the same number are
 * none. A request of many messages makes it once, so that the templates are read once.
 */
export const naming = Effect.gen(function* () {
  const account_id = yield* NativeTemplates.owner
  const ids = yield* Effect.cached(numbered)
  return Effect.fnUntraced(function* (text: string) {
    if (!/^\d{1,10}$/u.test(text)) return text
    const key = `${account_id} ${text}`
    const known = remembered.get(key)
    if (known !== undefined) return known
    const [id, ...others] = (yield* ids).get(text) ?? []
    if (id === undefined || others.length > 0) return yield* new TemplateMissing({ text })
    remembered.set(key, id)
    return id
  })
})

/** Returns our name of the template of a request. */
export const nameOf = (text: string) => Effect.flatMap(naming, (nameOf) => nameOf(text))
