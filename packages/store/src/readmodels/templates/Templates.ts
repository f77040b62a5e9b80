import * as NamedParts from "@waybill/domain/template/NamedParts"
import * as Template from "@waybill/domain/template/Template"
import type * as TemplateState from "@waybill/domain/template/TemplateState"
import type { TemplateId } from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { factByName, type OfAccount } from "../../log/Fact.ts"
import * as Arrays from "../../postgres/Arrays.ts"
import * as ReadModel from "../ReadModel.ts"
import { Sql } from "../../postgres/Sql.ts"

/** A template without its sources. */
export interface TemplateRecord {
  readonly id: TemplateId
  readonly kind: TemplateState.TemplateKind
  readonly alias: string | null
  readonly name: string
  readonly description: string | null
  readonly status: "draft" | "published" | "archived"
  readonly current_version: number | null
  readonly versions: number
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export const recordOf = (template: TemplateState.ExistingTemplate): TemplateRecord => ({
  id: template.template_id,
  kind: template.kind,
  alias: template.alias,
  name: template.name,
  description: template.description,
  status: template.archived ? "archived" : template.current === 0 ? "draft" : "published",
  current_version: template.current === 0 ? null : template.current,
  versions: template.versions,
  created_at: template.created_at,
  updated_at: template.updated_at,
})

export const readModel = ReadModel.make({
  name: "templates",
  stream: Template.stream,
  key: ["account_id", "id"],
  changes: ["version", "alias", "kind", "archived", "current", "record", "draft", "uses"],
  rows: ({ account_id, stream_id: id, version }, state: Template.State) => {
    if (state._tag === "NotCreated") return []
    const { alias, archived, current, draft, kind } = state
    const uses = NamedParts.of(draft)
    return [{ account_id, id, version, alias, kind, archived, current, record: recordOf(state), draft, uses }]
  },
})

/** Ids of the templates that have an alias. */
export const fact = factByName(
  ({ aliases }) => aliases,
  (sql, { accounts, names }) => sql`
  SELECT t.account_id, t.alias, t.id
  FROM unnest(${Arrays.texts(accounts)}, ${Arrays.texts(names)}) AS wanted(account_id, alias)
  JOIN templates t USING (account_id, alias) WHERE NOT t.archived`,
  ({ alias }: OfAccount & { readonly alias: string; readonly id: string }) => alias,
  (row) => row?.id,
)

export interface ListQuery {
  readonly account_id: string
  readonly limit: number
  readonly after?: string
  readonly kind?: TemplateState.TemplateKind
  readonly status?: TemplateRecord["status"]
  /** Alias of a layout or partial that they use, in the draft or in the version that is sent. */
  readonly uses?: string
  readonly q?: string
}

/** How the draft of a template and its parts stand to what is sent. */
export interface Standing {
  /** Whether the draft differs from the version that is sent; always before the first. */
  readonly draft_differs: boolean
  /** Layouts and partials that the version that is sent uses, and that are not there. */
  readonly missing_parts: ReadonlyArray<string>
  /** Languages of the draft besides its own. */
  readonly languages: ReadonlyArray<string>
}

/** The version that is sent, published last and not followed by any change, is the draft: the texts need not be read. */
const standing = (sql: Sql): Fragment =>
  sql.literal(`CASE WHEN sent.record ->> 'published_at' = t.record ->> 'updated_at' AND sent.number = (t.record ->> 'versions')::int
      THEN false ELSE coalesce(sent.source <> t.draft, true) END AS draft_differs,
    ARRAY(SELECT name FROM unnest(sent.uses) AS used (name) WHERE NOT EXISTS (
      SELECT FROM templates p WHERE p.account_id = t.account_id AND p.alias = name AND p.kind <> 'template'
        AND NOT p.archived AND p.current > 0)) AS missing_parts,
    ARRAY(SELECT jsonb_object_keys(t.draft -> 'locales') ORDER BY 1) AS languages`)

const withSent = (sql: Sql): Fragment =>
  sql.literal(`templates t LEFT JOIN template_versions sent
    ON sent.account_id = t.account_id AND sent.template_id = t.id AND sent.number = t.current`)

export type Listed = Standing & { readonly record: TemplateRecord }

/** Lists templates, newest first. Archived ones come only if they are asked for. */
export const list = Effect.fn("Templates.list")(function* (query: ListQuery) {
  const { account_id, after, kind, limit, q, status, uses } = query
  const sql = yield* Sql
  const none = sql.literal("")
  const rows = yield* sql<Listed>`
    SELECT t.record, ${standing(sql)} FROM ${withSent(sql)} WHERE t.account_id = ${account_id}
      ${after === undefined ? none : sql`AND t.id < ${after}`}
      ${kind === undefined ? none : sql`AND t.kind = ${kind}`}
      ${status === undefined ? sql`AND NOT t.archived` : sql`AND t.record ->> 'status' = ${status}`}
      ${uses === undefined ? none : usesPart(sql, uses)}
      ${q === undefined ? none : sql`AND strpos(lower(concat_ws(' ', t.alias, t.record ->> 'name')), ${q.toLowerCase()}) > 0`}
    ORDER BY t.id DESC LIMIT ${limit + 1}::int`
  const page = rows.slice(0, limit)
  const next = rows.length > limit ? (page.at(-1)?.record.id ?? null) : null
  return { data: page, has_more: next !== null, next_cursor: next }
})

const usesPart = (sql: Sql, alias: string): Fragment => sql`AND (${alias} = ANY(t.uses) OR ${alias} = ANY(sent.uses))`

/** Users of a layout or partial that one answer names. */
export const MAX_USERS = 100

/** Returns the names of what uses a part, in the draft or in the version that is sent; not of what is archived. */
export const usersOf = Effect.fn("Templates.usersOf")(function* (account_id: string, id: string, alias: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly name: string }>`
    SELECT coalesce(t.alias, t.id) AS name FROM ${withSent(sql)}
    WHERE t.account_id = ${account_id} AND NOT t.archived AND t.id <> ${id} ${usesPart(sql, alias)}
    ORDER BY name LIMIT ${MAX_USERS}::int`
  return rows.map(({ name }) => name)
})

