import * as Examples from "./Examples.ts"
import { alternatives, type Contract, nameOf, resolve, type Schema } from "./Contract.ts"

export interface Field {
  /** Names from the outermost object, such as `emails[].to`. */
  readonly path: string
  readonly type: string
  /** Whether it must be given; `false` also if only one of several forms of a body requires it. */
  readonly required: boolean
  /** Fields of the other form of the body; without them this one must be given. */
  readonly requiredWithout?: ReadonlyArray<string>
  /** Bounds and the default, such as `1 to 100`. */
  readonly limits: ReadonlyArray<string>
  readonly description: string
}

/** Depth of nested fields that are listed. */
const MAX_DEPTH = 4
const MAX_VALUES = 40

/** Returns the fields of a schema, those of nested objects behind theirs. A schema that contains itself is not repeated. */
export const listOf = (
  contract: Contract,
  schema: Schema,
  prefix = "",
  within: ReadonlyArray<string> = [],
): ReadonlyArray<Field> => {
  if (within.length > MAX_DEPTH) return []
  const lists = alternatives(contract, schema).map((each) => {
    const name = each.$ref === undefined ? "" : nameOf(each.$ref)
    if (name !== "" && within.includes(name)) return []
    const resolved = resolve(contract, each)
    const inside = [...within, name]
    if (resolved.type === "array" && resolved.items !== undefined)
      return listOf(contract, resolved.items, prefix === "" ? "" : `${prefix}[]`, inside)
    if (resolved.anyOf !== undefined && resolved !== schema) return listOf(contract, resolved, prefix, inside)
    return Object.entries(resolved.properties ?? {}).flatMap(([field, property]) => {
      const path = prefix === "" ? field : `${prefix}.${field}`
      return [
        {
          path,
          type: typeOf(contract, property),
          required: resolved.required?.includes(field) === true,
          limits: limitsOf(contract, property),
          description: descriptionOf(contract, property),
        },
        ...listOf(contract, property, path, inside),
      ]
    })
  })
  // The forms of a body share fields.
  const fields = new Map<string, Field>()
  for (const field of lists.flat()) if (!fields.has(field.path)) fields.set(field.path, field)
  const requires = (list: ReadonlyArray<Field>, path: string) =>
    list.some((each) => each.path === path && each.required)
  return [...fields.values()].map((field) => {
    const forms = lists.filter((list) => requires(list, field.path))
    const others = lists.filter((list) => !forms.includes(list))
    if (forms.length === 0 || others.length === 0) return { ...field, required: others.length === 0 }
    const isOther = ({ path }: Field) =>
      others.every((list) => requires(list, path)) && !forms.some((list) => requires(list, path))
    const requiredWithout = [...fields.values()].filter(isOther).map(({ path }) => path)
    return { ...field, required: false, requiredWithout }
  })
}

/** Returns the type of a value in words, such as `string or null`. */
export const typeOf = (contract: Contract, schema: Schema): string => {
  const resolved = resolve(contract, schema)
  const choices = resolved.anyOf ?? resolved.oneOf
  if (choices !== undefined) return [...new Set(choices.map((each) => typeOf(contract, each)))].join(" or ")
  if (resolved.type === "array")
    return `array of ${resolved.items === undefined ? "values" : typeOf(contract, resolved.items)}`
  return resolved.type ?? (resolved.enum === undefined ? "value" : typeof resolved.enum[0])
}

export const descriptionOf = (contract: Contract, schema: Schema): string => {
  const schemas = partsOf(contract, schema)
  const text = schemas.find(({ description }) => description !== undefined)?.description ?? ""
  const values = schemas.flatMap(
    (each) => each.enum ?? each.items?.enum ?? (each.const === undefined ? [] : [each.const]),
  )
  const shown = [...new Set(values.slice(0, MAX_VALUES).map((value) => `\`${String(value)}\``))]
  const allowed = shown.length === 0 ? "" : `${shown.length === 1 ? "Always" : "One of"} ${shown.join(", ")}`
  return [text.replace(/\.$/u, ""), allowed].filter((each) => each !== "").join(". ")
}

/** Returns the bounds of a value, and what it is if it is left out. */
export const limitsOf = (contract: Contract, schema: Schema): ReadonlyArray<string> => {
  // The description has the smaller bound of each plan.
  const isOfPlan = schema.description?.includes("the plan allows") === true
  const bounds = partsOf(contract, schema).flatMap((each) => [
    range(each["minimum"], each["maximum"], ""),
    range(each["minLength"], each["maxLength"], " characters"),
    isOfPlan ? "" : range(each["minItems"], each["maxItems"], " items"),
    range(undefined, each["maxProperties"], " pairs"),
    prefixOf(each["pattern"]),
    each.default === undefined ? "" : `default ${String(each.default)}`,
  ])
  return [...new Set(bounds)].filter((each) => each !== "")
}

/** Returns a schema and its alternatives. */
const partsOf = (contract: Contract, schema: Schema): ReadonlyArray<Schema> => {
  const resolved = resolve(contract, schema)
  const inner = alternatives(contract, resolved).map((each) => resolve(contract, each))
  return resolved === inner[0] ? inner : [resolved, ...inner]
}

/** Returns how an id begins. */
const prefixOf = (pattern: unknown): string => {
  const prefix = Examples.prefixOf(pattern)
  return prefix === undefined ? "" : `begins with ${prefix}`
}

const range = (least: unknown, most: unknown, unit: string): string => {
  if (typeof most !== "number" || most >= Number.MAX_SAFE_INTEGER) return ""
  return typeof least === "number" && least > 0 ? `${least} to ${most}${unit}` : `at most ${most}${unit}`
}
