import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import { Sql } from "../postgres/Sql.ts"
import { FIRST } from "../routing/CellName.ts"
import { CurrentCell, inCell } from "../routing/CurrentCell.ts"
import { schemaOf } from "../routing/Cells.ts"
import * as MoveSteps from "./MoveSteps.ts"

/**
 * Lets accounts go on in the fiber's cell that it refuses although they are in it: a mover died in the last step of their move,
 * before the directory named the other cell. One whose rows are gone has moved, whatever a directory says that was restored.
 */
export const restore = Effect.fn("LeftAccounts.restore")(function* () {
  const sql = yield* Sql
  const cell = yield* CurrentCell
  const left = yield* sql<{ readonly account_id: AccountId }>`
    SELECT account_id FROM left_accounts JOIN accounts USING (account_id)`
  if (left.length === 0) return
  const accounts = left.map(({ account_id }) => account_id)
  const here = yield* inCell(
    FIRST,
    sql<{ readonly account_id: AccountId }>`
      SELECT account_id FROM unnest(${accounts}::text[]) AS a(account_id) LEFT JOIN account_cells c USING (account_id)
      WHERE coalesce(c.cell, ${FIRST}) = ${cell}`,
  )
  for (const { account_id } of here) {
    const restoring = Effect.fnUntraced(function* () {
      // A switch of the dead mover that comes late finds another step, and changes nothing.
      yield* inCell(
        FIRST,
        sql`UPDATE account_cells SET step = 'draining' WHERE account_id = ${account_id} AND step = 'fenced' AND cell = ${cell}`,
      )
      const [row] = yield* inCell(
        FIRST,
        sql<{ readonly cell: string }>`SELECT cell FROM account_cells WHERE account_id = ${account_id}`,
      )
      if ((row?.cell ?? FIRST) !== cell) return
      yield* MoveSteps.stay(sql, yield* schemaOf(cell), account_id)
      yield* inCell(FIRST, CellSchema.noteChange(sql))
    })
    // Its mover lives.
    yield* Effect.catchTag(MoveSteps.alone(sql, account_id, restoring), "CellRefused", () => Effect.void)
  }
})
