import { Context, Effect } from "effect"
import type { Sql } from "../postgres/Sql.ts"
import { FIRST, searchPathOf } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell, inCell, TransactionCell } from "../routing/CurrentCell.ts"

/**
 * Runs a transaction that makes, changes or removes tables of the fiber's cell. Where the cell is on a node of Citus, it runs at the
 * coordinator, which alone takes such statements, and its advisory locks are those of that server. A transaction that is under way
 * in the cell then waits for it, and must not hold the tables; elsewhere the work becomes a part of it.
 */
export const transaction = Effect.fnUntraced(function* <A, E, R>(sql: Sql, work: Effect.Effect<A, E, R>) {
  const cell = yield* CurrentCell
  const server = yield* (yield* Cells).serverOf(cell)
  if (server?.isNode !== true) return yield* sql.withTransaction(work)
  const path = sql`SET LOCAL search_path = ${sql.literal(searchPathOf(cell))}`
  const apart = Context.omit(sql.driver.transactionService)
  return yield* inCell(FIRST, sql.withTransaction(Effect.andThen(path, work))).pipe(
    Effect.updateContext((context: Context.Context<R>) => apart(context) as Context.Context<R>),
    Effect.provideService(TransactionCell, undefined),
  )
})
