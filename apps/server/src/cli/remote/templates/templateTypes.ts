/** A template and the JSON Schema of its variables, if it has one. */
export interface TypedTemplate {
  readonly alias: string
  readonly variables: Readonly<Record<string, unknown>> | null
}

type Schema = Readonly<Record<string, unknown>>

const ANY = "{ readonly [name: string]: unknown }"

/** Writes the TypeScript types of the variables of templates, for `@waybill/client`. */
export const templateTypes = (templates: ReadonlyArray<TypedTemplate>): string => {
  const fields = [...templates]
    .sort((a, b) => (a.alias < b.alias ? -1 : 1))
    .map(
      ({ alias, variables }) =>
        `    ${nameOf(alias)}: ${variables === null ? ANY : typeOf({ ...variables, type: "object" }, 2)}`,
    )
  return [
    "// Written by `waybill templates types`. Changes are overwritten.",
    'import "@waybill/client"',
    "",
    'declare module "@waybill/client" {',
    "  interface TemplateTypes {",
    ...fields,
    "  }",
    "}",
    "",
  ].join("\n")
}

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/u.test(name) ? name : JSON.stringify(name))

const typeOf = (schema: Schema, depth: number): string => {
  const { enum: values, items, properties, type } = schema
  if (Array.isArray(values)) return values.map(literalOf).join(" | ")
  switch (type) {
    case "string":
    case "boolean":
    case "number":
      return type
    case "integer":
      return "number"
    case "array":
      return `ReadonlyArray<${items === undefined ? "unknown" : typeOf(items as Schema, depth)}>`
    default:
      if (properties === undefined) return type === "object" ? ANY : "unknown"
      return objectOf(schema, properties as Readonly<Record<string, Schema>>, depth)
  }
}

/** Values of other kinds are compared as JSON, for which there is no type. */
const literalOf = (value: unknown): string =>
  value === null || ["string", "number", "boolean"].includes(typeof value) ? JSON.stringify(value) : "unknown"

const objectOf = (schema: Schema, properties: Readonly<Record<string, Schema>>, depth: number): string => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const indent = "  ".repeat(depth + 1)
  const fields = Object.entries(properties).flatMap(([name, inner]) => {
    // The service fills in a default.
    const isNeeded = required.includes(name) && inner["default"] === undefined
    const { description } = inner
    const comment = typeof description === "string" ? [`${indent}/** ${commentOf(description)} */`] : []
    return [...comment, `${indent}readonly ${nameOf(name)}${isNeeded ? "" : "?"}: ${typeOf(inner, depth + 1)}`]
  })
  return fields.length === 0 ? "{ readonly [name: string]: never }" : `{\n${fields.join("\n")}\n${"  ".repeat(depth)}}`
}

const commentOf = (text: string): string => text.replaceAll(/\s+/gu, " ").replaceAll("*/", "*\\/")
