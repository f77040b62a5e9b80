import * as Limits from "../language/Limits.ts"
import * as HandlebarsDates from "./HandlebarsDates.ts"
import * as HandlebarsScope from "./HandlebarsScope.ts"
import type { Call, Term } from "./HandlebarsWords.ts"
import * as LiquidTerms from "./LiquidTerms.ts"

type Value = HandlebarsScope.Found

/** The name of a helper that is called; undefined if a value is meant. */
export const nameOf = ({ head, named, terms }: Call): string | undefined =>
  head.kind === "path" && (terms.length > 0 || named.size > 0) ? head.path : undefined

/** Translates what can stand in a condition, which takes no filters. */
export const operand = (term: Term, scope: HandlebarsScope.BlockScope): Value => {
  switch (term.kind) {
    case "text":
      return { liquid: LiquidTerms.quoted(term.text) }
    case "literal":
      return { liquid: term.literal }
    case "path":
      return HandlebarsScope.find(term.path, scope)
    case "call":
      return nameOf(term.call) === "length"
        ? sizeOf(term.call, scope)
        : { problem: "a helper in a condition can only be length, and, or, or a comparison" }
  }
}

const sizeOf = ({ terms }: Call, scope: HandlebarsScope.BlockScope): Value => {
  const [list] = terms
  const found = list === undefined ? undefined : operand(list, scope)
  if (found === undefined) return { problem: "length needs a list" }
  return "problem" in found ? found : { liquid: `${found.liquid}.size` }
}

/** Translates what a tag writes. */
export const output = (call: Call, scope: HandlebarsScope.BlockScope): Value => {
  const name = nameOf(call)
  const [first, second] = call.terms
  if (name === undefined || first === undefined) return operand(call.head, scope)
  switch (name) {
    case "insert":
      return inserted(first, call.terms.slice(1), scope)
    case "length":
      return sizeOf(call, scope)
    case "lookup":
      return second === undefined ? { problem: "lookup needs a list and an index" } : lookedUp(first, second, scope)
    case "formatDate":
      return dated(call.terms, scope)
    default:
      return { problem: `${name.slice(0, 64)} is not a helper of SendGrid` }
  }
}

/** `{{insert name "default=Customer"}}` */
const inserted = (first: Term, rest: ReadonlyArray<Term>, scope: HandlebarsScope.BlockScope): Value => {
  const found = first.kind === "text" ? HandlebarsScope.find(first.text, scope) : operand(first, scope)
  if ("problem" in found || rest.length === 0) return found
  const [option] = rest
  const fallback = option?.kind === "text" ? /^default=(.*)$/su.exec(option.text)?.[1] : undefined
  return fallback === undefined || rest.length > 1
    ? { problem: 'insert takes a fallback as "default=…"' }
    : { liquid: `${found.liquid} | default: ${LiquidTerms.quoted(fallback)}` }
}

const lookedUp = (list: Term, index: Term, scope: HandlebarsScope.BlockScope): Value => {
  const [one, other] = [operand(list, scope), operand(index, scope)]
  if ("problem" in one) return one
  return "problem" in other ? other : { liquid: `${one.liquid}[${other.liquid}]` }
}

/** `{{formatDate at "MMMM DD, YYYY" "-0800"}}` */
const dated = ([date, format, zone]: ReadonlyArray<Term>, scope: HandlebarsScope.BlockScope): Value => {
  const found = date === undefined ? { problem: "formatDate needs a date" } : operand(date, scope)
  if ("problem" in found) return found
  const made = format?.kind === "text" ? HandlebarsDates.format(format.text) : undefined
  if (made === undefined)
    return {
      problem: `formatDate needs a format in quotes, of letters that Liquid has and at most ${Limits.MAX_DATE_FORMAT_CHARS} characters`,
    }
  const minutes = zone?.kind === "text" ? HandlebarsDates.offset(zone.text) : undefined
  if (zone !== undefined && minutes === undefined)
    return { problem: 'formatDate needs its offset in quotes, as "-0800"' }
  return { liquid: `${found.liquid} | date: ${LiquidTerms.quoted(made)}${minutes === undefined ? "" : `, ${minutes}`}` }
}
