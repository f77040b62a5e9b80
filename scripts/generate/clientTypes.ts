import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import { contract, fileOf, type Json, NOTE, type Parameter, parametersOf, QUERIES } from "./ApiTypes.ts"

/**
 * Writes the API's schemas as plain types for the client package, out of the contract itself. The client then costs what
 * its own few functions cost, and none of the library that the contract is written with.
 */
export const FILE = fileOf("client/src/types.ts")

/** Paths of the lists that only this client reads. */
export const OWN_QUERIES: Readonly<Record<string, string>> = {
  AuditQuery: "/v1/audit",
  DomainReportsQuery: "/v1/domains/{domain}/dmarc",
  RequestsQuery: "/v1/requests",
  SandboxQuery: "/v1/sandbox/messages",
  StatsQuery: "/v1/stats",
  WebhookDeliveriesQuery: "/v1/webhooks/{id}/deliveries",
}
/** Types of the items of texts with commas, which the contract names in words. */
const ITEMS: Readonly<Record<string, string>> = {
  "LogsQuery.status": `EmailStatus | "scheduled"`,
  "LogsQuery.recipient_status": "EmailStatus",
  "LogsQuery.provider": MailboxProvider.ALL.map((name) => JSON.stringify(name)).join(" | "),
  "StatsQuery.group_by": `Stats["group_by"][number]`,
}

export const render = (): string => {
  const api = contract()
  const schemas = Object.entries(api.components.schemas)
    .filter(([name]) => /^[A-Z]\w*$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const types = schemas.map(
    ([name, schema]) => `${comment(schema, "")}export type ${name} = ${extended(name, schema, schemas)}`,
  )
  const queries = Object.entries({ ...QUERIES, ...OWN_QUERIES }).map(
    ([name, path]) => `export interface ${name} {\n${parametersOf(api, path).map(parameterOf(name)).join("\n")}\n}`,
  )
  return `// ${NOTE}\n\n${[...types, ...queries].join("\n\n")}\n`
}

/** Fields from which on a type is written as another one with more fields. */
const LEAST_SHARED = 5

/** Writes a type as the largest other one whose fields it all has, and its own. */
const extended = (name: string, schema: Json, others: ReadonlyArray<readonly [string, Json]>): string => {
  const own = fieldsIn(schema)
  const [parent] = others
    .filter(([other, { properties = {} }]) => other !== name && Object.keys(properties).length >= LEAST_SHARED)
    .map(([other, each]) => ({ other, fields: fieldsIn(each) }))
    .filter(({ fields }) => fields.size < own.size && [...fields].every(([field, text]) => own.get(field) === text))
    .sort((a, b) => b.fields.size - a.fields.size)
  if (parent === undefined) return type(schema, "")
  const { properties = {} } = schema
  const more = Object.entries(properties).filter(([field]) => !parent.fields.has(field))
  return `${parent.other} & ${type({ ...schema, properties: Object.fromEntries(more) }, "")}`
}

/** The fields of an object, each with all that the contract says of it. */
const fieldsIn = ({ properties = {}, required = [] }: Json) =>
  new Map(Object.entries(properties).map(([name, field]) => [name, JSON.stringify([field, required.includes(name)])]))

const parameterOf =
  (owner: string) =>
  ({ name, schema }: Parameter): string =>
    `${comment(schema, "  ")}  readonly ${name}?: ${parameterType(schema, `${owner}.${name}`)} | undefined`

/** Type of a parameter as a program gives it: the client writes it as text. */
const parameterType = (schema: Json, name: string): string => {
  const item =
    schema.type === "array"
      ? type(schema.items ?? {}, "")
      : (ITEMS[name] ?? (schema.description?.includes("separated by commas") === true ? "string" : undefined))
  if (item !== undefined) return `${item} | ReadonlyArray<${item}>`
  if (schema.$ref?.endsWith("/TimestampInput") === true) return "string | Date"
  return schema.enum?.join() === "true,false" ? "boolean" : type(schema, "")
}

const comment = ({ description }: Json, indent: string): string =>
  description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "* /")} */\n`

const type = (schema: Json, indent: string): string => {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown"
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const parts = schema.anyOf
  if (parts !== undefined) return [...new Set(parts.map((part) => type(part, indent)))].join(" | ")
  switch (schema.type) {
    case "string":
      return "string"
    case "integer":
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    case "null":
      return "null"
    case "array":
      return `ReadonlyArray<${type(schema.items ?? {}, indent)}>`
    case "object":
      return object(schema, indent)
    default:
      return "unknown"
  }
}

const object = ({ additionalProperties, properties = {}, required = [] }: Json, indent: string): string => {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `${comment(schema, inner)}${inner}readonly ${key}${required.includes(name) ? "" : "?"}: ${type(schema, inner)}`
  })
  if (fields.length > 0) return `{\n${fields.join("\n")}\n${indent}}`
  return typeof additionalProperties === "object"
    ? `{ readonly [name: string]: ${type(additionalProperties, inner)} }`
    : "{ readonly [name: string]: unknown }"
}
