import { type Bytes, fromBase64url, utf8 } from "./Bytes.ts"
import { canonicalJson, isObject, type Json, type JsonObject, parseJson } from "./Json.ts"
import { parseSignature, type NoteSignature } from "./Note.ts"

/** What a leaf of the log says about an event. */
export interface Entry {
  readonly stream: string
  readonly version: number
  readonly type: string
  readonly at: string
  readonly data: Bytes
}

export interface ReceiptEvent extends Entry {
  /** The bytes of the leaf. */
  readonly leaf: Bytes
  readonly fields: ReadonlyMap<string, { readonly salt: Bytes; readonly value: Json }>
  /** Commitments of the fields that are not shown. */
  readonly hidden: ReadonlyMap<string, Bytes>
  /** Whether nothing is known of its data any more. */
  readonly isErased: boolean
  readonly index: number
  readonly proof: ReadonlyArray<Bytes>
}

export interface Receipt {
  readonly origin: string
  readonly email: JsonObject
  readonly events: ReadonlyArray<ReceiptEvent>
  readonly checkpoint: string
  readonly cosignatures: ReadonlyArray<NoteSignature>
  readonly keys: ReadonlyArray<string>
}

export const MAX_RECEIPT_CHARS = 16 * 1024 * 1024

/** Reads a receipt, and refuses every member that is not one of a receipt. */
export const parseReceipt = (text: string): Receipt => {
  if (text.length > MAX_RECEIPT_CHARS) throw new Error(`the file is longer than ${MAX_RECEIPT_CHARS} characters`)
  const names = ["object", "origin", "email", "events", "checkpoint", "cosignatures", "keys"]
  const receipt = members(parseJson(text), names, "the receipt")
  if (receipt["object"] !== "receipt") throw new Error('the file is not a receipt: its "object" says something else')
  if (!isObject(receipt["email"])) throw new Error("email is not an object")
  return {
    origin: string(receipt["origin"], "origin"),
    email: receipt["email"],
    events: list(receipt["events"], "events").map(parseEvent),
    checkpoint: string(receipt["checkpoint"], "checkpoint"),
    cosignatures: list(receipt["cosignatures"], "cosignatures").map((line) => parseSignature(string(line, "a cosignature"))),
    keys: list(receipt["keys"], "keys").map((key) => string(key, "a key")),
  }
}

const parseEvent = (value: Json, nth: number): ReceiptEvent => {
  const where = `event ${nth + 1}`
  const isErased = isObject(value) && !("fields" in value) && !("hidden" in value)
  const event = members(value, ["entry", ...(isErased ? [] : ["fields", "hidden"]), "index", "proof"], where)
  const entry = members(event["entry"], ["v", "event", "stream", "version", "type", "at", "data"], `the entry of ${where}`)
  if (entry["v"] !== 1) throw new Error(`the entry of ${where} is of a version that this program does not know`)
  string(entry["event"], `the id of ${where}`)
  const at = string(entry["at"], `the time of ${where}`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u.test(at)) throw new Error(`the time of ${where} is not one in UTC`)
  const shown = pairs(event["fields"], where).map(([name, field]) => {
    const { salt, value: shownValue = null } = members(field, ["salt", "value"], `the field ${name} of ${where}`)
    return [name, { salt: hash(salt, `the salt of ${name} of ${where}`), value: shownValue }] as const
  })
  return {
    stream: string(entry["stream"], `the stream of ${where}`),
    version: natural(entry["version"], `the version of ${where}`),
    type: string(entry["type"], `the type of ${where}`),
    at,
    data: hash(entry["data"], `the data of ${where}`),
    leaf: utf8(canonicalJson(entry)),
    fields: new Map(shown),
    hidden: new Map(
      pairs(event["hidden"], where).map(([name, commitment]) => [name, hash(commitment, `${name} of ${where}`)]),
    ),
    isErased,
    index: natural(event["index"], `the index of ${where}`),
    proof: list(event["proof"], `the proof of ${where}`).map((node) => hash(node, `the proof of ${where}`)),
  }
}

const members = (value: Json | undefined, names: ReadonlyArray<string>, where: string): JsonObject => {
  if (!isObject(value)) throw new Error(`${where} is not an object`)
  const missing = names.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) throw new Error(`${where} has no member ${missing}`)
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`${where} has a member that receipts do not have: ${unknown.slice(0, 64)}`)
  return value
}

const pairs = (value: Json | undefined, where: string): ReadonlyArray<[string, Json]> => {
  if (value !== undefined && !isObject(value)) throw new Error(`fields and hidden of ${where} must be objects`)
  return Object.entries(value ?? {})
}

const list = (value: Json | undefined, where: string): ReadonlyArray<Json> => {
  if (!Array.isArray(value)) throw new Error(`${where} is not a list`)
  return value
}

const string = (value: Json | undefined, where: string): string => {
  if (typeof value !== "string" || value === "") throw new Error(`${where} is not a text`)
  return value
}

const natural = (value: Json | undefined, where: string): number => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new Error(`${where} is not a number`)
  return value
}

const hash = (value: Json | undefined, where: string): Bytes => {
  const bytes = fromBase64url(string(value, where))
  if (bytes.length !== 32) throw new Error(`${where} does not have 32 bytes`)
  return bytes
}
