import * as Livemode from "@waybill/domain/account/Livemode"
import { Context, Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { CellName } from "../routing/CellName.ts"
import * as MovedTables from "./MovedTables.ts"
import type { Sql } from "../postgres/Sql.ts"

/** An account and its test account. */
const both = (live: string): ReadonlyArray<string> => [live, Livemode.testAccountOf(live)]

/** The directory of cells, for a connection to a cell on another server, and the cell's name there. */
export interface Directory {
  readonly home: Sql
  readonly cell: CellName
}

/** Without it, the connection itself reaches the directory, and its schema is named as the cell. */
export const DirectoryOfCell = Context.Reference<Directory | undefined>(
  "@waybill/store/moves/MovedSince/DirectoryOfCell",
  { defaultValue: () => undefined },
)

const directoryOf = (sql: Sql) =>
  Effect.map(DirectoryOfCell, (directory) =>
    directory === undefined
      ? { home: sql, cell: sql`current_schema()` }
      : { home: directory.home, cell: sql`${directory.cell}` },
  )

/** Accounts that are in a cell, or were made there, or have moved, since a time. */
const changed = (home: Sql, cell: Fragment, since: string) => home<{
  readonly account_id: string
  readonly cell: CellName
  readonly is_here: boolean
}>`
  SELECT account_id, cell, cell = ${cell} AS is_here FROM account_cells
  WHERE changed_at >= ${since}::timestamptz AND (step IS NULL OR step = 'cleaning') ORDER BY account_id`

/** Whether an account is older than a time, by its events in the cell of the connection. */
const isOlder = (sql: Sql, live: string, since: string) =>
  Effect.map(
    sql`SELECT FROM events WHERE account_id = ANY(${both(live)}::text[]) AND recorded_at < ${since}::timestamptz LIMIT 1`,
    ({ length }) => length > 0,
  )

/** A version of a read model in the cell of a connection, and when it was begun. */
export interface BegunTable {
  readonly table: string
  readonly begun: string
}

/**
 * Finds the accounts that came into the cell of a connection, or left it, since a version of a read model was begun: the version
 * lacks their rows, or still has them.
 */
export const find = Effect.fnUntraced(function* (sql: Sql, { begun, table }: BegunTable) {
  const moved: Array<string> = []
  const { cell, home } = yield* directoryOf(sql)
  for (const { account_id, is_here } of yield* changed(home, cell, begun))
    if (yield* is_here ? isOlder(sql, account_id, begun) : hasRows(sql, table, both(account_id))) moved.push(account_id)
  return moved
})

/** Finds the accounts that have rows in the cell of a connection and are in another one. */
export const strays = (sql: Sql) =>
  Effect.flatMap(directoryOf(sql), ({ cell, home }) =>
    Effect.map(
      home<{ readonly account_id: string }>`
        SELECT account_id FROM account_cells WHERE moving_to IS NOT NULL
          AND CASE step WHEN 'cleaning' THEN left_cell ELSE moving_to END = ${cell}`,
      (rows) => rows.map(({ account_id }) => account_id),
    ),
  )

const isByKey = (sql: Sql, table: string) =>
  Effect.map(
    sql<{ readonly is_by_key: boolean }>`
      SELECT atttypid = 'uuid'::regtype AS is_by_key FROM pg_attribute
      WHERE attrelid = ${table}::regclass AND attname = 'account_id'`,
    ([row]) => row?.is_by_key === true,
  )

const hasRows = Effect.fnUntraced(function* (sql: Sql, table: string, accounts: ReadonlyArray<string>) {
  const isOf = MovedTables.isOf(sql, { isByKey: yield* isByKey(sql, table) }, "t", accounts)
  return (yield* sql`SELECT FROM ${sql(table)} t WHERE ${isOf} LIMIT 1`).length > 0
})

/** Condition on the rows `t` of a table that they are of none of the accounts. */
export const notOf = Effect.fnUntraced(function* (sql: Sql, table: string, lives: ReadonlyArray<string>) {
  if (lives.length === 0) return sql`true`
  return sql`NOT (${MovedTables.isOf(sql, { isByKey: yield* isByKey(sql, table) }, "t", lives.flatMap(both))})`
})

/** Moves of accounts at a moment, as the directory has them: the cell of each, and the other one, which has rows of it too. */
export interface Look {
  readonly at: string
  readonly change: bigint
  readonly moving: ReadonlyMap<string, { readonly cell: CellName; readonly other: CellName }>
}

export const look = Effect.fnUntraced(function* (home: Sql) {
  const [now] = yield* home<
    Pick<Look, "at" | "change">
  >`SELECT now()::text AS at, last_value AS change FROM cell_change`
  const moving = yield* home<{ readonly account_id: string; readonly cell: CellName; readonly other: CellName }>`
    SELECT account_id, cell, CASE step WHEN 'cleaning' THEN left_cell ELSE moving_to END AS other FROM account_cells
    WHERE moving_to IS NOT NULL`
  return {
    at: now?.at ?? "",
    change: now?.change ?? 0n,
    moving: new Map(moving.map(({ account_id, ...move }) => [account_id, move])),
  } satisfies Look
})

/** Returns the accounts that have moved from one cell to another since a look. `inCell` has the connections of each cell. */
export const since = Effect.fnUntraced(function* (
  home: Sql,
  before: Look,
  inCell: (cell: CellName) => Sql | undefined,
) {
  if ((yield* look(home)).change === before.change) return []
  const known = [...before.moving.keys()]
  const cells = yield* home<{ readonly account_id: string; readonly cell: CellName }>`
    SELECT account_id, cell FROM account_cells WHERE account_id = ANY(${known}::text[])`
  const moved = cells.flatMap(({ account_id, cell }) =>
    before.moving.get(account_id)?.cell === cell ? [] : [account_id],
  )
  for (const { account_id, cell } of yield* changed(home, home`current_schema()`, before.at)) {
    const sql = inCell(cell)
    // An account of before has moved; a new one was made.
    if (!before.moving.has(account_id) && (sql === undefined || (yield* isOlder(sql, account_id, before.at))))
      moved.push(account_id)
  }
  return moved
})
