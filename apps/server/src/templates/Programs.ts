import { LruCache } from "@waybill/domain/collections/LruCache"
import type { TemplateSource } from "@waybill/domain/template/TemplateState"
import type { Detail } from "@waybill/domain/values/Refusal"
import type * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import type { Library } from "@waybill/templates/version/Parts"
import * as Rendering from "@waybill/templates/version/Rendering"
import * as Words from "@waybill/templates/version/Words"
import { Context, Effect, Layer, Option, Result } from "effect"
import * as UsedParts from "./UsedParts.ts"

/** Memory of the versions that are kept parsed, each in the languages that were asked for. */
export const MAX_PROGRAM_BYTES = 48 * 1024 * 1024
/** Memory of the sources of versions that are kept. */
export const MAX_SOURCE_BYTES = 12 * 1024 * 1024
/** Memory of what is kept of a version beside its texts. */
const ENTRY_BYTES = 1_024

interface Kept<A> {
  readonly value: A
  readonly bytes: number
}

type Compiled = Result.Result<Rendering.Compiled, ReadonlyArray<Detail>>

interface Caches {
  readonly sources: LruCache<string, Kept<TemplateSource>>
  readonly programs: LruCache<string, Kept<Compiled>>
}

/** Versions that are parsed for the next message. */
export class Programs extends Context.Service<Programs, Caches>()("@waybill/server/templates/Programs") {}

const cache = <A>(maxWeight: number) =>
  new LruCache<string, Kept<A>>({ maxEntries: maxWeight / ENTRY_BYTES, maxWeight, weigh: ({ bytes }) => bytes })

export const make = (): Caches => ({
  sources: cache(MAX_SOURCE_BYTES),
  programs: cache(MAX_PROGRAM_BYTES),
})

export const layer = Layer.sync(Programs, make)

/** A text takes up to two bytes for each character. */
const bytesOf = (value: unknown): number => ENTRY_BYTES + 2 * JSON.stringify(value).length

export const keepSource = ({ sources }: Caches, key: string, value: TemplateSource): void =>
  sources.set(key, { value, bytes: bytesOf(value) })

/** Parses a version in a language, and keeps it. `name` is that of the version and the language. */
export const compile = (
  { programs }: Caches,
  name: string,
  source: TemplateSource,
  parts: Library,
  locale: string | undefined,
): Compiled => {
  const value = Rendering.prepare(source, parts, locale)
  programs.set(name, { value, bytes: ENTRY_BYTES + (Result.isSuccess(value) ? Rendering.bytesOf(value.success) : 0) })
  return value
}

type Versioned = Pick<CurrentTemplates.Current, "id" | "parts">

/** Returns a version, parsed in a language; undefined if there is no such version. Most are kept, and need no generator. */
export const version = (account_id: string, current: Versioned, number: number, locale: string | undefined) =>
  Effect.flatMap(Programs, (caches) => {
    const key = `${account_id} ${current.id} ${number}`
    const source = caches.sources.get(key)?.value
    const kept = source && caches.programs.get(nameOf(key, current.parts, source, locale))
    return kept === undefined || source === undefined
      ? load(caches, key, source, { account_id, current, number, locale })
      : Effect.succeed({ source, compiled: kept.value })
  })

/** A language that a version does not have is its own. */
const nameOf = (key: string, state: string, source: TemplateSource, locale: string | undefined): string =>
  `${key} ${state} ${Words.choose(source, locale).locale ?? ""}`

interface Wanted {
  readonly account_id: string
  readonly current: Versioned
  readonly number: number
  readonly locale: string | undefined
}

const sourceOf = (account_id: string, id: string, number: number) =>
  Effect.map(TemplateVersions.find(account_id, id, number), (found) => Option.getOrUndefined(found)?.source)

const load = Effect.fnUntraced(function* (
  caches: Caches,
  key: string,
  known: TemplateSource | undefined,
  { account_id, current, locale, number }: Wanted,
) {
  const source = known ?? (yield* sourceOf(account_id, current.id, number))
  if (source === undefined) return undefined
  if (known === undefined) keepSource(caches, key, source)
  // Parts that changed meanwhile are kept under the state that they were read in.
  const { library, state = current.parts } = yield* UsedParts.load(account_id, source, locale)
  return { source, compiled: compile(caches, nameOf(key, state, source, locale), source, library, locale) }
})
