import { alternatives, type Contract, nameOf, resolve, type Schema } from "./Contract.ts"

const MAX_DEPTH = 8
const ID = "01kakz5xq8e4vb2m0r7c3d9h1t"
const TIME = "2026-11-30T09:30:00.000Z"

/** Values of schemas and fields by their names, where a schema gives no example. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  Address: "ana@example.org",
  DomainName: "mail.example.org",
  MemberRole: "member",
  address: "ana@example.org",
  alias: "receipt",
  cc: [],
  bcc: [],
  reply_to: [],
  content_type: "application/pdf",
  domain: "acme.test",
  email: "ana@example.org",
  events: ["email.delivered", "email.bounced"],
  filename: "receipt.pdf",
  found: [],
  from: "Acme <hello@acme.test>",
  has_more: false,
  html: "<p>Thank you, Ana.</p>",
  ip: "203.0.113.7",
  languages: ["en"],
  name: "Production",
  queued: 1,
  recipients: 1,
  references: [],
  stream: "email",
  subject: "Your receipt",
  tags: ["receipt"],
  text: "Thank you, Ana.",
  to: "ana@example.org",
  etag: "9f86d081",
  inbound_domain: "in.acme.test",
  key: "wb_4Ko2xQa…",
  mail_from: "bounces@acme.test",
  message: "There is no such variable",
  org_name: "google.com",
  path: "html",
  reporters: ["google.com"],
  result: "pass",
  status: "delivered",
  stream_id: `msg_${ID}`,
  url: "https://example.org/hooks",
  value: "v=DKIM1; k=rsa; p=MIIBIjANBg…",
}
/** Values of the names in a path. */
const PARTS: Readonly<Record<string, string | number>> = {
  attachment: "att_1",
  domain: "mail.example.org",
  number: 1,
  template: "receipt",
}

export const partOf = (contract: Contract, schema: Schema, name: string): string | number =>
  PARTS[name] ?? String(of(contract, schema, name))

/** Returns an example with all fields; of those that may be `null`, only what an example is given for. */
export const of = (contract: Contract, schema: Schema, name = "", depth = 0): unknown => {
  const resolved = resolve(contract, schema)
  const named = schema.$ref === undefined ? undefined : BY_NAME[nameOf(schema.$ref)]
  if (named !== undefined) return named
  const [example] = resolved.examples ?? []
  if (example !== undefined) return example
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum !== undefined) return resolved.enum[0]
  const choices = resolved.anyOf ?? resolved.oneOf ?? []
  if (choices.some(({ type }) => type === "null")) return null
  const [first] = alternatives(contract, resolved)
  if (first !== undefined && first !== resolved) return of(contract, first, name, depth + 1)
  if (depth > MAX_DEPTH) return null
  switch (resolved.type) {
    case "object":
      return objectOf(contract, resolved, depth)
    case "array": {
      const named = typeof BY_NAME[name] === "number" ? undefined : BY_NAME[name]
      const value = named ?? of(contract, resolved.items ?? {}, name, depth + 1)
      return Array.isArray(value) ? value : [value]
    }
    case "integer":
    case "number":
      return typeof BY_NAME[name] === "number" ? BY_NAME[name] : (resolved["minimum"] ?? 1)
    case "boolean":
      return BY_NAME[name] ?? true
    default:
      return textOf(resolved, name)
  }
}

/** Returns the begin of ids with this pattern; undefined if it is not that of an id. */
export const prefixOf = (pattern: unknown): string | undefined =>
  /^\^(?:\(\?:0\|)?([a-z]+_)\[0-7\]/u.exec(String(pattern))?.[1]

/** Returns the example of a text: an id or a time by its pattern, or what its name says. */
const textOf = ({ format, pattern }: Schema, name: string): unknown => {
  const prefix = prefixOf(pattern)
  if (prefix !== undefined) return `${prefix}${ID}`
  if (format === "date-time") return TIME
  const value = BY_NAME[name]
  return typeof value === "string" ? value : "…"
}

const objectOf = (contract: Contract, { properties = {} }: Schema, depth: number): object =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, of(contract, property, name, depth + 1)]),
  )
