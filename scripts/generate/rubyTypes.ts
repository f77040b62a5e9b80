import { type ApiTypes, commentLines, type Field, fieldsOf, NOTE, type Structure, type Type } from "./ApiTypes.ts"

/** Returns the types of the API as an RBS file. */
export const rubyTypes = ({ choices, structures }: ApiTypes): string => {
  const parts = [
    ...choices.map(({ name, values }) => `  type ${rubyName(name)} = ${literal(values)}\n`),
    ...structures.map(declaration),
    `  type page[T] = { object: "list", has_more: bool, next_cursor: String?, data: Array[T] }\n`,
  ]
  return `# ${NOTE}\n\n# Times in answers are ISO 8601, in UTC.\nmodule Waybill\n${parts.join("\n")}end\n`
}

const declaration = (structure: Structure): string => {
  const fields = fieldsOf(structure).map(line).join("")
  const about = structure.comment === undefined ? "" : commentLines(structure.comment, "  # ")
  return `${about}  type ${rubyName(structure.name)} = {\n${fields}  }\n`
}

const line = ({ comment, isNullable, isOptional, name, type }: Field): string => {
  const text = nameOf(type)
  const nullable = isNullable ? (text.includes(" | ") ? `(${text})?` : `${text}?`) : text
  const about = comment === undefined ? "" : commentLines(comment, "    # ")
  return `${about}    ${isOptional ? "?" : ""}${name}: ${nullable},\n`
}

const rubyName = (name: string) => name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "_").toLowerCase()

const nameOf = (type: Type): string => {
  switch (type.kind) {
    case "text":
    case "bytes":
      return "String"
    case "integer":
      return "Integer"
    case "boolean":
      return "bool"
    case "object":
      return "Hash[Symbol, untyped]"
    case "time":
      return type.isInput ? "Time | String" : "String"
    case "texts":
      return "String | Array[String]"
    case "constant":
      return literal([type.value])
    case "choice":
      return literal(type.values)
    case "map":
      return `Hash[String | Symbol, ${nameOf(type.of)}]`
    case "list":
      return `Array[${nameOf(type.of)}]`
    case "named":
      return rubyName(type.name)
  }
}

const literal = (values: ReadonlyArray<string | boolean>): string =>
  values.map((value) => JSON.stringify(value)).join(" | ")
