import type { FieldProblem } from "./TransportError.ts"
import { type Data, isData, isSet } from "./Data.ts"

/** Headers that are commands on Waybill's SMTP port, and the fields that replace them here. */
const CONTROL: ReadonlyMap<string, string> = new Map([
  ["x-idempotency-key", "idempotencyKey"],
  ["resend-idempotency-key", "idempotencyKey"],
  ["x-tag", "tags"],
  ["x-pm-tag", "tags"],
  ["x-scheduled-at", "scheduledAt"],
  ["x-track-opens", "tracking"],
  ["x-track-clicks", "tracking"],
  ["x-track-replies", "replyTracking"],
  ["x-pm-trackopens", "tracking"],
  ["x-pm-tracklinks", "tracking"],
])

const PRIORITIES: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  ["high", { "X-Priority": "1 (Highest)", "X-MSMail-Priority": "High", Importance: "High" }],
  ["low", { "X-Priority": "5 (Lowest)", "X-MSMail-Priority": "Low", Importance: "Low" }],
  ["normal", {}],
])

export interface MessageHeaders {
  readonly headers: Record<string, string>
  /** Fields by the names of the headers that they become, for error messages. */
  readonly fields: ReadonlyMap<string, string>
}

/** Fields that nodemailer has formatted as headers, besides `list`. */
const FORMATTED = { references: "References", inReplyTo: "In-Reply-To" } as const

/** Returns the custom headers of normalized data. `given` is the data before, in which `headers` is unchanged. */
export const ofData = (given: Data, normalized: Data, problems: Array<FieldProblem>): MessageHeaders => {
  const headers = new Map<string, string>()
  const names = new Set<string>()
  const fields = new Map<string, string>()
  for (const [name, value] of entriesOf(given["headers"])) {
    const path = `headers.${name}`
    const field = CONTROL.get(name.toLowerCase())
    if (field !== undefined) problems.push({ path, message: `is a command for SMTP; use \`${field}\`` })
    const all = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : [value]
    if (!all.every(isText)) problems.push({ path, message: "must be a text" })
    const values = all.map(textOf).filter((text) => text !== "")
    if (names.has(name.toLowerCase()) || values.length > 1)
      problems.push({ path, message: "is set twice; Waybill sends each header once" })
    if (values[0] === undefined) continue
    names.add(name.toLowerCase())
    headers.set(nameOf(given, name), values[0])
  }
  const add = (name: string, field: string, value: string) => {
    headers.set(name, value)
    fields.set(`headers.${name}`, field)
  }
  const formatted = isData(normalized["normalizedHeaders"]) ? normalized["normalizedHeaders"] : {}
  for (const [field, name] of Object.entries(FORMATTED))
    if (isSet(given[field])) add(name, field, textOf(formatted[name.toLowerCase()]))
  for (const key of isData(given["list"]) ? Object.keys(given["list"]) : []) {
    const lower = `list-${key.toLowerCase().trim()}`
    const value = textOf(formatted[lower])
    if (value !== "") add(capitalize(lower), `list.${key}`, value)
  }
  const priority = textOf(given["priority"]).toLowerCase()
  if (priority !== "" && !PRIORITIES.has(priority))
    problems.push({ path: "priority", message: "must be high, normal or low" })
  for (const [name, value] of Object.entries(PRIORITIES.get(priority) ?? {})) add(name, "priority", value)
  const { xMailer } = given
  if (typeof xMailer === "string" && xMailer !== "") add("X-Mailer", "xMailer", xMailer)
  // A name such as __proto__ cannot be assigned.
  return { headers: Object.fromEntries(headers), fields }
}

/**
 * Names and values of `headers`, which is an object or a list of `{ key, value }`. Nodemailer adds default headers to
 * either by name.
 */
const entriesOf = (headers: unknown): ReadonlyArray<readonly [name: string, value: unknown]> =>
  Object.entries(typeof headers === "object" && headers !== null ? headers : {}).map(([name, value]) =>
    Array.isArray(headers) && isData(value) && "key" in value ? [String(value["key"]), value["value"]] : [name, value],
  )

/** Whether a value can be a header's text, or is not set. */
const isText = (value: unknown): boolean =>
  !isSet(value) ||
  value instanceof Date ||
  (isData(value) ? isSet(value["value"]) && isText(value["value"]) : /^(?:string|number|boolean)$/.test(typeof value))

/** A header's value as text. A prepared one may be folded. */
const textOf = (value: unknown): string => {
  if (value instanceof Date) return value.toUTCString()
  if (isData(value)) return textOf(value["value"]).replaceAll(/\r?\n(?=[ \t])/g, "")
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : ""
}

const nameOf = ({ normalizeHeaderKey }: Data, name: string): string => {
  const normalized: unknown = typeof normalizeHeaderKey === "function" ? normalizeHeaderKey(name) : name
  return typeof normalized === "string" && normalized !== "" ? normalized : name
}

const capitalize = (name: string): string => name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())