/** A template with its draft. */
interface Drafted {
  readonly record: TemplateRecord
  readonly draft: TemplateState.TemplateSource
}
export type Found = Drafted & Standing

const named = (sql: Sql, name: string): Fragment =>
  name.startsWith("tpl_") ? sql`t.id = ${name}` : sql`t.alias = ${name} AND NOT t.archived`

/** Finds a template by its id or alias. */
export const find = Effect.fn("Templates.find")(function* (account_id: string, name: string) {
  const sql = yield* Sql
  const rows = yield* sql<Found>`
    SELECT t.record, t.draft, ${standing(sql)} FROM ${withSent(sql)}
    WHERE t.account_id = ${account_id} AND ${named(sql, name)}`
  return Option.fromUndefinedOr(rows[0])
})

/** A template as a push finds it. */
export interface Pushable extends Drafted {
  /** Number of its events. */
  readonly version: number
  /** Whether its draft is the version that is sent. */
  readonly is_sent: boolean
}

/** Finds the template that has an alias, for a push. */
export const findPushable = Effect.fn("Templates.findPushable")(function* (account_id: string, alias: string) {
  const sql = yield* Sql
  const rows = yield* sql<Pushable>`
    SELECT t.record, t.draft, t.version, coalesce(v.source = t.draft, false) AS is_sent FROM templates t
    LEFT JOIN template_versions v ON v.account_id = t.account_id AND v.template_id = t.id AND v.number = t.current
    WHERE t.account_id = ${account_id} AND t.alias = ${alias} AND NOT t.archived`
  return rows[0]
})

/** Returns the ids of all templates that are not archived. */
export const ids = Effect.fn("Templates.ids")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly id: string }>`
    SELECT id FROM templates WHERE account_id = ${account_id} AND NOT archived`
  return rows.map(({ id }) => id)
})

/** Returns the layouts of the templates of an account, by the ids of those that have one. */
export const layouts = Effect.fn("Templates.layouts")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly id: string; readonly layout: string }>`
    SELECT id, draft ->> 'layout' AS layout FROM templates
    WHERE account_id = ${account_id} AND NOT archived AND draft ->> 'layout' IS NOT NULL`
  return new Map(rows.map(({ id, layout }) => [id, layout]))
})
