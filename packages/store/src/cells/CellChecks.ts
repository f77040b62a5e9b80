import { Effect, Exit } from "effect"
import * as CellDatabase from "../database/CellDatabase.ts"
import { Sql } from "../postgres/Sql.ts"
import type { CellName } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import type { CellServer } from "../routing/CellKeys.ts"
import { inCell } from "../routing/CurrentCell.ts"
import * as Reachable from "../routing/Reachable.ts"

/** Whether a cell can be used, and why not. */
export interface CellCheck {
  readonly name: CellName
  readonly ok: boolean
  readonly problem: string
}

const ofServer = Effect.fnUntraced(function* (server: CellServer) {
  yield* CellDatabase.requireFit(server)
  const pending = yield* CellDatabase.pendingOf(server)
  return pending.length === 0
    ? ""
    : `its schema is older than this release (pending: ${pending.join(", ")}): a process migrates it when it next uses it`
})

const problemIn = Effect.fnUntraced(function* (sql: Sql, cell: CellName) {
  const server = yield* (yield* Cells).serverOf(cell)
  if (server !== undefined) return yield* ofServer(server).pipe(Effect.catch(({ message }) => Effect.succeed(message)))
  return (yield* inCell(cell, Reachable.doesAnswer(sql))) ? "" : "it does not answer"
})

/** Checks every cell: that it answers, is the right database, takes writes, and has the tables of this release. */
export const check = Effect.fn("CellChecks.check")(function* () {
  const sql = yield* Sql
  const { names, refresh } = yield* Cells
  yield* refresh
  const cells = yield* names
  const exits = yield* Effect.forEach(cells, (cell) => Effect.exit(problemIn(sql, cell)), {
    concurrency: "unbounded",
  })
  return cells.map((name, nth): CellCheck => {
    const exit = exits[nth]
    const problem = exit !== undefined && Exit.isSuccess(exit) ? exit.value : "its address cannot be read"
    return { name, ok: problem === "", problem }
  })
})
