import type { Call, Term } from "./HandlebarsWords.ts"
import * as HandlebarsValues from "./HandlebarsValues.ts"
import * as LiquidTerms from "./LiquidTerms.ts"
import type { BlockScope } from "./HandlebarsScope.ts"

/** A condition in Liquid. `before` prepares it; `test` can be part of a longer `and`. */
export interface Condition {
  readonly before: string
  readonly test: string
}
export type Made = Condition | { readonly problem: string }

const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["equals", "=="],
  ["notEquals", "!="],
  ["greaterThan", ">"],
  ["lessThan", "<"],
])

/** Helpers that are conditions of their own. */
export const isCondition = (name: string): boolean => OPERATORS.has(name) || name === "and" || name === "or"

/** Translates the condition of `{{#if value}}`. `taken` has names that are not free for flags. */
export const ofTerm = (term: Term, scope: BlockScope, taken: Set<string>): Made => {
  if (term.kind === "call") {
    const name = HandlebarsValues.nameOf(term.call)
    if (name !== undefined && isCondition(name)) return ofCall(name, term.call, scope, taken)
  }
  const value = HandlebarsValues.operand(term, scope)
  return "problem" in value ? value : { before: "", test: LiquidTerms.isPresent(value.liquid) }
}

/** Translates the condition of a helper such as `{{#greaterThan a b}}`. */
export const ofCall = (name: string, { terms }: Call, scope: BlockScope, taken: Set<string>): Made => {
  const operator = OPERATORS.get(name)
  if (operator !== undefined) {
    const [left, right] = terms
    if (left === undefined || right === undefined || terms.length > 2) return { problem: `${name} compares two values` }
    const [one, other] = [HandlebarsValues.operand(left, scope), HandlebarsValues.operand(right, scope)]
    if ("problem" in one) return one
    return "problem" in other ? other : { before: "", test: `${one.liquid} ${operator} ${other.liquid}` }
  }
  const conditions: Array<Condition> = []
  for (const term of terms) {
    const made = ofTerm(term, scope, taken)
    if ("problem" in made) return made
    conditions.push(made)
  }
  if (conditions.length === 0) return { problem: `${name} needs values` }
  return name === "and" ? all(conditions) : any(conditions, taken)
}

const all = (conditions: ReadonlyArray<Condition>): Condition => ({
  before: conditions.map(({ before }) => before).join(""),
  test: conditions.map(({ test }) => test).join(" and "),
})

/** Liquid has no brackets: whether any holds is noted first. */
const any = (conditions: ReadonlyArray<Condition>, taken: Set<string>): Condition => {
  const flag = LiquidTerms.nameOfItem("eithers", taken)
  const noted = conditions.map(({ before, test }) => `${before}{% if ${test} %}{% assign ${flag} = true %}{% endif %}`)
  return { before: `{% assign ${flag} = false %}${noted.join("")}`, test: flag }
}
