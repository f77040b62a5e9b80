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

const keyHash = (table: MovedTables.MovedTable, alias: string): string =>
  `hashtextextended(${rowOf(table.key, alias)}::text, 0)`

/** SQL of the number of a row's part. */
const part = (table: MovedTables.MovedTable, alias: string): string => `(${keyHash(table, alias)} & ${PARTS - 1})::int`

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

/** When the server was started, in microseconds. A promoted standby was started at another time than its primary. */
const STARTED = "(SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint)"

/**
 * Reads the versions of the rows of accounts: sums of hashes of their keys, of the transactions that wrote them, and of the start of
 * the server. They are only to be compared with those of the same server, and all differ if it has failed over meanwhile: the new
 * primary gives the numbers of transactions that it lost to others. Reads no values that are stored outside the row, such as large
 * content.
 */
export const read = (sql: Sql, source: Source, table: MovedTables.MovedTable) =>
  sumsBy(sql, source, table, `hashint8extended(key, xmin::text::bigint # ${STARTED})`, "r.xmin")

/** Reads the sums of the hashes of whole rows, of some parts or of all. */
export const readSums = (sql: Sql, source: Source, table: MovedTables.MovedTable, parts?: ReadonlyArray<number>) =>
  sumsBy(sql, source, table, "row_hash", `${hash(table, "r")} AS row_hash`, parts)

/** Sums a value, made of a column of the rows and of the hash of their key, which is made once for each row. */
const sumsBy = (
  sql: Sql,
  { accounts, schema }: Source,
  table: MovedTables.MovedTable,
  value: string,
  column: string,
  parts?: ReadonlyArray<number>,
) =>
  Effect.map(
    sql<Sum & { readonly part: number }>`
      SELECT (key & ${sql.literal(String(PARTS - 1))})::int AS part, count(*)::int AS rows, sum(${sql.literal(value)})::text AS sum
      FROM (SELECT ${sql.literal(keyHash(table, "r"))} AS key, ${sql.literal(column)} FROM ${sql(`${schema}.${table.name}`)} r
        WHERE ${MovedTables.isOf(sql, table, "r", accounts)} AND ${isIn(sql, table, "r", parts)} OFFSET 0) AS keyed
      GROUP BY 1`,
    (rows): PartSums => new Map(rows.map((row) => [row.part, row])),
  )

/** Returns the parts of which two maps do not have the same. */
export const differing = (one: PartSums, other: PartSums): ReadonlyArray<number> =>
  [...new Set([...one.keys(), ...other.keys()])].filter((part) => {
    const [left, right] = [one.get(part), other.get(part)]
    return left?.rows !== right?.rows || left?.sum !== right?.sum
  })
