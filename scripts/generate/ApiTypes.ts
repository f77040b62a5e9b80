import * as Api from "@waybill/api/Api"
import { OpenApi } from "effect/http-api"
import { fileURLToPath } from "node:url"

/** A part of the contract, as the clients in other languages have it. */
export type Type =
  /** `isInput` for a time in a request; `bytes` is sent as base64. */
  | { readonly kind: "text" | "bytes" | "integer" | "boolean" | "object" }
  | { readonly kind: "time"; readonly isInput: boolean }
  /** One text or several. */
  | { readonly kind: "texts" }
  | { readonly kind: "constant"; readonly value: string | boolean }
  | { readonly kind: "choice"; readonly values: ReadonlyArray<string> }
  | { readonly kind: "map"; readonly of: Type }
  | { readonly kind: "list"; readonly of: Type }
  | { readonly kind: "named"; readonly name: string }

export interface Field {
  readonly name: string
  readonly type: Type
  readonly isOptional: boolean
  readonly isNullable: boolean
  readonly comment: string | undefined
}

export interface Structure {
  readonly name: string
  readonly comment: string | undefined
  /** Structure whose fields this one has too; `fields` has only its own. */
  readonly parent: Structure | undefined
  readonly fields: ReadonlyArray<Field>
}

export interface Choice {
  readonly name: string
  readonly values: ReadonlyArray<string>
}

export interface ApiTypes {
  readonly choices: ReadonlyArray<Choice>
  /** Each structure comes after those that it names. */
  readonly structures: ReadonlyArray<Structure>
}

export const NOTE = "Generated from the API by npm run generate. A test checks that it is current."

/** Path of a file of a package. */
export const fileOf = (path: string): string => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url))

export interface Json {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly contentEncoding?: string
  readonly enum?: ReadonlyArray<string | boolean>
  readonly const?: string | boolean
  readonly anyOf?: ReadonlyArray<Json>
  readonly items?: Json
  readonly properties?: { readonly [name: string]: Json }
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Json
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Json
}

interface Contract {
  readonly components: { readonly schemas: { readonly [name: string]: Json } }
  readonly paths: { readonly [path: string]: { readonly get?: { readonly parameters: ReadonlyArray<Parameter> } } }
}

export const contract = (): Contract => OpenApi.fromApi(Api.Api) as unknown as Contract

/** Schemas of what the clients send and receive; those that these name follow. */
const ROOTS = [
  "EmailMessage",
  "Acknowledgement",
  "BatchAnswer",
  "EmailLog",
  "EmailLogWithContent",
  "Domain",
  "DomainChange",
  "DomainDeleted",
  "Suppression",
  "SuppressionAddition",
  "SuppressionBatch",
  "SuppressionBatchAnswer",
  "SuppressionRemoved",
  "Event",
  "EventFeed",
  "ErrorDetail",
  "InboundEmail",
  "InboundEmailWhole",
  "InboundEmailDeleted",
  "InboundTest",
  "InboundReply",
  "InboundRouteCreation",
  "InboundRouteChange",
  "InboundRoute",
  "InboundRouteDeleted",
  "InboundRouteTrial",
  "InboundRouteTest",
  "Thread",
  "TemplatedMessage",
  "ListedTemplate",
  "Template",
  "TemplateCreation",
  "TemplateChange",
  "TemplateArchived",
  "TemplatePublication",
  "ListedTemplateVersion",
  "TemplateVersion",
  "TemplateDuplication",
  "TemplateRendering",
  "RenderedTemplate",
  "TemplatePush",
  "TemplatePushAnswer",
  "NewTemplateSource",
  "TemplateValidation",
]
/** Names of structures that the contract declares in a field. */
const INLINE: Readonly<Record<string, string>> = {
  "BatchResult.error": "BatchError",
  "EmailLog.recipient_counts": "RecipientCounts",
  "EmailContent.attachments": "ContentAttachment",
  "EmailLog.tracking": "AppliedTracking",
  "EmailLogWithContent.reply_tracking": "AppliedReplyTracking",
  "SuppressionBatch.add": "SuppressionAddition",
  "InboundAuthentication.dkim": "InboundSignature",
  "InboundEmailWhole.headers": "InboundHeader",
  "InboundRoute.match": "InboundRouteMatch",
  "InboundRoute.action": "InboundRouteAction",
  "InboundRouteTest.routes": "TestedInboundRoute",
}
const PARENTS: Readonly<Record<string, string>> = {
  EmailLogWithContent: "EmailLog",
  InboundEmailWhole: "InboundEmail",
  Template: "ListedTemplate",
  TemplateVersion: "ListedTemplateVersion",
}
/** Paths of the lists that all clients read. */
export const QUERIES: Readonly<Record<string, string>> = {
  LogsQuery: "/v1/email/logs",
  SuppressionsQuery: "/v1/suppressions",
  EventsQuery: "/v1/events",
  InboundQuery: "/v1/inbound",
  TemplatesQuery: "/v1/templates",
}
/** A key has one mode. */
const LEFT_OUT = new Set(["livemode"])

/** What may be asked of the list at a path. */
export const parametersOf = ({ paths }: Contract, path: string): ReadonlyArray<Parameter> =>
  (paths[path]?.get?.parameters ?? missing(path)).filter(
    (parameter) => parameter.in === "query" && !LEFT_OUT.has(parameter.name),
  )

const isNull = (schema: Json) => schema.type === "null"

