import { Effect } from "effect"
import * as MovedTables from "./MovedTables.ts"
import * as Leaves from "../transparency/Leaves.ts"
import * as RowVersions from "./RowVersions.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Rows that are copied or deleted in one statement, so that none takes long. */
export const CHUNK_ROWS = 20_000

export interface Copy {
  /** Schemas of the rows and of their copies, on the server of the statements. */
  readonly from: string
  readonly to: string
  /** The account, and its test account. */
  readonly accounts: ReadonlyArray<string>
}

const quoted = (names: ReadonlyArray<string>, alias = "") =>
  names.map((name) => `${alias}"${name.replaceAll('"', '""')}"`).join(", ")

/** TableParts of each table to copy or compare, by its name; of a table that is not named, none. Absent: all of all tables. */
export type TableParts = ReadonlyMap<string, ReadonlyArray<number>>

const statements = (
  sql: Sql,
  { accounts, from, to }: Copy,
  table: MovedTables.MovedTable,
  parts?: ReadonlyArray<number>,
) => {
  const key = quoted(table.key)
  const old = sql(`${from}.${table.name}`)
  const copy = sql(`${to}.${table.name}`)
  const isOf = (alias: string) =>
    sql`${MovedTables.isOf(sql, table, alias, accounts)} AND ${RowVersions.isIn(sql, table, alias, parts)}`
  const isSame = sql.literal(table.key.map((column) => `o."${column}" = n."${column}"`).join(" AND "))
  const hash = (alias: string) => sql.literal(RowVersions.hash(table, alias))
  return {
    // Rows of the other cell are read first, because Citus joins its tables with others only through a stored result.
    removeStale: sql`
      WITH o AS MATERIALIZED (SELECT ${sql.literal(quoted(table.key, "o."))}, ${hash("o")} AS row_hash FROM ${old} o WHERE ${isOf("o")})
      DELETE FROM ${copy} n WHERE ${isOf("n")}
        AND NOT EXISTS (SELECT FROM o WHERE ${isSame} AND o.row_hash = ${hash("n")})`,
    addMissing: (limit: number) => sql<{ readonly rows: number }>`
      WITH n AS MATERIALIZED (SELECT ${sql.literal(key)} FROM ${copy} n WHERE ${isOf("n")}),
      copied AS (
        INSERT INTO ${copy} (${sql.literal(quoted(table.columns))})
        SELECT ${sql.literal(quoted(table.columns, "o."))} FROM ${old} o
        WHERE ${isOf("o")} AND NOT EXISTS (SELECT FROM n WHERE ${isSame}) LIMIT ${limit}::int
        RETURNING 1)
      SELECT count(*)::int AS rows FROM copied`,
    deleteOld: sql<{ readonly rows: number }>`
      WITH gone AS (DELETE FROM ${old} WHERE (${sql.literal(key)}) IN (
        SELECT ${sql.literal(quoted(table.key, "o."))} FROM ${old} o WHERE ${isOf("o")} LIMIT ${CHUNK_ROWS}::int) RETURNING 1)
      SELECT count(*)::int AS rows FROM gone`,
  }
}

/** Returns the tables with parts to copy or compare. */
export const within = (tables: ReadonlyArray<MovedTables.MovedTable>, parts: TableParts | undefined) =>
  parts === undefined ? tables : tables.filter(({ name }) => (parts.get(name)?.length ?? 0) > 0)

/** Makes the copies of an account's rows equal to its rows, and returns the number of rows it copied. */
export const copyAll = Effect.fnUntraced(function* (
  sql: Sql,
  copy: Copy,
  tables: ReadonlyArray<MovedTables.MovedTable>,
  parts?: TableParts,
) {
  const copied = within(tables, parts)
  for (const table of copied.toReversed()) yield* statements(sql, copy, table, parts?.get(table.name)).removeStale
  let count = 0
  for (const table of copied) {
    const { addMissing } = statements(sql, copy, table, parts?.get(table.name))
    for (let rows = CHUNK_ROWS; rows === CHUNK_ROWS; count += rows) rows = (yield* addMissing(CHUNK_ROWS))[0]?.rows ?? 0
  }
  return count
})

/** Deletes the rows of the account in the cell that it left, a part at a time. */
export const deleteOld = Effect.fnUntraced(function* (
  sql: Sql,
  copy: Copy,
  tables: ReadonlyArray<MovedTables.MovedTable>,
) {
  yield* deleteLeaves(sql, copy)
  let deleted = 0
  for (const table of tables.toReversed())
    for (let rows = CHUNK_ROWS; rows === CHUNK_ROWS; deleted += rows)
      rows = (yield* statements(sql, copy, table).deleteOld)[0]?.rows ?? 0
  return deleted
})

/** Forgets the salts of the account, whose leaves stay in the tree of the cell. */
const deleteLeaves = Effect.fnUntraced(function* (sql: Sql, { accounts, from }: Copy) {
  for (const account_id of accounts) {
    let after = ""
    for (let more = true; more;) {
      const streams = yield* sql<{ readonly stream_id: string }>`
        SELECT DISTINCT stream_id FROM ${sql(`${from}.events`)}
        WHERE account_id = ${account_id} AND stream_id > ${after} ORDER BY stream_id LIMIT ${CHUNK_ROWS}::int`
      yield* Leaves.remove(
        sql,
        streams.map(({ stream_id }) => Leaves.keyOf({ account_id, stream_id })),
      )
      after = streams.at(-1)?.stream_id ?? after
      more = streams.length === CHUNK_ROWS
    }
  }
})
