import type { Meta, Stored } from "../log/RecordedEvents.ts"
import * as Layout from "./Layout.ts"
import * as Tokens from "./Tokens.ts"

/**
 * The text that holds `data` and `meta` of an event of a message: its fields in the order of its layout, without their
 * names, separated by tabs. A usual value is an empty token. It takes a third of the bytes of JSON, and a tenth of a
 * compressor's time. Other events are few, and SQL looks into them; they stay JSON.
 */
export type PackedEvent = string

const SEPARATOR = "\t"
const NUL = "\\u0000"
const FIRST_VERSION = 1
const KEY_PREFIX = "key_"

type Data = Readonly<Record<string, unknown>>
type Readable = Pick<Stored, "type" | "stream_id" | "data" | "meta">

/** Returns the packed event, or null if it has no layout or does not fit into it. Such an event stays JSON. */
export const pack = ({ data, meta, stream_id, type }: Readable): PackedEvent | null => {
  const layout = Layout.LAYOUTS[type]
  if (layout === undefined) return null
  const head = packMeta(meta)
  if (head === undefined) return null
  const domain = typeof data["domain"] === "string" ? Tokens.write("text", data["domain"]) : ""
  let packed = head
  let present = 0
  /** Length up to the last field that is not absent. */
  let end = packed.length
  for (const { form, name, usual } of layout) {
    const value = data[name]
    packed += SEPARATOR
    if (value === undefined) {
      if (usual._tag !== "Absent") return null
      continue
    }
    present++
    const isUsual =
      usual._tag === "Value"
        ? isSame(value, usual.value)
        : usual._tag === "Derived" && value === derive(usual.from, stream_id, meta.actor, domain)
    if (!isUsual) packed += Tokens.write(form, value)
    end = packed.length
  }
  // Postgres refuses a NUL in JSON, and it must not come in here escaped.
  if (present !== Object.keys(data).length || packed.includes(NUL)) return null
  // Absent fields at the end take no bytes, as in a row that is older than they are.
  return packed.slice(0, end)
}

