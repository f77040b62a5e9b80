import { type ApiTypes, commentLines, type Field, NOTE, type Structure, type Type } from "./ApiTypes.ts"

/** Returns the types of the API as a Python module. */
export const pythonTypes = ({ choices, structures }: ApiTypes): string => {
  const names = [
    ...choices.map(({ name }) => name),
    ...structures.map(({ name }) => name),
    ...PAGES.map(([name]) => name),
  ]
  const parts = [
    `# ${NOTE}\n"""What the API takes and returns. Times in answers are ISO 8601, in UTC."""\nfrom datetime import datetime\nfrom typing import Any, Dict, List, Literal, Optional, TypedDict, Union\n`,
    `__all__ = [\n${names
      .toSorted()
      .map((name) => `    "${name}",\n`)
      .join("")}]\n`,
    choices.map(({ name, values }) => `${name} = ${literal(values)}\n`).join(""),
    ...structures.flatMap(declaration),
    ...PAGES.map(([name, item]) => page(name, item)),
  ]
  return parts.map((part) => part.trimEnd()).join("\n\n\n") + "\n"
}

const PAGES = [
  ["EmailLogPage", "EmailLog"],
  ["EventPage", "Event"],
  ["DomainPage", "Domain"],
  ["SuppressionPage", "Suppression"],
  ["InboundEmailPage", "InboundEmail"],
  ["InboundRoutePage", "InboundRoute"],
  ["TemplatePage", "ListedTemplate"],
  ["TemplateVersionPage", "ListedTemplateVersion"],
] as const

const page = (name: string, item: string) => `class ${name}(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[${item}]
`

/** Fields that are keywords of Python cannot be written in a class. */
const isKeyword = ({ name }: Field) => name === "from"

/** Required and optional fields are in classes of their own: Python 3.9 has no `NotRequired`. */
const declaration = ({ comment, fields, name, parent }: Structure): ReadonlyArray<string> => {
  const required = fields.filter((field) => !field.isOptional && !isKeyword(field))
  const optional = fields.filter(({ isOptional }) => isOptional)
  const parts: Array<string> = []
  let base = parent?.name ?? "TypedDict"
  for (const field of fields.filter(isKeyword)) {
    const type = `{"${field.name}": ${pythonType(field)}}`
    base = `_${name}From`
    parts.push(`${base} = TypedDict("${base}", ${type}${field.isOptional ? ", total=False" : ""})\n`)
  }
  const add = (className: string, own: ReadonlyArray<Field>, total: string, text: string | undefined) => {
    const lines = own.filter((field) => !isKeyword(field)).map(line)
    const about = text === undefined ? "" : `    """${text}."""\n\n`
    parts.push(`class ${className}(${base}${total}):\n${about}${lines.join("")}`)
    base = className
  }
  if (required.length > 0)
    add(optional.length > 0 ? `_${name}Required` : name, required, "", optional.length > 0 ? undefined : comment)
  if (optional.length > 0) add(name, optional, ", total=False", comment)
  return parts
}

const line = (field: Field): string => {
  const comment = field.type.kind === "bytes" ? "The bytes; a text is base64" : field.comment
  const about = comment === undefined ? "" : commentLines(comment, "    # ")
  return `${about}    ${field.name}: ${pythonType(field)}\n`
}

const pythonType = ({ isNullable, type }: Field): string => (isNullable ? `Optional[${nameOf(type)}]` : nameOf(type))

const nameOf = (type: Type): string => {
  switch (type.kind) {
    case "text":
      return "str"
    case "integer":
      return "int"
    case "boolean":
      return "bool"
    case "object":
      return "Dict[str, Any]"
    case "bytes":
      return "Union[bytes, str]"
    case "time":
      return type.isInput ? "Union[datetime, str]" : "str"
    case "texts":
      return "Union[str, List[str]]"
    case "constant":
      return literal([type.value])
    case "choice":
      return literal(type.values)
    case "map":
      return `Dict[str, ${nameOf(type.of)}]`
    case "list":
      return `List[${nameOf(type.of)}]`
    case "named":
      return type.name
  }
}

const literal = (values: ReadonlyArray<string | boolean>): string =>
  `Literal[${values.map((value) => (typeof value === "string" ? JSON.stringify(value) : value ? "True" : "False")).join(", ")}]`
