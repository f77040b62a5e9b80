import type { Detail } from "@waybill/domain/Refusal"
import { type SchemaAST, type SchemaIssue } from "effect"

/** Maximum number of violations in one response. */
export const MAX_DETAILS = 1_000

/**
 * Returns all violations of a request in plain English, worded to continue after the field's name. Schema issues name
 * types and filters; clients know fields.
 */
export const fromIssue = (issue: SchemaIssue.Issue): ReadonlyArray<Detail> => {
  const details: Array<Detail> = []
  collect(issue, [], undefined, details)
  return details
}

const collect = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey>,
  words: string | undefined,
  details: Array<Detail>,
): void => {
  if (details.length >= MAX_DETAILS) return
  const say = (message: string) => details.push({ path: spoken(path), message: words ?? message })
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], words, details)
    case "Encoding":
      return collect(issue.issue, path, words, details)
    case "Filter":
      return collect(issue.issue, path, words ?? filterWords(issue), details)
    case "Composite":
      for (const each of issue.issues) collect(each, path, words, details)
      return
    case "AnyOf":
      if (issue.issues.length === 0) say(`must be ${expected(issue.ast)}`)
      for (const each of issue.issues) collect(each, path, words, details)
      return
    case "MissingKey":
      say("is required")
      return
    case "InvalidType":
      say(`must be ${expected(issue.ast)}`)
      return
    case "InvalidValue":
    case "Forbidden":
      say(annotated(issue.annotations) ?? "is not valid")
      return
    case "UnexpectedKey":
    case "OneOf":
      say("is not valid")
      return
  }
}

const filterWords = (issue: SchemaIssue.Filter): string | undefined => {
  const own = annotated(issue.filter.annotations)
  if (own !== undefined) return own
  const inner = issue.issue._tag === "InvalidValue" ? annotated(issue.issue.annotations) : undefined
  if (inner !== undefined || issue.issue._tag !== "InvalidValue") return inner
  const wanted = issue.filter.annotations?.["expected"]
  return typeof wanted === "string" ? `must be ${wanted}` : undefined
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
  const words = [...new Set(members.filter(({ _tag }) => _tag !== "Null" && _tag !== "Undefined").map(expected))]
  if (words.length < 2) return words[0] ?? "null"
  const list = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`
  return members.every(({ _tag }) => _tag === "Literal") ? `one of ${list}` : list
}

/** Formats a path such as `to[3]`, `headers.X-Id` or `emails[4].from`. */
const spoken = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((step, nth) => (typeof step === "number" ? `[${step}]` : `${nth === 0 ? "" : "."}${String(step)}`)).join("")
