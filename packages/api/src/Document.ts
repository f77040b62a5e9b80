import * as ApiKey from "@waybill/domain/account/ApiKey"
import { MAX_ATTACHMENTS } from "@waybill/domain/email/Content"
import * as Labels from "@waybill/domain/email/Labels"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as Table from "@waybill/domain/values/Table"
import * as BoundKeys from "./BoundKeys.ts"
import * as Events from "./groups/history/Events.ts"
import * as Suppressions from "./groups/Suppressions.ts"
import * as DomainReports from "./schemas/DomainReports.ts"
import * as Idempotency from "./schemas/Idempotency.ts"
import * as Page from "./schemas/Page.ts"
import * as Samples from "./Samples.ts"
import * as TestKeys from "./TestKeys.ts"

type Json = { [key: string]: unknown }

const integer = (description: string) => ({ description, schema: { type: "integer" }, required: true })

const HEADERS = {
  RateLimitLimit: integer("Requests allowed in this window"),
  RateLimitRemaining: integer("Requests left in this window"),
  RateLimitReset: integer("End of this window as a Unix timestamp"),
  RequestId: {
    description: "Id of this request; include it in support requests",
    schema: { type: "string" },
    required: true,
  },
  RetryAfter: integer("Seconds to wait"),
  IdempotentReplayed: {
    description: "Present if this is the stored response to an earlier request",
    schema: { type: "string", const: "true" },
  },
  Warning: {
    description:
      "Present if a message has no body, or its template a variable without a value: it was accepted, and is delivered so",
    schema: { type: "string", examples: ['199 - "The message has no body"'] },
  },
}

const EVERY_RESPONSE = {
  "X-RateLimit-Limit": "RateLimitLimit",
  "X-RateLimit-Remaining": "RateLimitRemaining",
  "X-RateLimit-Reset": "RateLimitReset",
  "X-Request-Id": "RequestId",
} as const

const ERROR = {
  error: {
    code: "invalid_request",
    message: "`to` takes 1 to 50 addresses; 51 were given.",
    reason: "validation_failed",
    request_id: "req_01kakz5xq8e4vb2m0r7c3d9h1t",
    details: [{ path: "to", message: "takes 1 to 50 addresses; 51 were given" }],
  },
}

/**
 * Completes the OpenAPI document with what schemas cannot express: headers of every response, examples of bodies, numbers in
 * queries as integers, limits of transformed fields, responses that may gain fields, and the type of batch items. Writes schemas in
 * a form that code generators understand.
 */
export const finish = (document: Record<string, unknown>): Record<string, unknown> => {
  for (const [path, operations] of Object.entries(document["paths"] as Record<string, Record<string, Json>>))
    for (const operation of Object.values(operations)) {
      const responses = operation["responses"] as Record<string, Json>
      describeRule(operation)
      if (!canBeNotFound(path)) delete responses["404"]
      for (const response of Object.values(responses)) finishResponse(response)
      for (const parameter of (operation["parameters"] ?? []) as ReadonlyArray<Json>)
        finishParameter(parameter, operation)
    }
  const parts = document["components"] as { schemas: Record<string, Json>; headers?: unknown }
  parts.headers = HEADERS
  const { Batch, EmailMessage, Error } = parts.schemas
  if (EmailMessage !== undefined) EmailMessage["examples"] = [Samples.BODIES["emails.send"]]
  if (Error !== undefined) Error["examples"] = [ERROR]
  const properties = Batch?.["properties"] as { emails: Json } | undefined
  if (properties !== undefined) properties.emails["items"] = SENDABLE
  const send = (document["paths"] as Record<string, Record<string, Json>>)["/v1/email/send"]?.["post"]
  if (send !== undefined)
    send["requestBody"] = { content: { "application/json": { schema: SENDABLE } }, required: true }
  for (const operation of operationsOf(document)) addSample(operation)
  restrict(parts.schemas)
  const strict = schemasOfRequests(document)
  for (const [name, schema] of Object.entries(parts.schemas)) if (!strict.has(name)) open(schema)
  for (const operation of operationsOf(document)) open(operation["responses"])
  merge(document)
  single(document)
  return rename(document) as Record<string, unknown>
}

