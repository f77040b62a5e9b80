import { type ApiTypes, commentLines, type Field, NOTE, type Structure, type Type } from "./ApiTypes.ts"

/** Returns the types of the API as a Go file. */
export const goTypes = ({ choices, structures }: ApiTypes): string => {
  const parts = [
    `// ${NOTE.replace("Generated from the API by npm run generate.", "Code generated from the API by npm run generate. DO NOT EDIT.")}\n\npackage waybill\n\nimport "time"`,
    ...choices.map(({ name, values }) => {
      const constants = values.map(
        (value) => [`${name}${goName(value)}`, ` ${name} = ${JSON.stringify(value)}`] as const,
      )
      return `type ${name} string\n\nconst (\n${aligned(constants)})`
    }),
    ...structures.map((structure) => declaration(structure, new Set(choices.map(({ name }) => name)))),
  ]
  return parts.join("\n\n") + "\n"
}

/** Names of choices, which are texts. */
type Texts = ReadonlySet<string>

/** Fields that are told from absent ones: leaving them out keeps them as they are. */
const CHANGES = new Set(["DomainChange", "TemplateChange", "InboundRouteChange"])

const declaration = (structure: Structure, texts: Texts): string => {
  const { fields, name, parent } = structure
  const inherited = parent === undefined ? "" : `\t${parent.name}\n`
  const about = structure.comment === undefined ? "" : commentLines(`${name}: ${lowerFirst(structure.comment)}.`, "// ")
  return `${about}type ${name} struct {\n${inherited}${fieldLines(fields, name, texts)}}`
}

/** Aligns columns as gofmt does: each run of lines without a comment in between. */
const fieldLines = (fields: ReadonlyArray<Field>, owner: string, texts: Texts): string => {
  const runs: Array<{ readonly comment: string; readonly rows: Array<readonly [string, string, string]> }> = []
  for (const field of fields) {
    const json = field.isOptional ? `${field.name},omitempty` : field.name
    const row = [goName(field.name), goType(field, owner, texts), `\`json:"${json}"\``] as const
    const isAbout = field.comment !== undefined && field.type.kind !== "bytes"
    const comment = isAbout ? commentLines(field.comment, "\t// ") : ""
    const last = runs.at(-1)
    if (comment !== "" || last === undefined) runs.push({ comment, rows: [row] })
    else last.rows.push(row)
  }
  return runs.map(({ comment, rows }) => comment + columns(rows)).join("")
}

const columns = (rows: ReadonlyArray<readonly [string, string, string]>): string => {
  const [first, second] = [0, 1].map((nth) => Math.max(...rows.map((row) => (row[nth] ?? "").length)))
  return rows.map(([a, b, c]) => `\t${a.padEnd(first ?? 0)} ${b.padEnd(second ?? 0)} ${c}\n`).join("")
}

const aligned = (rows: ReadonlyArray<readonly [string, string]>): string => {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, rest]) => `\t${name.padEnd(width)}${rest}\n`).join("")
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

const INITIALISMS = new Set(["id", "url", "html", "smtp", "mx", "tls", "ttl", "dns", "ip", "spf", "dkim", "dmarc"])

const goName = (name: string): string =>
  name
    .split("_")
    .map((word) => (INITIALISMS.has(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("")

/** A null text is empty, a null list is nil; what else is null or left out is a nil pointer. */
const goType = ({ isNullable, isOptional, type }: Field, owner: string, texts: Texts): string => {
  const name = nameOf(type)
  if (CHANGES.has(owner)) return `*${name}`
  const isText = name === "string" || (type.kind === "named" && texts.has(type.name))
  const isAbsentByItself = isText || /^(?:\[\]|map)/u.test(name)
  // Counts and limits that are left out are 0.
  if (name === "int" && !isNullable) return name
  return (isNullable || isOptional) && !isAbsentByItself ? `*${name}` : name
}

const nameOf = (type: Type): string => {
  switch (type.kind) {
    case "text":
    case "choice":
      return "string"
    case "constant":
      return typeof type.value === "string" ? "string" : "bool"
    case "integer":
      return "int"
    case "boolean":
      return "bool"
    case "object":
      return "map[string]any"
    case "bytes":
      return "[]byte"
    case "time":
      return "time.Time"
    case "texts":
      return "[]string"
    case "map":
      return `map[string]${nameOf(type.of)}`
    case "list":
      return `[]${nameOf(type.of)}`
    case "named":
      return type.name
  }
}
