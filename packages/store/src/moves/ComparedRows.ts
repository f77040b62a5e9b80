import { Effect } from "effect"
import * as MovedRows from "./MovedRows.ts"
import type { MovedTable } from "./MovedTables.ts"
import * as RowVersions from "./RowVersions.ts"
import type { CellName } from "../routing/CellName.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

type Tables = ReadonlyArray<MovedTable>
/** Sums of the parts of each table, by its name. */
type TableSums = ReadonlyMap<string, RowVersions.PartSums>

/** Rows that were compared with their copies, and the versions that both had before. */
export interface ComparedRows {
  readonly old: TableSums
  readonly copy: TableSums
  /** Parts in which they differ. */
  readonly differing: MovedRows.TableParts
}

/** Reads the same of an account's rows and of their copies, each on its own server. */
export type Both = <A>(
  read: (source: RowVersions.Source) => Effect.Effect<A, StoreUnavailable>,
) => Effect.Effect<readonly [A, A], StoreUnavailable>

/** Reads the versions of an account's rows in a schema. */
export const versionsIn = (sql: Sql, source: RowVersions.Source, tables: Tables) =>
  ofEach(tables, (table) => RowVersions.read(sql, source, table))

const sumsIn = (sql: Sql, source: RowVersions.Source, tables: Tables, parts?: MovedRows.TableParts) =>
  ofEach(MovedRows.within(tables, parts), (table) => RowVersions.readSums(sql, source, table, parts?.get(table.name)))

const ofEach = (tables: Tables, read: (table: MovedTable) => Effect.Effect<RowVersions.PartSums, StoreUnavailable>) =>
  Effect.map(
    Effect.forEach(tables, (table) => Effect.map(read(table), (sums) => [table.name, sums] as const)),
    (sums): TableSums => new Map(sums),
  )

/**
 * Compares all rows of an account with their copies, while it is in use. Versions are read first: where they are the same
 * later, what was compared is.
 */
export const take = (sql: Sql, both: Both, tables: Tables) =>
  Effect.map(
    both((source) => Effect.all([versionsIn(sql, source, tables), sumsIn(sql, source, tables)])),
    ([[old, sums], [copy, sumsOfCopy]]): ComparedRows => ({ old, copy, differing: differing(sums, sumsOfCopy) }),
  )

/** Returns the parts of tables that are not known to be equal to their copies, or have other versions now. */
export const changed = (compared: ComparedRows, old: TableSums, copy: TableSums): MovedRows.TableParts => {
  const all = [compared.differing, differing(compared.old, old), differing(compared.copy, copy)]
  return new Map([...old.keys()].map((name) => [name, [...new Set(all.flatMap((parts) => parts.get(name) ?? []))]]))
}

/** Reads the versions again, and returns the parts that have changed. */
export const readChanged = (sql: Sql, both: Both, tables: Tables, compared: ComparedRows) =>
  Effect.map(
    both((source) => versionsIn(sql, source, tables)),
    ([old, copy]) => changed(compared, old, copy),
  )

/** Returns the parts in which the rows of an account and their copies differ. */
export const readDiffering = (sql: Sql, both: Both, tables: Tables) =>
  Effect.map(
    both((source) => sumsIn(sql, source, tables)),
    ([old, copy]) => differing(old, copy),
  )

/** Dies if parts of the rows differ from their copies, so that the account stays. Returns how many rows were compared. */
export const requireSame = Effect.fnUntraced(function* (
  sql: Sql,
  both: Both,
  tables: Tables,
  parts: MovedRows.TableParts,
  from: CellName,
) {
  const [old, copy] = yield* both((source) => sumsIn(sql, source, tables, parts))
  const names = MovedRows.within(tables, differing(old, copy)).map(({ name }) => name)
  if (names.length > 0)
    return yield* Effect.die(new Error(`the copies differ in ${names.join(", ")}: the account stays in ${from}`))
  let rows = 0
  for (const sums of old.values()) for (const sum of sums.values()) rows += sum.rows
  return rows
})

const differing = (one: TableSums, other: TableSums): MovedRows.TableParts =>
  new Map([...one.keys()].map((name) => [name, RowVersions.differing(one.get(name) ?? NONE, other.get(name) ?? NONE)]))

const NONE: RowVersions.PartSums = new Map()
