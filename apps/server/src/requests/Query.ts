import * as EmailSearch from "@waybill/api/schemas/EmailSearch"
import * as UnknownNames from "@waybill/api/errors/UnknownNames"
import * as Violations from "@waybill/api/errors/Violations"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import type { Detail } from "@waybill/domain/values/Refusal"
import { Effect, Result, Schema, SchemaAST } from "effect"
import * as RequestTarget from "./RequestTarget.ts"

/** A parameter that a schema takes as pairs, whose names are in that of the parameter: `metadata.order`, `metadata[order]`. */
export const PAIRS = "metadata"
const PAIR = new RegExp(`^${PAIRS}(?:\\.(?<dotted>.+)|\\[(?<bracketed>.+)\\])$`, "su")

const pairNameOf = (parameter: string): string | undefined => {
  const { bracketed, dotted } = PAIR.exec(parameter)?.groups ?? {}
  return dotted ?? bracketed
}

/** Returns the pairs of a query as items of one parameter; `undefined` if it has none. */
export const pairsOf = (url: string): ReadonlyArray<string> | undefined => {
  if (!url.includes(PAIRS)) return undefined
  const pairs = [...new URLSearchParams(RequestTarget.queryOf(url))].flatMap(([parameter, value]) => {
    const name = pairNameOf(parameter)
    return name === undefined ? [] : [EmailSearch.pairText(name, value)]
  })
  return pairs.length === 0 ? undefined : pairs
}

/** Returns the parameters of a request's query by name. */
const parametersOf = (url: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const parameters = new Map<string, Array<string>>()
  for (const [name, value] of new URLSearchParams(RequestTarget.queryOf(url))) {
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return parameters
}

/** Returns the violations by parameters that are unknown, without a name, or repeated where one value is taken. */
export const nameViolations = (query: Schema.Top | undefined, url: string): Violations.Violations => {
  const sent = parametersOf(url)
  if (sent.size === 0) return Violations.NONE
  const fields = fieldsOf(query)
  const known = [...fields.keys()]
  const unknown: Array<UnknownNames.UnknownName> = []
  const repeated: Array<Detail> = []
  let more = 0
  for (const [name, { length }] of sent) {
    const isList = fields.has(PAIRS) && pairNameOf(name) !== undefined ? false : fields.get(name)
    if (isList !== undefined && name !== PAIRS && (isList || length === 1)) continue
    if (unknown.length + repeated.length >= Violations.MAX_DETAILS) more++
    else if (isList !== undefined && name === PAIRS) repeated.push({ path: PAIRS, message: BARE_PAIRS })
    else if (isList === false) repeated.push({ path: name, message: `is given ${length} times; give it once` })
    else unknown.push(name === "" ? NAMELESS : describe(name, known, unknown.length < Violations.MAX_COMPARED_NAMES))
  }
  return Violations.of(unknown, repeated, more)
}

/** Returns all violations of the query. */
export const violations = Effect.fnUntraced(function* (query: Schema.Top | undefined, url: string) {
  const names = nameViolations(query, url)
  if (query === undefined) return names
  const sent: Record<string, string | Array<string>> = {}
  const wrong = new Set(names.details.map(({ path }) => path))
  const parameters = parametersOf(url)
  const pairs = pairsOf(url)
  if (pairs !== undefined) sent[PAIRS] = [...pairs]
  for (const [name, isList] of fieldsOf(query)) {
    const values = parameters.get(name) ?? []
    const [first] = values
    if (first !== undefined && name !== PAIRS && !wrong.has(name)) sent[name] = isList ? [...values] : first
  }
  const codec = Schema.toCodecArrayFromSingle(query as Schema.Codec<unknown, unknown>)
  const decoded = yield* Effect.result(Schema.decodeUnknownEffect(codec, { errors: "all", reportInput: true })(sent))
  return Result.isSuccess(decoded) ? names : Violations.join([names, Violations.fromIssue(decoded.failure.issue)])
})

/** Returns the known parameters, and whether each may be repeated. */
const fieldsOf = (query: Schema.Top | undefined): ReadonlyMap<string, boolean> => {
  const ast = query === undefined ? undefined : SchemaAST.toEncoded(query.ast)
  if (ast === undefined || !SchemaAST.isObjects(ast)) return new Map()
  return new Map(ast.propertySignatures.map(({ name, type }) => [String(name), SchemaAST.isArrays(type)]))
}

/** Words of searches, of our command line and of other services for a parameter. */
const meantBy = (name: string): string | undefined =>
  name === "search" || name === "query" ? "q" : EmailFilter.withWord(name)[0]

const describe = (name: string, known: ReadonlyArray<string>, isCompared: boolean) => {
  const meant = meantBy(name)
  // The beginning of a known name is nearer to it than a word of searches.
  const isBegun = known.some((each) => each.startsWith(`${name}_`))
  const compared = meant !== undefined && known.includes(meant) && !isBegun ? meant : name
  return UnknownNames.describe("parameter", "", name, known, { compared: isCompared ? compared : undefined })
}

const BARE_PAIRS = `must be given as \`${PAIRS}.<name>=<value>\``

const NAMELESS: UnknownNames.UnknownName = {
  path: "",
  message: "has a parameter without a name",
  sentence: "The query has a parameter without a name",
}
