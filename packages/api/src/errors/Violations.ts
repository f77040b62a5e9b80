import type { Detail } from "@waybill/domain/values/Refusal"
import { SchemaAST, type SchemaIssue } from "effect"
import * as UnknownNames from "./UnknownNames.ts"

/** Maximum number of violations that a response lists; further ones are counted. */
export const MAX_DETAILS = 100
/** Maximum unknown names of a request that are compared with the known ones. */
export const MAX_COMPARED_NAMES = 10
/** Most values of a request that are compared with the known ones to suggest the nearest. */
export const MAX_COMPARED_VALUES = 20
/** Maximum characters of a name in a path, longer than any name that the API knows. */
const MAX_STEP_CHARS = 100

/** The violations of a request, those by unknown fields first because they usually explain the others. */
export interface Violations {
  readonly details: ReadonlyArray<Detail>
  /** The first unknown field as a sentence; `undefined` if all fields are known. */
  readonly unknown: string | undefined
  /** Number of violations besides those in `details`. */
  readonly more: number
}

export const NONE: Violations = { details: [], unknown: undefined, more: 0 }

export const isNone = ({ details, more }: Violations): boolean => details.length === 0 && more === 0

/**
 * Returns all violations of a request in plain English, worded to continue after the field's name. Schema issues name
 * types and filters; clients know fields. `otherwise` is the advice for an unknown field that is near to no known one.
 */
export const fromIssue = (issue: SchemaIssue.Issue, otherwise?: string): Violations => {
  const found: Found = { details: [], unknown: [], otherwise, compared: 0, more: 0 }
  collect(issue, [], undefined, found)
  return of(found.unknown, found.details, found.more)
}

export const of = (
  unknown: ReadonlyArray<UnknownNames.UnknownName>,
  others: ReadonlyArray<Detail> = [],
  more = 0,
): Violations =>
  limited([...unknown.map(({ message, path }) => ({ path, message })), ...others], unknown[0]?.sentence, more)

/** Joins the violations of several parts of a request. */
export const join = (parts: ReadonlyArray<Violations>): Violations => {
  const sorted = parts.toSorted((one, other) => Number(other.unknown !== undefined) - Number(one.unknown !== undefined))
  const more = parts.reduce((sum, part) => sum + part.more, 0)
  return limited(
    sorted.flatMap(({ details }) => details),
    sorted[0]?.unknown,
    more,
  )
}

const limited = (details: ReadonlyArray<Detail>, unknown: string | undefined, more: number): Violations => ({
  details: details.slice(0, MAX_DETAILS),
  unknown,
  more: more + Math.max(0, details.length - MAX_DETAILS),
})

interface Found {
  readonly details: Array<Detail>
  readonly unknown: Array<UnknownNames.UnknownName>
  readonly otherwise: string | undefined
  /** Number of values that were compared with the known ones. */
  compared: number
  more: number
}

/** Fields that are the body of a message. */
const BODIES = ["text", "html"]

const collect = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey>,
  annotation: string | undefined,
  found: Found,
): void => {
  const { details, otherwise, unknown } = found
  if (details.length + unknown.length >= MAX_DETAILS) {
    found.more += numberOf(issue)
    return
  }
  const add = (message: string) => details.push({ path: formatPath(path), message: annotation ?? message })
  const describeUnknown = (ast?: SchemaAST.AST) => {
    const [parent, name] = [formatPath(path.slice(0, -1)), String(path.at(-1))]
    const compared = unknown.length < MAX_COMPARED_NAMES ? name : undefined
    const home = ast === undefined ? undefined : homeOf(ast, name)
    const known = ast === undefined ? [] : namesOf(ast)
    const bodies = name === "body" ? BODIES.filter((each) => known.includes(each)) : []
    const advice =
      bodies.length > 0
        ? { otherwise: `did you mean \`${bodies.join("` or `")}\`?` }
        : home === undefined
          ? { otherwise, compared }
          : { otherwise: `it belongs in \`${home}\`` }
    unknown.push(UnknownNames.describe("field", parent, name, known, advice))
  }
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], annotation, found)
    case "Encoding":
      return collect(issue.issue, path, annotation, found)
    case "Filter":
      return collect(issue.issue, path, annotation ?? filterMessage(issue), found)
    case "Composite":
      for (const each of issue.issues) collect(each, path, annotation, found)
      return
    case "AnyOf": {
      const own = annotated(issue.ast.annotations) ?? (issue.issues.length === 0 ? memberMessage(issue.ast) : undefined)
      if (own !== undefined) return void add(own)
      const kind = issue.issues.length === 0 ? kindOf(issue, found) : undefined
      if (kind !== undefined)
        return void details.push({ path: formatPath([...path, kind.name]), message: kind.message })
      if (issue.issues.length === 0)
        add(suggestionOf(issue, found) ?? `must be ${expected(issue.ast)}${otherThan(issue)}`)
      for (const each of issue.issues) collect(each, path, annotation, found)
      return
    }
    case "MissingKey":
      details.push({ path: formatPath(path), message: annotation ?? "is required", isMissing: true })
      return
    case "InvalidType":
      // `Never` is the value of every field of an object that takes none.
      if (SchemaAST.isNever(issue.ast)) describeUnknown()
      else add(annotated(issue.ast.annotations) ?? `must be ${expected(issue.ast)}`)
      return
    case "InvalidValue":
    case "Forbidden":
      add(annotated(issue.annotations) ?? "is not valid")
      return
    case "UnexpectedKey":
      describeUnknown(issue.ast)
      return
    case "OneOf":
      add("is not valid")
      return
  }
}

