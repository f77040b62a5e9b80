import * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Sql } from "../postgres/Sql.ts"

/** Maximum number of rows that one page examines; a page of a rare filter ends early, with a cursor. */
export const MAX_EXAMINED = 10_000

export interface PageQuery {
  readonly limit: number
  /** Id of the last row of the page before, or of the first one of the page after. Newest first. */
  readonly after?: string
  readonly before?: string
  readonly created_after?: Timestamp.Timestamp
  readonly created_before?: Timestamp.Timestamp
}

interface Source {
  /** Ids begin with the time at which the row was made. */
  readonly ids: "InboundId" | "SuppressionId"
  /** A SELECT of `id`, `record` and what the filter reads, whose WHERE an index of ids serves. */
  readonly rows: Fragment
  /** Conditions that no index serves. */
  readonly filter: ReadonlyArray<Fragment>
}

interface Row<Record> {
  readonly examined: number
  readonly last: string | null
  readonly id: string | null
  readonly record: Record
}

/** Reads a page of records, and a cursor if rows may follow. A page before a row is read from the oldest on. */
export const read = <Record>(sql: Sql, query: PageQuery, source: Source) =>
  Effect.map(select<Record>(sql, query, source), (rows) => {
    const { before, limit } = query
    const found = rows.filter(({ id }) => id !== null)
    const page = found.slice(0, limit)
    const { examined = 0, last = null } = rows[0] ?? {}
    const stopped = examined === MAX_EXAMINED ? last : null
    const next = found.length > limit ? (page.at(-1)?.id ?? null) : stopped
    const data = page.map(({ record }) => record)
    return before === undefined
      ? { data, has_more: next !== null, next_cursor: next }
      : { data: data.toReversed(), has_more: next !== null, next_cursor: before }
  })

const select = <Record>(
  sql: Sql,
  { after, before, created_after, created_before, limit }: PageQuery,
  { filter, ids, rows }: Source,
) => {
  const [direction, last] = before === undefined ? [sql`DESC`, sql`min(id)`] : [sql`ASC`, sql`max(id)`]
  const lowest = (time: Timestamp.Timestamp): string => Id.lowest(ids, Date.parse(time))
  const bounds = [
    ...(after === undefined ? [] : [sql`id < ${after}`]),
    ...(before === undefined ? [] : [sql`id > ${before}`]),
    ...(created_after === undefined ? [] : [sql`id >= ${lowest(created_after)}`]),
    ...(created_before === undefined ? [] : [sql`id < ${lowest(created_before)}`]),
  ]
  return sql<Row<Record>>`
    WITH newest AS MATERIALIZED (
      ${rows} AND ${sql.and([sql`true`, ...bounds])}
      ORDER BY id ${direction} LIMIT ${filter.length === 0 ? limit + 1 : MAX_EXAMINED}::int)
    SELECT span.examined, span.last, found.id, found.record
    FROM (SELECT count(*)::int AS examined, ${last} AS last FROM newest) AS span
    LEFT JOIN LATERAL (
      SELECT id, record FROM newest WHERE ${sql.and([sql`true`, ...filter])}
      ORDER BY id ${direction} LIMIT ${limit + 1}::int) AS found ON true
    ORDER BY found.id ${direction}`
}
