import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as MovedTables from "./MovedTables.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Parts of a table by the hash of its key. Parts that nobody has changed since they were compared are not read again. */
export const PARTS = 4_096

interface Sum {
  readonly rows: number
  readonly sum: string
}
/** The number of the rows of each part, and the sum of their hashes. */
export type PartSums = ReadonlyMap<number, Sum>

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

export interface Source {
  /** Schema of the tables. */
  readonly schema: string
  readonly accounts: ReadonlyArray<string>
}

/**
 * Reads the versions of the rows of accounts: sums of hashes of their keys and of the transactions that wrote them, which are
 * only to be compared with those of the same server. Reads no values that are stored outside the row, such as large content.
 */
export const read = (sql: Sql, source: Source, table: MovedTables.MovedTable) => {
  const version = `hashtextextended(ROW(${rowOf(table.key, "r")}, r.xmin)::text, 0)::numeric`
  return sumsBy(sql, source, table, version)
}

/** Reads the sums of the hashes of whole rows, of some parts or of all. */
export const readSums = (sql: Sql, source: Source, table: MovedTables.MovedTable, parts?: ReadonlyArray<number>) =>
  sumsBy(sql, source, table, `${hash(table, "r")}::numeric`, parts)

const sumsBy = (
  sql: Sql,
  { accounts, schema }: Source,
  table: MovedTables.MovedTable,
  value: string,
  parts?: ReadonlyArray<number>,
) =>
  Effect.map(
    sql<Sum & { readonly part: number }>`
      SELECT ${sql.literal(part(table, "r"))} AS part, count(*)::int AS rows, sum(${sql.literal(value)})::text AS sum
      FROM ${sql(`${schema}.${table.name}`)} r
      WHERE ${MovedTables.isOf(sql, table, "r", accounts)} AND ${isIn(sql, table, "r", parts)} GROUP BY 1`,
    (rows): PartSums => new Map(rows.map((row) => [row.part, row])),
  )

/** Returns the parts of which two maps do not have the same. */
export const differing = (one: PartSums, other: PartSums): ReadonlyArray<number> =>
  [...new Set([...one.keys(), ...other.keys()])].filter((part) => {
    const [left, right] = [one.get(part), other.get(part)]
    return left?.rows !== right?.rows || left?.sum !== right?.sum
  })
