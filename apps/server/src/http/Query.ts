import * as UnknownNames from "@waybill/api/errors/UnknownNames"
import * as Violations from "@waybill/api/errors/Violations"
import type { Detail } from "@waybill/domain/values/Refusal"
import { Effect, Result, Schema, SchemaAST } from "effect"

const NONE: Violations.Violations = { details: [], unknown: undefined }

/** Returns the parameters of a request's query, as the router separates it from the path. */
const parametersOf = (url: string): ReadonlyArray<readonly [name: string, value: string]> => {
  const start = url.search(/[?;]/u)
  return start === -1 ? [] : [...new URLSearchParams(url.slice(start + 1).split("#", 1)[0])]
}

/** Returns the violations by parameters that are unknown, without a name, or repeated where one value is taken. */
export const nameViolations = (query: Schema.Top | undefined, url: string): Violations.Violations => {
  const sent = new Map<string, number>()
  for (const [name] of parametersOf(url)) sent.set(name, (sent.get(name) ?? 0) + 1)
  if (sent.size === 0) return NONE
  const fields = fieldsOf(query)
  const unknown: Array<UnknownNames.UnknownName> = []
  const repeated: Array<Detail> = []
  for (const [name, count] of sent) {
    const isList = fields.get(name)
    if (isList === undefined) unknown.push(name === "" ? NAMELESS : describe(name, [...fields.keys()]))
    else if (count > 1 && !isList) repeated.push({ path: name, message: `is given ${count} times; give it once` })
    if (unknown.length >= Violations.MAX_DETAILS) break
  }
  return Violations.of(unknown, repeated)
}

/** Returns all violations of the query. */
export const violations = Effect.fnUntraced(function* (query: Schema.Top | undefined, url: string) {
  const names = nameViolations(query, url)
  if (query === undefined) return names
  const sent: Record<string, string | Array<string>> = {}
  const wrong = new Set(names.details.map(({ path }) => path))
  for (const [name, isList] of fieldsOf(query)) {
    const values = parametersOf(url).flatMap(([each, value]) => (each === name ? [value] : []))
    const [first] = values
    if (first !== undefined && !wrong.has(name)) sent[name] = isList ? values : first
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

const describe = (name: string, known: ReadonlyArray<string>) => UnknownNames.describe("parameter", "", name, known)

const NAMELESS: UnknownNames.UnknownName = {
  path: "",
  message: "has a parameter without a name",
  sentence: "The query has a parameter without a name",
}
