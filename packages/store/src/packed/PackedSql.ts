import type { Fragment } from "effect/sql/Statement"
import * as Layout from "./Layout.ts"
import type { Client } from "../postgres/Sql.ts"

/** Fragments that read fields of a row of events in SQL, whether it is packed or JSON. `row` is the name of the table. */

const column = (row: string, name: string): string => (row === "" ? name : `${row}.${name}`)

/** Columns from which `PackedEvent.open` makes an event. */
export const columns = (sql: Client<unknown>, row = ""): Fragment =>
  sql.literal(["data", "meta", "packed"].map((name) => column(row, name)).join(", "))

/** Size of an event in its row. Postgres knows that of a packed event without reading its text. */
export const bytes = (sql: Client<unknown>, row: string): Fragment =>
  sql.literal(`octet_length(coalesce(${column(row, "packed")}, ${column(row, "data")}::text))`)

const call = (sql: Client<unknown>, name: string, row: string, token: number, field: string): Fragment =>
  sql.literal(`${name}(${column(row, "packed")}, ${token}, ${column(row, "data")}, '${field}')`)

/** A field as text. Null if a packed event leaves it out, because it has its usual value (`Layout.LAYOUTS`). */
export const field = (sql: Client<unknown>, row: string, type: string, name: string): Fragment =>
  call(sql, "event_field", row, Layout.tokenOf(type, name), name)

/** A part of `meta` as text; null if it has its usual value. */
export const metaField = (sql: Client<unknown>, row: string, name: (typeof Layout.HEAD)[number]): Fragment =>
  sql.literal(`event_field(${column(row, "packed")}, ${Layout.headTokenOf(name)}, ${column(row, "meta")}, '${name}')`)

/** A set with the items of a list, as JSON. */
export const items = (sql: Client<unknown>, row: string, type: string, name: string): Fragment =>
  call(sql, "event_items", row, Layout.tokenOf(type, name), name)

/** The hashes of the body and of the attachments of a queued message, a set of texts. */
export const contentHashes = (sql: Client<unknown>, row: string): Fragment =>
  sql.literal(
    `content_hashes(${column(row, "packed")}, ${Layout.tokenOf("EmailQueued", "content")}, ${column(row, "data")})`,
  )

/** When an event happened. Every event of a message has its time in the same place. */
export const occurredAt = (sql: Client<unknown>, row: string): Fragment =>
  sql`coalesce(${field(sql, row, "EmailQueued", "created_at")}, ${sql.literal(column(row, "data"))} ->> 'at')`

/** The text in which an erasure searches an address: all of the event. */
export const searched = (sql: Client<unknown>): Fragment => sql.literal("coalesce(packed, data::text)")