/** A message with its body, or one that is made of a template. */
const SENDABLE: Json = {
  anyOf: ["EmailMessage", "TemplatedMessage"].map((name) => ({ $ref: `#/components/schemas/${name}` })),
}

const operationsOf = (document: Record<string, unknown>): ReadonlyArray<Json> =>
  Object.values(document["paths"] as Record<string, Record<string, Json>>).flatMap((each) => Object.values(each))

const addSample = ({ operationId, requestBody }: Json): void => {
  const media = (requestBody as { content: Record<string, Json> } | undefined)?.content["application/json"]
  const sample = Table.at(Samples.BODIES, String(operationId))
  if (media !== undefined && sample !== undefined) media["example"] = sample
}

/** Adds what the library leaves out of a field whose decoded form differs from the wire, and of the object around it. */
const restrict = ({
  ApiKeyCreation,
  Attachment,
  DomainAddition,
  EmailMessage,
  InboundTest,
}: Record<string, Json>): void => {
  if (DomainAddition !== undefined) requireOne(DomainAddition, [["name"], ["domain"]])
  if (InboundTest !== undefined) requireOne(InboundTest, [["from", "to"], ["raw"]])
  if (Attachment !== undefined) Object.assign(fieldOf(Attachment, "content"), { pattern: BASE64 })
  if (EmailMessage !== undefined) {
    Object.assign(arrayOf(EmailMessage, "attachments"), { maxItems: MAX_ATTACHMENTS })
    Object.assign(arrayOf(EmailMessage, "tags")["items"] as Json, { minLength: 1, maxLength: Labels.MAX_TAG_CHARS })
  }
  if (ApiKeyCreation !== undefined)
    Object.assign(arrayOf(ApiKeyCreation, "allowed_ips"), { maxItems: ApiKey.MAX_ALLOWED_IPS })
}

/**
 * Turns an object into a union of objects, each with some of these fields required. Code generators read a schema that
 * only has `required` as `unknown`, so every member is a whole object.
 */
const requireOne = (schema: Json, lists: ReadonlyArray<ReadonlyArray<string>>): void => {
  const { additionalProperties, properties, type } = schema
  for (const key of ["additionalProperties", "properties", "type"]) delete schema[key]
  schema["anyOf"] = lists.map((required) => ({
    type,
    properties: structuredClone(properties),
    required,
    additionalProperties,
  }))
}

/** Base64 in lines of any length. */
const BASE64 = "^[A-Za-z0-9+/\\r\\n]*(?:=[\\r\\n]*){0,2}$"

const fieldOf = (schema: Json, name: string): Json => (schema["properties"] as Record<string, Json>)[name] ?? {}

/** The list among the alternatives of an optional field. */
const arrayOf = (schema: Json, name: string): Json =>
  (fieldOf(schema, name)["anyOf"] as ReadonlyArray<Json>).find(({ type }) => type === "array") ?? {}

/** Returns the names of the schemas of request bodies. */
const schemasOfRequests = (document: Record<string, unknown>): ReadonlySet<string> => {
  const { schemas } = document["components"] as { schemas: Record<string, Json> }
  const names = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return
    const ref = (node as Json)["$ref"]
    const name = typeof ref === "string" ? ref.slice(ref.lastIndexOf("/") + 1) : undefined
    if (name !== undefined && !names.has(name)) {
      names.add(name)
      visit(schemas[name])
    }
    for (const value of Object.values(node)) visit(value)
  }
  for (const operation of operationsOf(document)) visit(operation["requestBody"])
  return names
}

/** Allows unknown fields in a schema: clients ignore those of a response, because it may gain some. */
const open = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  if ((node as Json)["additionalProperties"] === false) delete (node as Json)["additionalProperties"]
  for (const value of Object.values(node)) open(value)
}

/**
 * Merges the parts of `allOf` into the schema around them where they share no key. Code generators read a part that has
 * only a description or a format as `unknown`.
 */
const merge = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  const schema = node as Json
  const parts = schema["allOf"] as ReadonlyArray<Json> | undefined
  const keys = parts?.flatMap((part) => Object.keys(part)) ?? []
  if (keys.length > 0 && new Set([...keys, ...Object.keys(schema)]).size === keys.length + Object.keys(schema).length) {
    Object.assign(schema, ...(parts ?? []))
    delete schema["allOf"]
  }
  for (const value of Object.values(schema)) merge(value)
}

