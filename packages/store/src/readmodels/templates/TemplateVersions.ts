import * as NamedParts from "@waybill/domain/template/NamedParts"
import * as Template from "@waybill/domain/template/Template"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import * as ReadModel from "../ReadModel.ts"
import { Sql } from "../../postgres/Sql.ts"

/** A published version without its source. */
export interface VersionRecord {
  readonly number: number
  readonly notes: string | null
  readonly created_by: string | null
  readonly published_at: Timestamp
}

export const readModel = ReadModel.make({
  name: "template_versions",
  stream: Template.stream,
  key: ["account_id", "template_id", "number"],
  changes: ["version", "record", "source", "uses"],
  rememberedEvents: TemplateState.REMEMBERED_EVENTS,
  rows: ({ account_id, stream_id: template_id }, state: Template.State) =>
    state._tag === "NotCreated"
      ? []
      : state.recent.map(({ event, published: { at, created_by, notes, number, source } }) => ({
          account_id,
          template_id,
          number,
          version: event,
          record: { number, notes, created_by, published_at: at },
          source,
          uses: NamedParts.of(source),
        })),
})

export interface Version {
  readonly record: VersionRecord
  readonly source: TemplateState.TemplateSource
}

export const find = Effect.fn("TemplateVersions.find")(function* (account_id: string, id: string, number: number) {
  const sql = yield* Sql
  const rows = yield* sql<Version>`
    SELECT record, source FROM template_versions
    WHERE account_id = ${account_id} AND template_id = ${id} AND number = ${number}::int`
  return Option.fromUndefinedOr(rows[0])
})

/** Versions that one answer lists, newest first. */
export const MAX_LISTED = 200

export const list = Effect.fn("TemplateVersions.list")(function* (account_id: string, id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly record: VersionRecord }>`
    SELECT record FROM template_versions WHERE account_id = ${account_id} AND template_id = ${id}
    ORDER BY number DESC LIMIT ${MAX_LISTED}::int`
  return rows.map(({ record }) => record)
})

/** All versions of a template that have one name, which is that of their notes, or else of their number. */
export interface Named {
  readonly name: string
  readonly first: number
  readonly last: number
  readonly is_active: boolean
}

/** Returns what versions of some names are in all, of which `list` shows the newest. `current` is the one that is sent. */
export const named = Effect.fn("TemplateVersions.named")(function* (
  account_id: string,
  id: string,
  names: ReadonlyArray<string>,
  current: number | null,
) {
  const sql = yield* Sql
  return yield* sql<Named>`
    SELECT name, min(number) AS first, max(number) AS last, bool_or(number = ${current ?? 0}::int) AS is_active FROM (
      SELECT number, coalesce(record ->> 'notes', 'Version ' || number) AS name FROM template_versions
      WHERE account_id = ${account_id} AND template_id = ${id}) AS versions
    WHERE name = ANY(${names}::text[]) GROUP BY name ORDER BY last DESC`
})
