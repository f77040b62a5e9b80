import * as UnknownNames from "@waybill/api/errors/UnknownNames"
import * as Violations from "@waybill/api/errors/Violations"
import type { Detail } from "@waybill/domain/values/Refusal"
import { Effect, Result, Schema, SchemaAST } from "effect"
import * as RequestTarget from "./RequestTarget.ts"

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
    const isList = fields.get(name)
    if (isList !== undefined && (isList || length === 1)) continue
    if (unknown.length + repeated.length >= Violations.MAX_DETAILS) more++
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
  for (const [name, isList] of fieldsOf(query)) {
    const values = parameters.get(name) ?? []
    const [first] = values
    if (first !== undefined && !wrong.has(name)) sent[name] = isList ? [...values] : first
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

const describe = (name: string, known: ReadonlyArray<string>, isCompared: boolean) =>
  UnknownNames.describe("parameter", "", name, known, { compared: isCompared ? name : undefined })

const NAMELESS: UnknownNames.UnknownName = {
  path: "",
  message: "has a parameter without a name",
  sentence: "The query has a parameter without a name",
}
