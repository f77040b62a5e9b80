import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as MovedTables from "./MovedTables.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Parts of a table by the hash of its key. Parts that nobody has changed since they were compared are not read again. */
export const PARTS = 4_096

/** The versions of the rows of each part: a sum of hashes of their keys and of the transactions that wrote them. */
export type Versions = ReadonlyMap<number, string>

const rowOf = (columns: ReadonlyArray<string>, alias: string): string =>
  `ROW(${columns.map((column) => `${alias}."${column.replaceAll('"', '""')}"`).join(", ")})`

/** SQL of the number of a row's part. */
export const part = (table: MovedTables.MovedTable, alias: string): string =>
  `(hashtextextended(${rowOf(table.key, alias)}::text, 0) & ${PARTS - 1})::int`

/** SQL of the hash of a whole row. */
export const hash = (table: MovedTables.MovedTable, alias: string): string =>
  `hashtextextended(${rowOf(table.columns, alias)}::text, 0)`

/** The account and the parts of its rows that a COPY takes, as text. */
export const isInText = (table: MovedTables.MovedTable, alias: string, parts: ReadonlyArray<number>): string =>
  `${part(table, alias)} = ANY('{${parts.join(",")}}'::int[])`

/** Condition on rows that they are in some parts; undefined for all. */
export const isIn = (
  sql: Sql,
  table: MovedTables.MovedTable,
  alias: string,
  parts: ReadonlyArray<number> | undefined,
): Fragment => (parts === undefined ? sql`true` : sql`${sql.literal(part(table, alias))} = ANY(${[...parts]}::int[])`)

interface Source {
  /** Schema of the tables. */
  readonly schema: string
  readonly accounts: ReadonlyArray<string>
}

/** Reads the versions of the rows of accounts. Reads no values that are stored outside the row, such as large content. */
export const read = (sql: Sql, source: Source, table: MovedTables.MovedTable) => {
  const version = `hashtextextended(ROW(${rowOf(table.key, "r")}, r.xmin)::text, 0)::numeric`
  return sumsBy(sql, source, table, version)
}

/** Reads the sums of the hashes of whole rows, by part. */
export const readSums = (sql: Sql, source: Source, table: MovedTables.MovedTable) =>
  sumsBy(sql, source, table, `${hash(table, "r")}::numeric`)

const sumsBy = (sql: Sql, { accounts, schema }: Source, table: MovedTables.MovedTable, value: string) =>
  Effect.map(
    sql<{ readonly part: number; readonly sum: string }>`
      SELECT ${sql.literal(part(table, "r"))} AS part, count(*)::text || ' ' || sum(${sql.literal(value)})::text AS sum
      FROM ${sql(`${schema}.${table.name}`)} r WHERE ${MovedTables.isOf(sql, table, "r", accounts)} GROUP BY 1`,
    (rows): Versions => new Map(rows.map(({ part, sum }) => [part, sum])),
  )

/** Returns the parts of which two maps do not have the same. */
export const differing = (one: Versions, other: Versions): ReadonlySet<number> =>
  new Set([...one.keys(), ...other.keys()].filter((part) => one.get(part) !== other.get(part)))
