import { LruCache } from "@waybill/runtime/collections/LruCache"
import type { TemplateSource } from "@waybill/domain/template/TemplateState"
import type { Detail } from "@waybill/domain/values/Refusal"
import type * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import type { Library } from "@waybill/templates/version/Parts"
import * as Rendering from "@waybill/templates/version/Rendering"
import * as Words from "@waybill/templates/version/Words"
import { Context, Effect, Layer, Option, Result } from "effect"
import { LateRenderings } from "./LateRenderings.ts"
import * as UsedParts from "./UsedParts.ts"

/** Memory of the versions that are kept parsed, each in the languages that were asked for. */
export const MAX_PROGRAM_BYTES = 48 * 1024 * 1024
/** Memory of the sources of versions that are kept. */
export const MAX_SOURCE_BYTES = 12 * 1024 * 1024
/** Templates of which is kept what is sent; each takes some hundred bytes. */
const MAX_CURRENT = 10_000
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
  /** Versions that templates had when they were last looked up, by account and name. */
  readonly current: LruCache<string, CurrentTemplates.Current>
  readonly late: LateRenderings
}

/** Versions that are parsed for the next message, and what took too long to render. */
export class Programs extends Context.Service<Programs, Caches>()("@waybill/server/templates/Programs") {}

const cache = <A>(maxWeight: number) =>
  new LruCache<string, Kept<A>>({ maxEntries: maxWeight / ENTRY_BYTES, maxWeight, weigh: ({ bytes }) => bytes })

export const make = (): Caches => ({
  sources: cache(MAX_SOURCE_BYTES),
  programs: cache(MAX_PROGRAM_BYTES),
  current: new LruCache({ maxEntries: MAX_CURRENT }),
  late: new LateRenderings(),
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

/** A version that is asked for. */
interface Wanted {
  readonly account_id: string
  readonly current: Versioned
  readonly number: number
  readonly locale: string | undefined
}

const keyOf = ({ account_id, current, number }: Wanted): string => `${account_id} ${current.id} ${number}`

/** A language that a version does not have is its own. */
const nameOf = (wanted: Wanted, source: TemplateSource, state: string): string =>
  `${keyOf(wanted)} ${state} ${Words.choose(source, wanted.locale).locale ?? ""}`

const keptOf = ({ programs }: Caches, wanted: Wanted, source: TemplateSource) => {
  const kept = programs.get(nameOf(wanted, source, wanted.current.parts))
  return kept === undefined ? undefined : { source, compiled: kept.value }
}

/** Returns a version, parsed in a language; undefined if there is no such version. Most are kept, and need no generator. */
export const version = (account_id: string, current: Versioned, number: number, locale: string | undefined) =>
  Effect.flatMap(Programs, (caches) => {
    const wanted = { account_id, current, number, locale }
    const source = caches.sources.get(keyOf(wanted))?.value
    const kept = source === undefined ? undefined : keptOf(caches, wanted, source)
    return kept === undefined ? load(caches, wanted, source) : Effect.succeed(kept)
  })

const load = Effect.fnUntraced(function* (caches: Caches, wanted: Wanted, known: TemplateSource | undefined) {
  const { account_id, current, locale, number } = wanted
  let source = known
  if (source === undefined) {
    const found = yield* TemplateVersions.find(account_id, current.id, number)
    if (Option.isNone(found)) return undefined
    source = found.value.source
    keepSource(caches, keyOf(wanted), source)
    const kept = keptOf(caches, wanted, source)
    if (kept !== undefined) return kept
  }
  // Parts that changed meanwhile are kept under the state that they were read in.
  const { library, state = current.parts } = yield* UsedParts.load(account_id, source, locale)
  return { source, compiled: compile(caches, nameOf(wanted, source, state), source, library, locale) }
})
