import { alternatives, type Contract, nameOf, resolve, type Schema } from "./Contract.ts"

export interface Field {
  /** Names from the outermost object, such as `emails[].to`. */
  readonly path: string
  readonly type: string
  readonly required: boolean
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
  return alternatives(contract, schema).flatMap((each) => {
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
          description: descriptionOf(contract, property),
        },
        ...listOf(contract, property, path, inside),
      ]
    })
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
  const resolved = resolve(contract, schema)
  const inner = alternatives(contract, resolved).map((each) => resolve(contract, each))
  const text = [resolved, ...inner].find(({ description }) => description !== undefined)?.description ?? ""
  return [text, ...restrictionsOf(resolved === inner[0] ? inner : [resolved, ...inner])]
    .filter((each) => each !== "")
    .map((each, at, all) => (at < all.length - 1 ? each.replace(/\.$/u, "") : each))
    .join(". ")
}

/** Returns the allowed values and bounds of a schema as sentences. */
const restrictionsOf = (schemas: ReadonlyArray<Schema>): ReadonlyArray<string> => {
  const values = schemas.flatMap(
    (each) => each.enum ?? each.items?.enum ?? (each.const === undefined ? [] : [each.const]),
  )
  const shown = values.slice(0, MAX_VALUES).map((value) => `\`${String(value)}\``)
  const bounds = schemas.flatMap((each) => [
    range(each["minimum"], each["maximum"], ""),
    range(each["minLength"], each["maxLength"], " characters"),
    range(each["minItems"], each["maxItems"], " items"),
  ])
  return [...new Set([shown.length === 0 ? "" : `One of ${shown.join(", ")}`, ...bounds])].filter((each) => each !== "")
}

const range = (least: unknown, most: unknown, unit: string): string => {
  if (typeof most !== "number" || most >= Number.MAX_SAFE_INTEGER) return ""
  return typeof least === "number" && least > 0 ? `${least} to ${most}${unit}` : `At most ${most}${unit}`
}