/** Returns the types of the contract that the clients in other languages have. */
export const apiTypes = (): ApiTypes => {
  const api = contract()
  const { schemas } = api.components
  const choices = new Map<string, Choice>()
  const structures = new Map<string, Structure>()

  const typeOf = (schema: Json, owner: string): Type => {
    if (schema.$ref !== undefined) return named(schema.$ref.split("/").at(-1) ?? "")
    if (schema.anyOf !== undefined) {
      const parts = schema.anyOf.filter((part) => !isNull(part))
      if (parts.length === 2 && parts.some(({ type }) => type === "array")) return { kind: "texts" }
      if (parts.every((part) => typeOf(part, owner).kind === "text")) return { kind: "text" }
      // `true` is short for the settings as they are by default.
      const settings = parts.find(({ $ref }) => $ref !== undefined)
      if (parts.length === 2 && settings !== undefined && parts.some(({ type }) => type === "boolean"))
        return typeOf(settings, owner)
      if (parts.length !== 1) throw new Error(`${owner} is one of several types`)
      return typeOf(parts[0] ?? {}, owner)
    }
    if (schema.enum !== undefined) return { kind: "choice", values: schema.enum.map(String) }
    if (schema.const !== undefined) return { kind: "constant", value: schema.const }
    switch (schema.type) {
      case "string":
        if (schema.format === "date-time") return { kind: "time", isInput: schema.pattern === undefined }
        if (schema.contentEncoding === "base64") return { kind: "bytes" }
        return { kind: /separated by commas/u.test(schema.description ?? "") ? "texts" : "text" }
      case "integer":
      case "boolean":
        return { kind: schema.type }
      case "array":
        return { kind: "list", of: typeOf(schema.items ?? {}, owner) }
      case "object":
        if (schema.properties !== undefined) return structure(INLINE[owner] ?? missing(owner), schema)
        return typeof schema.additionalProperties === "object"
          ? { kind: "map", of: typeOf(schema.additionalProperties, owner) }
          : { kind: "object" }
      default:
        throw new Error(`${owner} has the type ${schema.type}`)
    }
  }

  const named = (name: string): Type => {
    const schema = anyOf(schemas[name] ?? missing(name))
    if (schema.properties !== undefined) return structure(name, schema)
    const type = typeOf(schema, name)
    if (type.kind !== "choice") return type
    choices.set(name, { name, values: type.values })
    return { kind: "named", name }
  }

  const structure = (name: string, { description, properties = {}, required = [] }: Json): Type => {
    if (!structures.has(name)) {
      const parent = structures.get(PARENTS[name] ?? "")
      const fields = Object.entries(properties)
        .filter(([, schema]) => !isNull(schema))
        .filter(([field]) => parent?.fields.every((inherited) => inherited.name !== field) ?? true)
        .map(([field, schema]) => fieldOf(field, schema, name, required.includes(field)))
      structures.set(name, { name, comment: description, parent, fields })
    }
    return { kind: "named", name }
  }

  const fieldOf = (name: string, schema: Json, owner: string, isRequired: boolean): Field => ({
    name,
    type: typeOf(schema, `${owner}.${name}`),
    isOptional: !isRequired,
    isNullable: schema.anyOf?.some(isNull) ?? false,
    comment: schema.description,
  })

  for (const name of ROOTS) named(name)
  for (const [name, path] of Object.entries(QUERIES)) {
    const fields = parametersOf(api, path).map((each) => fieldOf(each.name, each.schema, name, false))
    structures.set(name, { name, comment: undefined, parent: undefined, fields })
  }
  return { choices: [...choices.values()], structures: [...structures.values()] }
}

/** Returns one of several objects as one with the fields of all, of which those are required that each requires. */
const anyOf = (schema: Json): Json => {
  const parts = schema.anyOf ?? []
  if (parts.length === 0 || parts.some(({ properties }) => properties === undefined)) return schema
  const properties: Record<string, Json> = {}
  for (const part of parts)
    for (const [name, field] of Object.entries(part.properties ?? {})) {
      const former = properties[name]
      const values = new Set([...valuesOf(former), ...valuesOf(field)])
      properties[name] =
        former === undefined || values.size < 2 || valuesOf(former).length === 0
          ? (former ?? field)
          : { ...former, enum: [...values] }
    }
  const required = Object.keys(properties).filter((name) => parts.every((part) => part.required?.includes(name)))
  const { description } = schema
  return { type: "object", properties, required, ...(description === undefined ? {} : { description }) }
}

const valuesOf = (schema: Json | undefined): ReadonlyArray<string | boolean> =>
  schema?.enum ?? (schema?.const === undefined ? [] : [schema.const])

const missing = (name: string): never => {
  throw new Error(`the contract has no ${name}, or it needs a name in scripts/generate/ApiTypes.ts`)
}

/** Breaks a text into lines of comments of at most this length. */
export const commentLines = (text: string, start: string, width = 116): string => {
  const lines: Array<string> = []
  for (const word of text.replaceAll(/\s+/gu, " ").split(" ")) {
    const line = lines.at(-1)
    if (line === undefined || line.length + word.length >= width) lines.push(`${start}${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.map((line) => `${line}\n`).join("")
}

export const fieldsOf = ({ fields, parent }: Structure): ReadonlyArray<Field> => [
  ...(parent === undefined ? [] : fieldsOf(parent)),
  ...fields,
]
