import { Effect, Exit } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import * as CellDatabase from "../database/CellDatabase.ts"
import * as MoveSteps from "../moves/MoveSteps.ts"
import * as ServerMove from "../moves/ServerMove.ts"
import * as StagedRows from "../moves/StagedRows.ts"
import { Sql } from "../postgres/Sql.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import { Cells, schemaOf } from "../routing/Cells.ts"
import * as Databases from "../routing/Databases.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Directory from "../routing/directory/Directory.ts"
import * as DirectoryRows from "../routing/directory/DirectoryRows.ts"
import * as CellStates from "./CellStates.ts"

const refuse = (message: string) => Effect.fail(new CellSchema.CellRefused({ message }))

/** A move to or from a lost cell. The account is in the other cell. */
interface OpenMove {
  readonly account_id: string
  readonly cell: CellName
}

const openMoves = (sql: Sql, lost: CellName) =>
  sql<OpenMove>`SELECT account_id, cell FROM account_cells WHERE cell <> ${lost} AND ${lost} IN (moving_to, left_cell)`

/** Accounts in the cell may have mail that only a backup or a standby of its server has. */
const refuseInhabited = Effect.fnUntraced(function* (sql: Sql, cell: CellName) {
  const [row] = yield* sql<{ readonly accounts: number }>`
    SELECT count(*)::int AS accounts FROM account_cells WHERE cell = ${cell}`
  const accounts = row?.accounts ?? 0
  if (accounts === 0) return
  const live = accounts === 1 ? "1 account lives" : `${accounts} accounts live`
  return yield* refuse(
    `${live} in the cell ${cell}, and all mail there would be lost: promote a standby of its server or restore a backup, and name it by \`waybill cells address ${cell} --url -\`, or for a node by citus_update_node`,
  )
})

/**
 * Refuses a cell that answers, or that has accounts. Returns the number of moves to or from it that end with it: also those that an
 * earlier run, which was stopped after it had removed the cell, has left open.
 */
export const examine = Effect.fn("LostCell.examine")(
  function* (name: string) {
    const sql = yield* Sql
    const { names, refresh, serverOf } = yield* Cells
    yield* refresh
    const open = (yield* openMoves(sql, name)).length
    if (open > 0 && !(yield* names).includes(name)) return open
    const cell = yield* CellStates.requireCell(name)
    const server = yield* serverOf(cell)
    if (server === undefined)
      return yield* refuse(`the cell ${cell} is a schema of the first server, and cannot be lost alone`)
    if (yield* CellDatabase.isAnswering(server))
      return yield* refuse(
        `the server of ${cell} answers, so it is not lost: close the cell without --lost, or stop what answers at its address`,
      )
    yield* refuseInhabited(sql, cell)
    return open
  },
  (work) => inCell(FIRST, work),
)

/**
 * Removes a cell that `examine` has found to be lost. Accounts that were moving to it stay where they are, and those that have left it
 * are not cleaned up there. May be stopped and run again.
 */
export const remove = Effect.fn("LostCell.remove")(
  function* (cell: CellName) {
    const sql = yield* Sql
    const { refresh, serverOf } = yield* Cells
    const server = yield* serverOf(cell)
    const forget = Effect.gen(function* () {
      yield* sql`LOCK TABLE account_cells IN SHARE ROW EXCLUSIVE MODE`
      yield* refuseInhabited(sql, cell)
      const moves = yield* sql<OpenMove & { readonly is_free: boolean }>`
        SELECT account_id, cell, pg_try_advisory_xact_lock(${DirectoryRows.MOVES}::int, hashtext(account_id)) AS is_free
        FROM account_cells WHERE ${cell} IN (moving_to, left_cell)`
      const moved = moves.find(({ is_free }) => !is_free)
      if (moved !== undefined) return yield* refuse(`another process is moving ${moved.account_id}: stop it first`)
      // Until all processes have noticed, the accounts count as leaving the cell: one that still reaches its server works on no row
      // of theirs there.
      yield* sql`
        UPDATE account_cells SET moving_to = cell, left_cell = ${cell}, step = 'cleaning', changed_at = now()
        WHERE ${cell} IN (moving_to, left_cell)`
      yield* sql`DELETE FROM cells WHERE name = ${cell}`
      // Citus drops no schema whose node is away. Closing the cell again does that once it can.
      if (server?.isNode === true) yield* CellSchema.markRemoved(sql, cell)
      yield* CellSchema.noteChange(sql)
    })
    yield* sql.withTransaction(forget)
    yield* refresh
    yield* Effect.sleep(Directory.NOTICED_AFTER)
    yield* endMoves(sql, cell)
  },
  (work) => inCell(FIRST, work),
)

/** Ends the moves to or from a removed cell in the cells that their accounts are in. */
const endMoves = Effect.fnUntraced(function* (sql: Sql, lost: CellName) {
  const silent = new Set<CellName>()
  for (const { account_id, cell } of yield* openMoves(sql, lost)) {
    const schema = yield* schemaOf(cell)
    const staying = Effect.timeout(inCell(cell, MoveSteps.stay(sql, schema, account_id)), Databases.ANSWER_WITHIN)
    const ending = Effect.gen(function* () {
      yield* staying
      yield* StagedRows.drop(yield* ServerMove.sideOf(sql, cell, schema), account_id)
      yield* MoveSteps.finish(sql, account_id)
    })
    if (silent.has(cell) || Exit.isFailure(yield* Effect.exit(ending))) silent.add(cell)
  }
  if (silent.size === 0) return
  const names = [...silent].join(", ")
  return yield* refuse(
    `the cell ${lost} is removed, but moves of accounts in ${names} have not ended, because ${names} does not answer: run the command again when it does`,
  )
})
