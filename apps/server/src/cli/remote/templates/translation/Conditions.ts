import * as Table from "@waybill/domain/collections/Table"
import type { Expression } from "./Expressions.ts"
import * as Names from "./Names.ts"

/** A condition of Liquid, and the tags that have to stand before it. */
export interface Condition {
  readonly before: string
  readonly test: string
}

export interface Scope {
  /** Returns the Liquid path of a path; undefined if there is none. */
  readonly pathOf: (path: Expression & { readonly is: "path" }) => string | undefined
  /** Returns a name for a value in between. */
  readonly newName: () => string
}

const OPERATORS: Readonly<Record<string, string>> = {
  equals: "==",
  notEquals: "!=",
  greaterThan: ">",
  lessThan: "<",
}

export const HELPERS = ["if", "unless", "and", "or", ...Object.keys(OPERATORS)]

/** Returns a value as it stands in a condition or a filter. */
export const valueOf = (scope: Scope, expression: Expression): string | undefined => {
  switch (expression.is) {
    case "text":
      return Names.quotedOf(expression.text)
    case "literal":
      return expression.text
    case "path":
      return scope.pathOf(expression)
    case "helper": {
      const [only, other] = expression.given
      if (expression.name !== "length" || only?.is !== "path" || other !== undefined) return undefined
      const path = scope.pathOf(only)
      return path === undefined ? undefined : `${path}.size`
    }
  }
}

/** Returns the condition of a helper that is a block, or stands in one. */
export const conditionOf = (scope: Scope, name: string, given: ReadonlyArray<Expression>): Condition | undefined => {
  const operator = Table.at(OPERATORS, name)
  if (operator !== undefined) {
    const [left, right] = given.map((each) => valueOf(scope, each))
    return given.length !== 2 || left === undefined || right === undefined
      ? undefined
      : { before: "", test: `${left} ${operator} ${right}` }
  }
  if (name === "if" || name === "unless") return given.length === 1 ? all(scope, given) : undefined
  if (given.length === 0) return undefined
  return name === "and" ? all(scope, given) : name === "or" ? any(scope, given) : undefined
}

const given = (scope: Scope, expression: Expression): Condition | undefined => {
  switch (expression.is) {
    case "text":
      return { before: "", test: expression.text === "" ? "false" : "true" }
    case "literal":
      return { before: "", test: ["false", "nil", "0"].includes(expression.text) ? "false" : "true" }
    case "path": {
      const path = scope.pathOf(expression)
      return path === undefined ? undefined : { before: "", test: Names.isGiven(path) }
    }
    case "helper": {
      const value = valueOf(scope, expression)
      return value === undefined
        ? conditionOf(scope, expression.name, expression.given)
        : { before: "", test: Names.isGiven(value) }
    }
  }
}

const all = (scope: Scope, expressions: ReadonlyArray<Expression>): Condition | undefined => {
  const conditions = expressions.map((each) => given(scope, each))
  if (conditions.includes(undefined)) return undefined
  const known = conditions.filter((each) => each !== undefined)
  return { before: known.map(({ before }) => before).join(""), test: known.map(({ test }) => test).join(" and ") }
}

/** Liquid has no parentheses: whether one of the values is given is kept under a name. */
const any = (scope: Scope, expressions: ReadonlyArray<Expression>): Condition | undefined => {
  const name = scope.newName()
  const parts = expressions.map((each) => given(scope, each))
  if (parts.includes(undefined)) return undefined
  const tests = parts.flatMap((part) =>
    part === undefined ? [] : [`${part.before}{% if ${part.test} %}{% assign ${name} = true %}{% endif %}`],
  )
  return { before: `{% assign ${name} = false %}${tests.join("")}`, test: name }
}