/** Whether two values are the same; of arrays and objects, only empty ones. */
const isSame = (value: unknown, usual: unknown): boolean => {
  if (value === usual) return true
  if (Array.isArray(usual)) return Array.isArray(value) && value.length === 0
  if (typeof usual !== "object" || usual === null || typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return false
  for (const _ in value) return false
  return true
}

const derive = (
  from: Layout.Derivation,
  stream_id: string,
  actor: Meta["actor"],
  /** Token of the domain. */
  domain: string,
): string | null => {
  switch (from) {
    case "stream id":
      return stream_id
    case "message id":
      return `<${stream_id}@${domain}>`
    case "key of the actor":
      return actor.type === "api_key" ? actor.id : null
  }
}

const packMeta = (meta: Meta): string | undefined => {
  if (Object.keys(meta).length !== Layout.HEAD.length) return undefined
  const { actor, address, causation_id, correlation_id, request_id, schema_version } = meta
  const tokens = [
    schema_version === FIRST_VERSION ? "" : Tokens.write("number", schema_version),
    packActor(actor),
    address === null ? "" : Tokens.write("text", address),
    request_id === null ? "" : Tokens.write("text", request_id),
    correlation_id === request_id ? "" : Tokens.write("text", correlation_id),
    causation_id === null ? "" : Tokens.write("text", causation_id),
  ]
  return tokens.join(SEPARATOR)
}

const packActor = (actor: Meta["actor"]): string => {
  if (actor.type === "system" && actor.id === null) return ""
  const isKey = actor.type === "api_key" && actor.id?.startsWith(KEY_PREFIX) === true
  return Tokens.write("text", isKey ? actor.id : actor)
}

/** Returns the `data` and the `meta` of a packed event. */
export const unpack = (type: string, stream_id: string, packed: PackedEvent): { data: Data; meta: Meta } => {
  const tokens = tokensOf(packed)
  const meta = metaOf(tokens)
  return { meta, data: dataOf(type, stream_id, tokens) }
}

/** Returns the `data` of a packed event, and the version of its schema. */
export const unpackData = (type: string, stream_id: string, packed: PackedEvent) => {
  const tokens = tokensOf(packed)
  return { data: dataOf(type, stream_id, tokens), schema_version: schemaVersionOf(tokens) }
}

/** Tokens by their number, from 0; undefined for those that the row does not have. */
export interface PackedTokens {
  readonly at: (nth: number) => string | undefined
}

export const tokensOf = (packed: PackedEvent): ReadonlyArray<string> => packed.split(SEPARATOR)
export const schemaVersionOf = (tokens: PackedTokens): number => versionOf(tokens.at(0) ?? "")

/** Reads the first tokens, in the order of `Layout.HEAD`. */
const metaOf = (tokens: ReadonlyArray<string>): Meta => {
  const [version = "", actor = "", address = "", request = "", correlation = "", causation = ""] = tokens
  const request_id = textOf(request)
  return {
    actor: actorOf(actor),
    address: textOf(address),
    request_id,
    causation_id: textOf(causation),
    correlation_id: correlation === "" ? request_id : textOf(correlation),
    schema_version: versionOf(version),
  }
}

const textOf = (token: string): string | null => (token === "" ? null : (Tokens.read("text", token) as string))

const versionOf = (token: string): number => (token === "" ? FIRST_VERSION : (Tokens.read("number", token) as number))

const actorOf = (token: string): Meta["actor"] => {
  if (token === "") return { id: null, type: "system" }
  return token.startsWith(KEY_PREFIX) ? { id: token, type: "api_key" } : (Tokens.read("text", token) as Meta["actor"])
}

/** Fields of a layout in the order of `jsonb`, each with the number of its token. */
export interface Reading extends Layout.PackedField {
  readonly nth: number
}
export const readings: ReadonlyMap<string, ReadonlyArray<Reading>> = new Map<string, ReadonlyArray<Reading>>(
  Object.entries(Layout.LAYOUTS).map(([type, layout]) => [
    type,
    layout
      .map((field, nth): Reading => ({ ...field, nth: Layout.HEAD.length + nth }))
      .sort((a, b) => Tokens.compareKeys(a.name, b.name)),
  ]),
)
const ACTOR = Layout.headTokenOf("actor") - 1
const DOMAIN = Layout.tokenOf("EmailQueued", "domain") - 1

const dataOf = (type: string, stream_id: string, tokens: ReadonlyArray<string>): Record<string, unknown> => {
  const layout = readings.get(type)
  if (layout === undefined) throw new Error(`a packed event has the unknown type ${type}`)
  const data: Record<string, unknown> = {}
  for (const field of layout) {
    const value = valueOf(field, stream_id, tokens)
    if (value !== undefined) data[field.name] = value
  }
  return data
}

/** Returns the value of a field, undefined if it is absent. */
export const valueOf = ({ form, nth, usual }: Reading, stream_id: string, tokens: PackedTokens): unknown => {
  const token = tokens.at(nth)
  // The row is older than the field.
  if (token === undefined) return undefined
  if (token !== "") return Tokens.read(form, token)
  switch (usual._tag) {
    case "Value":
      return ownCopy(usual.value)
    case "Derived":
      return derive(usual.from, stream_id, actorOf(tokens.at(ACTOR) ?? ""), tokens.at(DOMAIN) ?? "")
    case "Absent":
      return undefined
  }
}

/** Returns a value that no other event shares. */
const ownCopy = (value: unknown): unknown =>
  Array.isArray(value) ? [] : typeof value === "object" && value !== null ? {} : value

/** The columns `data`, `meta` and `packed` of an event: they hold JSON, or the packed event. */
interface Columns {
  readonly data: Data | null
  readonly meta: Meta | null
  readonly packed: PackedEvent | null
}

/** A row of events as SQL returns it, for a reader who wants these fields. */
export type Row<S extends Readable = Stored> = Omit<S, "data" | "meta"> & Columns

/** Returns the row with its `data` and `meta`, however it holds them. */
export const open = <R extends Columns & Pick<Readable, "type" | "stream_id">>({
  data,
  meta,
  packed,
  stream_id,
  type,
  ...others
}: R) => ({ ...others, type, stream_id, ...opened(type, stream_id, { data, meta, packed }) })

const opened = (type: string, stream_id: string, { data, meta, packed }: Columns): { data: Data; meta: Meta } => {
  if (packed !== null) return unpack(type, stream_id, packed)
  // A CHECK of the table rules it out.
  if (data === null || meta === null) throw new Error(`an event of ${stream_id} is neither packed nor JSON`)
  return { data, meta }
}

export const columnsOf = (event: Readable): Columns => {
  const packed = pack(event)
  return packed === null ? { data: event.data, meta: event.meta, packed } : { data: null, meta: null, packed }
}