/** Returns the error of a value that is near to one of those of an enumeration. */
const suggestionOf = ({ ast, input }: SchemaIssue.AnyOf, found: Found): string | undefined => {
  if (typeof input !== "string" || found.compared >= MAX_COMPARED_VALUES) return undefined
  found.compared++
  return UnknownNames.suggest(input, literalsOf(ast))
}

/** Repeats a text that is none of those of an enumeration. */
const otherThan = ({ ast, input }: SchemaIssue.AnyOf): string =>
  typeof input === "string" && literalsOf(ast).length > 0 ? `, not "${UnknownNames.printable(input)}"` : ""

/** Returns the error of an object of one of several kinds, all told apart by a field of the same name, that is of none. */
const kindOf = ({ ast, input }: SchemaIssue.AnyOf, found: Found): { name: string; message: string } | undefined => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
  const members = ast.types.filter(SchemaAST.isObjects)
  const name = members[0]?.propertySignatures.find(({ type }) => SchemaAST.isLiteral(type))?.name
  if (typeof name !== "string" || members.length < 2) return undefined
  const types = members.flatMap(({ propertySignatures }) =>
    propertySignatures.flatMap((field) => (field.name === name && SchemaAST.isLiteral(field.type) ? [field.type] : [])),
  )
  if (types.length < members.length) return undefined
  const value: unknown = Reflect.get(input, name)
  if (value === undefined) return { name, message: `is required, ${oneOf(types)}` }
  const nearest =
    typeof value === "string" && found.compared++ < MAX_COMPARED_VALUES
      ? UnknownNames.suggest(value, types.flatMap(literalsOf))
      : undefined
  return { name, message: nearest ?? `must be ${oneOf(types)}` }
}

/** Returns the message of the only alternative to null. */
const memberMessage = ({ types }: SchemaAST.Union): string | undefined => {
  const [member, ...others] = types.filter(({ _tag }) => _tag !== "Null")
  return others.length === 0 ? annotated(member?.annotations) : undefined
}

/** Returns the texts of which a value must be one. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isUnion(ast)
    ? ast.types.flatMap(literalsOf)
    : SchemaAST.isLiteral(ast) && typeof ast.literal === "string"
      ? [ast.literal]
      : []

/** Returns the number of violations in an issue. */
const numberOf = (issue: SchemaIssue.Issue): number => {
  switch (issue._tag) {
    case "Pointer":
    case "Encoding":
    case "Filter":
      return numberOf(issue.issue)
    case "Composite":
      return issue.issues.reduce((sum, each) => sum + numberOf(each), 0)
    case "AnyOf":
      return issue.issues.length === 0 || annotated(issue.ast.annotations) !== undefined
        ? 1
        : issue.issues.reduce((sum, each) => sum + numberOf(each), 0)
    default:
      return 1
  }
}

const ALSO_KNOWN_KEY = "waybill/alsoKnown"

/** Annotates an object with names of fields that another form of the same request has. */
export const alsoKnown = (...names: ReadonlyArray<string>): { readonly [key: string]: unknown } => ({
  [ALSO_KNOWN_KEY]: names,
})

/** Returns the fields of an object's schema. */
const namesOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isObjects(ast)
    ? [
        ...ast.propertySignatures.map(({ name }) => String(name)),
        ...((ast.annotations?.[ALSO_KNOWN_KEY] as ReadonlyArray<string> | undefined) ?? []),
      ]
    : []

/** Returns the field of an object whose own fields have a name, so that one that stands a level too high is told its place. */
const homeOf = (ast: SchemaAST.AST, name: string): string | undefined => {
  if (!SchemaAST.isObjects(ast)) return undefined
  const home = ast.propertySignatures.find(({ type }) => namesOf(type).includes(name))
  return home === undefined ? undefined : String(home.name)
}

const filterMessage = (issue: SchemaIssue.Filter): string | undefined => {
  const ownMessage = annotated(issue.filter.annotations)
  if (ownMessage !== undefined) return ownMessage
  const inner = issue.issue._tag === "InvalidValue" ? annotated(issue.issue.annotations) : undefined
  if (inner !== undefined || issue.issue._tag !== "InvalidValue") return inner
  const expectation = issue.filter.annotations?.["expected"]
  return typeof expectation === "string" ? `must be ${expectation}` : undefined
}

const annotated = (annotations: { readonly [key: string]: unknown } | undefined): string | undefined =>
  typeof annotations?.["message"] === "string" ? annotations["message"] : undefined

const expected = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
    case "TemplateLiteral":
      return "a string"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Arrays":
      return "an array"
    case "Objects":
      return "an object"
    case "Literal":
      return String(ast.literal)
    case "Null":
      return "null"
    case "Union":
      return oneOf(ast.types)
    default:
      return "of another type"
  }
}

const oneOf = (members: ReadonlyArray<SchemaAST.AST>): string => {
  // Null is only another way to write an absent value, so errors do not suggest it.
  const alternatives = [...new Set(members.filter(({ _tag }) => _tag !== "Null" && _tag !== "Undefined").map(expected))]
  if (alternatives.length < 2) return alternatives[0] ?? "null"
  const list = `${alternatives.slice(0, -1).join(", ")} or ${alternatives.at(-1)}`
  return members.every(({ _tag }) => _tag === "Literal") ? `one of ${list}` : list
}

/** Formats a path such as `to[3]`, `headers.X-Id` or `emails[4].from`. Long names are cut, because a client chose them. */
export const formatPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((step, nth) => (typeof step === "number" ? `[${step}]` : `${nth === 0 ? "" : "."}${shown(step)}`)).join("")

const shown = (step: PropertyKey): string => {
  const name = String(step)
  return name.length > MAX_STEP_CHARS ? `${name.slice(0, MAX_STEP_CHARS)}…` : name
}
