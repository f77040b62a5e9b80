import { Effect } from "effect"
import { type CellName, FIRST, hereOf } from "../routing/CellName.ts"
import * as CellDatabase from "../database/CellDatabase.ts"
import type { CellServer } from "../routing/CellKeys.ts"
import { Cells } from "../routing/Cells.ts"
import * as CellSchema from "../cells/CellSchema.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Reachable from "../routing/Reachable.ts"
import * as Directory from "../routing/directory/Directory.ts"
import { Sql } from "../postgres/Sql.ts"

export type State = "open" | "full" | "draining"

/** Fails unless there is a cell with this name. */
export const requireCell = Effect.fn("CellStates.requireCell")(function* (name: string) {
  const { names, refresh } = yield* Cells
  yield* refresh
  const cells = yield* names
  if (cells.includes(name)) return name
  return yield* new CellSchema.CellRefused({ message: `there is no cell ${name}; the cells are ${cells.join(", ")}` })
})

/** Says whether a cell takes new accounts. */
export const set = Effect.fn("CellStates.set")(
  function* (cell: CellName, state: State) {
    const sql = yield* Sql
    const { refresh } = yield* Cells
    const change = Effect.andThen(
      sql`UPDATE cells SET state = ${state} WHERE name = ${cell}`,
      CellSchema.noteChange(sql),
    )
    yield* sql.withTransaction(change)
    yield* refresh
  },
  (work) => inCell(FIRST, work),
)

/** Whether a cell has neither accounts, also on their way to it, nor events. */
const isEmpty = Effect.fnUntraced(function* (sql: Sql, cell: CellName, server: CellServer | undefined) {
  const [placed] = yield* sql<{ readonly is_none: boolean }>`
    SELECT NOT EXISTS (SELECT 1 FROM account_cells WHERE ${cell} IN (cell, moving_to, left_cell)) AS is_none`
  if (placed?.is_none !== true) return false
  if (server !== undefined)
    return yield* Effect.mapError(
      CellDatabase.isEmpty(server.url),
      ({ message }) =>
        new CellSchema.CellRefused({ message: `${message.replace(/\.$/u, "")}. ${Reachable.ifLost([cell])}` }),
    )
  const [row] = yield* sql<{ readonly is_empty: boolean }>`
    SELECT NOT EXISTS (SELECT 1 FROM ${sql(cell)}.accounts) AND NOT EXISTS (SELECT 1 FROM ${sql(cell)}.events) AS is_empty`
  return row?.is_empty === true
})

/**
 * Removes a cell if it is empty, and returns whether it did. Its schema goes last, once no process uses it any more: a
 * statement that does not find its table there would use that of the first cell. May be stopped and run again.
 */
export const removeEmpty = Effect.fn("CellStates.removeEmpty")(
  function* (cell: CellName) {
    const sql = yield* Sql
    const { refresh } = yield* Cells
    const server = yield* (yield* Cells).serverOf(cell)
    const isSchema = server === undefined || server.isNode
    if (cell === FIRST || !(yield* isEmpty(sql, cell, server))) return false
    yield* set(cell, "full")
    // A process may be placing an account there.
    yield* Effect.sleep(Directory.NOTICED_AFTER)
    const forget = Effect.gen(function* () {
      yield* sql`LOCK TABLE account_cells IN SHARE ROW EXCLUSIVE MODE`
      if (!(yield* isEmpty(sql, cell, server))) return false
      yield* sql`DELETE FROM cells WHERE name = ${cell}`
      if (isSchema) yield* CellSchema.markRemoved(sql, cell)
      yield* CellSchema.noteChange(sql)
      return true
    })
    if (!(yield* sql.withTransaction(forget))) return false
    yield* refresh
    yield* Effect.sleep(Directory.NOTICED_AFTER)
    // The database of a server of its own is left to the operator.
    if (isSchema) yield* dropSchema(sql, cell)
    return true
  },
  (work) => inCell(FIRST, work),
)

/** Drops the schema of a cell, and what it has at the nodes of Citus alone. */
const dropSchema = Effect.fnUntraced(function* (sql: Sql, cell: CellName) {
  if (yield* CellSchema.isCitus(sql))
    yield* sql`SELECT run_command_on_all_nodes(${`DROP SCHEMA IF EXISTS ${hereOf(cell)} CASCADE`})`
  yield* sql`DROP SCHEMA ${sql(cell)} CASCADE`
})

/** Drops the schema that a removal of a cell left behind when it was stopped. */
export const dropLeftOver = Effect.fn("CellStates.dropLeftOver")(
  function* (name: string) {
    const sql = yield* Sql
    const [row] = yield* sql<{ readonly is_left: boolean }>`
      SELECT obj_description(oid, 'pg_namespace') = ${CellSchema.REMOVED} AS is_left FROM pg_namespace WHERE nspname = ${name}`
    if (row?.is_left !== true) return false
    yield* Effect.sleep(Directory.NOTICED_AFTER)
    yield* dropSchema(sql, name)
    return true
  },
  (work) => inCell(FIRST, work),
)
