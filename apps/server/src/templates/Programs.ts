import { LruCache } from "@waybill/domain/collections/LruCache"
import type { TemplateSource } from "@waybill/domain/template/TemplateState"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import type { Library } from "@waybill/templates/version/Parts"
import * as Rendering from "@waybill/templates/version/Rendering"
import * as Words from "@waybill/templates/version/Words"
import { Context, Effect, Layer, Option, type Result } from "effect"

/** Characters of the versions that are kept parsed. Parsed, they take about twenty times as many bytes. */
export const MAX_KEPT_CHARS = 4 * 1024 * 1024
/** Accounts whose partials and layouts are kept. */
const MAX_LIBRARIES = 200

interface Kept<A> {
  readonly value: A
  readonly chars: number
}

/** Versions that are parsed for the next message, and the partials and layouts of accounts. */
export class Programs extends Context.Service<
  Programs,
  {
    readonly versions: LruCache<string, Kept<Parsed>>
    readonly libraries: LruCache<string, Kept<Library>>
  }
>()("@waybill/server/templates/Programs") {}

type Compiled = Result.Result<Rendering.Compiled, ReadonlyArray<Detail>>

/** A version, parsed in each language that was asked for. A language that it does not have is its own. */
interface Parsed {
  readonly source: TemplateSource
  readonly compiled: Map<string | null, Compiled>
}

const cache = <A>(maxEntries: number) =>
  new LruCache<string, Kept<A>>({ maxEntries, maxWeight: MAX_KEPT_CHARS, weigh: ({ chars }) => chars })

export const layer = Layer.sync(Programs, () => ({
  versions: cache<Parsed>(10_000),
  libraries: cache<Library>(MAX_LIBRARIES),
}))

const charsOf = (value: unknown): number => JSON.stringify(value).length

const NO_PARTS: Library = new Map()

/** Returns the published partials and layouts of an account. `parts` changes with each of them. */
export const library = Effect.fnUntraced(function* (account_id: string, parts: string) {
  if (parts === "") return NO_PARTS
  const { libraries } = yield* Programs
  const key = `${account_id} ${parts}`
  const kept = libraries.get(key)
  if (kept !== undefined) return kept.value
  const value: Library = yield* CurrentTemplates.library(account_id)
  libraries.set(key, { value, chars: charsOf([...value]) })
  return value
})

/** Returns a version, parsed in a language; undefined if there is no such version. */
export const version = Effect.fnUntraced(function* (
  account_id: string,
  { id, parts }: Pick<CurrentTemplates.Current, "id" | "parts">,
  number: number,
  locale: string | undefined,
) {
  const { versions } = yield* Programs
  const key = `${account_id} ${id} ${number} ${parts}`
  let parsed = versions.get(key)?.value
  if (parsed === undefined) {
    const found = yield* TemplateVersions.find(account_id, id, number)
    if (Option.isNone(found)) return undefined
    parsed = { source: found.value.source, compiled: new Map() }
    const { source } = found.value
    versions.set(key, { value: parsed, chars: charsOf(source) * (1 + Object.keys(source.locales).length) })
  }
  const { compiled, source } = parsed
  const language = Words.choose(source, locale).locale
  let program = compiled.get(language)
  if (program === undefined) {
    program = Rendering.prepare(source, yield* library(account_id, parts), locale)
    compiled.set(language, program)
  }
  return { source, compiled: program }
})
