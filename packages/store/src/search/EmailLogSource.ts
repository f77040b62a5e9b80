import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import * as EmailSpan from "./EmailSpan.ts"

type Fragment = Statement.Fragment

/**
 * A list of message ids that an index holds in order. Every query walks one of these, so its cost does not depend on
 * the amount of mail.
 */
export type Source =
  | { readonly _tag: "All" }
  /** A recipient, a tag, or all texts that contain a searched part; with the log above an id that may be incomplete. */
  | { readonly _tag: "Terms"; readonly terms: ReadonlyArray<string>; readonly unreadAbove: string | null }
  /** The spans in which a key sent mail, and the log above an id of which spans may be incomplete. */
  | { readonly _tag: "Key"; readonly apiKey: string; readonly unreadAbove: string }
  /** Messages with one of the statuses, and messages with one of the facets. */
  | { readonly _tag: "Status"; readonly statuses: ReadonlyArray<string>; readonly facets: ReadonlyArray<number> }
  | { readonly _tag: "Domain"; readonly domain: string; readonly statuses: ReadonlyArray<string> }
  | { readonly _tag: "From"; readonly address: string; readonly statuses: ReadonlyArray<string> }

export const all: Source = { _tag: "All" }

/** Ids between two bounds, both exclusive. */
export interface Range {
  readonly account_id: string
  readonly above: string
  readonly below: string
}

export type Order = "newest first" | "oldest first"

/** Number of lists of a source, each of which is in order by itself. */
export const listsOf = (source: Source): number =>
  keysOf(source).length +
  (source._tag === "Status" ? source.facets.length : 0) +
  ("unreadAbove" in source && source.unreadAbove !== null ? 1 : 0)

const keysOf = (source: Source): ReadonlyArray<string> => {
  switch (source._tag) {
    case "All":
    case "Key":
      return [""]
    case "Terms":
      return source.terms
    case "Status":
    case "Domain":
    case "From":
      return source.statuses
  }
}

const logOf = (sql: PgClient.PgClient, { account_id }: Range): Fragment =>
  sql`SELECT id FROM email_log WHERE account_id = ${account_id}`

type Bounds = (column: string) => Fragment

/** Returns the first ids of the list with the key `part.key`. */
const listOf = (
  sql: PgClient.PgClient,
  source: Source,
  range: Range,
  order: Order,
  bounds: Bounds,
  limit: number,
): Fragment => {
  const log = logOf(sql, range)
  switch (source._tag) {
    case "All":
      return sql`${log} AND ${bounds("id")}`
    case "Key":
      return spansOf(sql, source.apiKey, range, order, bounds, limit)
    case "Terms":
      return sql`SELECT email_id AS id FROM email_log_terms
        WHERE account_id = ${range.account_id} AND term = part.key AND ${bounds("email_id")}`
    case "Status":
      return sql`${log} AND status = part.key AND ${bounds("id")}`
    case "Domain":
      return sql`${log} AND domain = ${source.domain} AND status = part.key AND ${bounds("id")}`
    case "From":
      return sql`${log} AND from_address = ${source.address} AND status = part.key AND ${bounds("id")}`
  }
}

/**
 * Returns the first ids of the spans of a key. Each span has a message, so as many spans as ids are enough, and two for
 * those that the range cuts. Spans do not overlap, so that the ids are in order.
 */
const spansOf = (
  sql: PgClient.PgClient,
  apiKey: string,
  range: Range,
  order: Order,
  bounds: Bounds,
  limit: number,
): Fragment => {
  const direction = sql.literal(order === "newest first" ? "DESC" : "ASC")
  return sql`SELECT message.id FROM (
      SELECT span FROM email_key_spans
      WHERE account_id = ${range.account_id} AND api_key_id = ${apiKey}
        AND span >= ${EmailSpan.of(range.above)} AND span <= ${EmailSpan.of(range.below)}
      ORDER BY span ${direction} LIMIT ${limit + 2}::int) AS s
    CROSS JOIN LATERAL (
      ${logOf(sql, range)} AND id > s.span AND id < s.span || '~' AND ${bounds("id")}) AS message
    ORDER BY s.span ${direction}, message.id ${direction} LIMIT ${limit}::int`
}

const lists = (sql: PgClient.PgClient, source: Source, range: Range, order: Order, limit: number): Fragment => {
  const direction = sql.literal(order === "newest first" ? "DESC" : "ASC")
  const bounds: Bounds = (column) =>
    sql`${sql.literal(column)} > ${range.above} AND ${sql.literal(column)} < ${range.below}
      ORDER BY ${sql.literal(column)} ${direction} LIMIT ${limit}::int`
  const byKey = sql`SELECT list.id FROM unnest(${keysOf(source)}::text[]) AS part(key)
    CROSS JOIN LATERAL (${listOf(sql, source, range, order, bounds, limit)}) AS list`
  if ("unreadAbove" in source && source.unreadAbove !== null)
    return sql`(${byKey} UNION ALL
      SELECT unread.id FROM (${logOf(sql, range)} AND id > ${source.unreadAbove} AND ${bounds("id")}) AS unread) AS lists`
  if (source._tag !== "Status" || source.facets.length === 0) return sql`(${byKey}) AS lists`
  // The condition of the partial index is repeated, because Postgres does not derive it from the key.
  return sql`(${byKey} UNION ALL
    SELECT list.id FROM unnest(${source.facets}::int[]) AS part(key)
    CROSS JOIN LATERAL (${logOf(sql, range)} AND facets > 0 AND facets = part.key AND ${bounds("id")}) AS list) AS lists`
}

/** Returns the first ids of a source: as many as requested from each of its lists, then the first of all. */
export const ids = (sql: PgClient.PgClient, source: Source, range: Range, order: Order, limit: number): Fragment => {
  const direction = sql.literal(order === "newest first" ? "DESC" : "ASC")
  // A message may be in several lists: of two of its recipients, or of a tag and a subject.
  return sql`SELECT DISTINCT lists.id FROM ${lists(sql, source, range, order, limit)}
    ORDER BY lists.id ${direction} LIMIT ${limit}::int`
}

/** Counts the ids of each source within the range, up to the cap. */
export const counts = (
  sql: PgClient.PgClient,
  sources: ReadonlyArray<Source>,
  range: Range,
  order: Order,
  cap: number,
) => {
  const each = sources.map(
    (source) => sql`(SELECT count(*)::int FROM (
      SELECT 1 FROM ${lists(sql, source, range, order, cap)} LIMIT ${cap}::int) AS counted)`,
  )
  return sql<{ readonly counts: ReadonlyArray<number> }>`SELECT ARRAY[${sql.csv(each)}] AS counts`
}
