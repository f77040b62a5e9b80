import { LruCache } from "@waybill/domain/collections/LruCache"
import type { TemplateSource } from "@waybill/domain/template/TemplateState"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import type { Library } from "@waybill/templates/version/Parts"
import * as Rendering from "@waybill/templates/version/Rendering"
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

export interface Parsed {
  readonly source: TemplateSource
  readonly compiled: Result.Result<Rendering.Compiled, ReadonlyArray<Detail>>
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
  const key = `${account_id} ${id} ${number} ${locale?.toLowerCase() ?? ""} ${parts}`
  const kept = versions.get(key)
  if (kept !== undefined) return kept.value
  const found = yield* TemplateVersions.find(account_id, id, number)
  if (Option.isNone(found)) return undefined
  const { source } = found.value
  const compiled = Rendering.prepare(source, yield* library(account_id, parts), locale)
  const value: Parsed = { source, compiled }
  versions.set(key, { value, chars: charsOf(source) })
  return value
})
