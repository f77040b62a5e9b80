import * as Api from "@waybill/api/Api"
import { OpenApi } from "effect/http-api"
import { fileURLToPath } from "node:url"

interface Json {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<Json>
  readonly oneOf?: ReadonlyArray<Json>
  readonly items?: Json
  readonly properties?: { readonly [name: string]: Json }
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Json
}

/**
 * Writes the API's schemas as plain types for the client package, out of the contract itself. The client then costs what
 * its own few functions cost, and none of the library that the contract is written with.
 */
export const FILE = fileURLToPath(new URL("../../packages/client/src/types.ts", import.meta.url))

export const render = (): string => {
  const schemas = OpenApi.fromApi(Api.Api).components.schemas as { readonly [name: string]: Json }
  const types = Object.entries(schemas)
    .filter(([name]) => /^[A-Z]\w*$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${comment(schema, "")}export type ${name} = ${type(schema, "")}`)
  return `// Generated from the API by scripts/client-types.ts. A test checks that it is current.\n\n${types.join("\n\n")}\n`
}

const comment = ({ description }: Json, indent: string) =>
  description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "* /")} */\n`

const type = (schema: Json, indent: string): string => {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown"
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const parts = schema.anyOf ?? schema.oneOf
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
