import { Effect } from "effect"
import type { Copy, TableParts } from "./MovedRows.ts"
import type { MovedTable } from "./MovedTables.ts"
import * as RowVersions from "./RowVersions.ts"
import type { Sql } from "../postgres/Sql.ts"

/** A table whose rows and copies were compared, and the versions that both had before. */
interface ComparedTable {
  readonly old: RowVersions.Versions
  readonly copy: RowVersions.Versions
  /** TableParts in which they differ. */
  readonly differing: ReadonlySet<number>
}
export type ComparedRows = ReadonlyMap<string, ComparedTable>

const versionsOf = (sql: Sql, { accounts, from, to }: Copy, table: MovedTable) =>
  Effect.all([
    RowVersions.read(sql, { schema: from, accounts }, table),
    RowVersions.read(sql, { schema: to, accounts }, table),
  ])

/**
 * Compares all rows of an account with their copies, while it is in use. Versions are read first: where they are the same
 * later, what was compared is.
 */
export const take = Effect.fnUntraced(function* (sql: Sql, move: Copy, tables: ReadonlyArray<MovedTable>) {
  const compared = new Map<string, ComparedTable>()
  for (const table of tables) {
    const [old, copy] = yield* versionsOf(sql, move, table)
    const sums = yield* RowVersions.readSums(sql, { schema: move.from, accounts: move.accounts }, table)
    const sumsOfCopy = yield* RowVersions.readSums(sql, { schema: move.to, accounts: move.accounts }, table)
    compared.set(table.name, { old, copy, differing: RowVersions.differing(sums, sumsOfCopy) })
  }
  return compared satisfies ComparedRows
})

/** Returns the parts of tables that are not known to be equal to their copies, or have changed since. */
export const changed = Effect.fnUntraced(function* (
  sql: Sql,
  move: Copy,
  tables: ReadonlyArray<MovedTable>,
  compared: ComparedRows,
) {
  const parts = new Map<string, ReadonlyArray<number>>()
  for (const table of tables) {
    const before = compared.get(table.name)
    const [old, copy] = yield* versionsOf(sql, move, table)
    parts.set(table.name, [
      ...new Set([
        ...(before?.differing ?? []),
        ...RowVersions.differing(before?.old ?? NONE, old),
        ...RowVersions.differing(before?.copy ?? NONE, copy),
      ]),
    ])
  }
  return parts satisfies TableParts
})

const NONE: RowVersions.Versions = new Map()
