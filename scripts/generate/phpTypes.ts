import { type ApiTypes, type Field, fieldsOf, NOTE, type Structure, type Type } from "./ApiTypes.ts"

/** Returns the types of the API as PHPDoc, which phpstan and psalm read. */
export const phpTypes = ({ choices, structures }: ApiTypes): string => {
  const types = [
    ...choices.map(({ name, values }) => ` * @phpstan-type ${name} ${literal(values)}\n`),
    ...structures.map(declaration),
    ...PAGES.map(([name, item]) => declaration({ name, comment: undefined, parent: undefined, fields: pageOf(item) })),
  ]
  return `<?php

// ${NOTE}

declare(strict_types=1);

namespace Waybill;

/**
 * What the API takes and returns. Times in answers are ISO 8601, in UTC.
 *
${types.join(" *\n")} */
interface Types
{
}
`
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

const pageOf = (item: string): ReadonlyArray<Field> =>
  (
    [
      ["object", { kind: "constant", value: "list" }, false],
      ["has_more", { kind: "boolean" }, false],
      ["next_cursor", { kind: "text" }, true],
      ["data", { kind: "list", of: { kind: "named", name: item } }, false],
    ] as const
  ).map(([name, type, isNullable]) => ({ name, type, isNullable, isOptional: false, comment: undefined }))

const declaration = (structure: Structure): string =>
  ` * @phpstan-type ${structure.name} array{\n${fieldsOf(structure).map(line).join("")} * }\n`

const line = ({ isNullable, isOptional, name, type }: Field): string =>
  ` *   ${name}${isOptional ? "?" : ""}: ${nameOf(type)}${isNullable ? "|null" : ""},\n`

const nameOf = (type: Type): string => {
  switch (type.kind) {
    case "text":
    case "bytes":
      return "string"
    case "integer":
      return "int"
    case "boolean":
      return "bool"
    case "object":
      return "array<string, mixed>"
    case "time":
      return type.isInput ? "\\DateTimeInterface|string" : "string"
    case "texts":
      return "string|list<string>"
    case "constant":
      return literal([type.value])
    case "choice":
      return literal(type.values)
    case "map":
      return `array<string, ${nameOf(type.of)}>`
    case "list":
      return `list<${nameOf(type.of)}>`
    case "named":
      return type.name
  }
}

const literal = (values: ReadonlyArray<string | boolean>): string =>
  values.map((value) => (typeof value === "string" ? `'${value}'` : String(value))).join("|")