/** Writes an `enum` of one value as `const`: some code generators make a type of the field's name, such as `object`, of an enum. */
const single = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  const schema = node as Json
  const values = schema["enum"]
  if (Array.isArray(values) && values.length === 1) {
    schema["const"] = values[0]
    delete schema["enum"]
  }
  for (const value of Object.values(schema)) single(value)
}

const BOUND: { readonly [R in BoundKeys.Rule]: string } = {
  "own domain": " A key bound to a domain is limited to that domain.",
  "whole account": " A key bound to a domain is refused.",
  caller: "",
}

const MODE: { readonly [R in TestKeys.Rule]: string } = {
  "own mode": "",
  "live only": " A test key is refused.",
  "test only": " Needs a test key.",
  caller: "",
}

/** Describes how the endpoint treats a bound key and a test key, from the tables that the server applies. */
const describeRule = (operation: Json): void => {
  const [group = "", endpoint = ""] = String(operation["operationId"]).split(".")
  // Endpoints outside /v1 need no key.
  if (!Object.hasOwn(BoundKeys.RULES, group)) return
  operation["description"] =
    `${String(operation["description"])}${MODE[TestKeys.ruleOf(group, endpoint)]}${BOUND[BoundKeys.ruleOf(group, endpoint)]}`
}

/** Only a path with an id can name a missing object, and the sandbox is missing while mail is really sent. */
const canBeNotFound = (path: string): boolean => path.includes("{") || path.startsWith("/v1/sandbox/")

const finishResponse = (response: Json): void => {
  const own = Object.keys((response["headers"] ?? {}) as Json)
  const headers: Json = {}
  for (const [name, component] of Object.entries(EVERY_RESPONSE)) headers[name] = headerRef(component)
  if (own.includes("retry-after")) headers["Retry-After"] = headerRef("RetryAfter")
  if (own.includes("idempotent-replayed")) headers["Idempotent-Replayed"] = headerRef("IdempotentReplayed")
  if (own.includes("warning")) headers["Warning"] = headerRef("Warning")
  response["headers"] = headers
}

const headerRef = (name: keyof typeof HEADERS): Json => ({ $ref: `#/components/headers/${name}` })

/** Largest page and page without `limit`, of lists whose pages are larger than others. */
const PAGES: Readonly<Record<string, readonly [maximum: number, standard: number]>> = {
  "domains.dmarc": [DomainReports.MAX_ROWS, DomainReports.DEFAULT_ROWS],
  "domains.tls": [DomainReports.MAX_ROWS, DomainReports.DEFAULT_ROWS],
  "events.list": [Events.MAX_EVENTS, Events.DEFAULT_EVENTS],
  "suppressions.list": [Suppressions.MAX_PAGE, Page.DEFAULT_LIMIT],
}

const finishParameter = (parameter: Json, operation: Json): void => {
  if (parameter["name"] === "limit" || parameter["name"] === "days") {
    const [maximum, standard] =
      parameter["name"] === "days"
        ? [DomainReports.MAX_DAYS, DomainReports.DEFAULT_DAYS]
        : (Table.at(PAGES, String(operation["operationId"])) ?? [Page.MAX_LIMIT, Page.DEFAULT_LIMIT])
    parameter["schema"] = { type: "integer", minimum: 1, maximum, default: standard }
  }
  if (parameter["name"] === "metadata")
    Object.assign(parameter, {
      description: EmailFilter.ALL.metadata.description,
      style: "deepObject",
      explode: true,
      schema: { type: "object", additionalProperties: { type: "string" }, maxProperties: EmailFilter.MAX_PAIRS },
    })
  if (parameter["name"] === "idempotency-key") {
    parameter["name"] = "Idempotency-Key"
    Object.assign(parameter["schema"] as Json, { minLength: 1, maxLength: Idempotency.MAX_KEY_CHARS })
  }
}

/** Renames `…Encoded`, a suffix of the schema library, to `…Input`. */
const rename = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(rename)
  if (typeof node !== "object" || node === null) return node
  const renamed: Json = {}
  for (const [key, value] of Object.entries(node)) {
    renamed[key.replace(/Encoded$/u, "Input")] =
      key === "$ref" && typeof value === "string" ? value.replace(/Encoded$/u, "Input") : rename(value)
  }
  return renamed
}
