import { Effect } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"
import * as MoveSteps from "../moves/MoveSteps.ts"
import { Sql } from "../postgres/Sql.ts"
import { Cells } from "../routing/Cells.ts"
import { CurrentCell } from "../routing/CurrentCell.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import * as DirectoryAudit from "./DirectoryAudit.ts"

/**
 * Lets home place accounts in the only cell that they live in, and know their keys, users and tracking hosts. Of an account that lives
 * twice, the copy that home was restored with is the older one: its rows are left to `accounts move`, and count as left behind.
 * Returns how many accounts and names home has learned, and the accounts with such rows.
 */
export const repair = Effect.fn("DirectoryRepair.repair")(function* () {
  const home = yield* HomeSql
  const learned = { accounts: 0, names: 0, left: [] as Array<{ readonly account_id: string; readonly cell: string }> }
  const learn = Effect.fnUntraced(function* (page: DirectoryAudit.UnknownPage, isHomeOlder: boolean) {
    const cell = yield* CurrentCell
    const unplaced = new Set<string>()
    for (const account of page.misplaced) {
      const isPlaced = yield* place(account, isHomeOlder)
      if (isPlaced) learned.accounts++
      else unplaced.add(account.account_id)
      if (isPlaced && account.there !== "nothing") learned.left.push({ account_id: account.account_id, cell })
    }
    const names = page.names.filter(({ account_id }) => !unplaced.has(account_id))
    if (names.length > 0) yield* AccountNames.insert(home, names)
    learned.names += names.length
  })
  const found = yield* DirectoryAudit.auditEach(learn)
  const noted = found.reduce((most, each) => (each.noted > most ? each.noted : most), 0n)
  // Processes that remember a later directory look accounts up again.
  yield* home`SELECT setval('cell_change', ${noted}) AS changes FROM cell_change WHERE last_value < ${noted}`
  yield* CellSchema.noteChange(home)
  yield* (yield* Cells).refresh
  return learned
})

/** Names the fiber's cell as that of an account. Returns whether it is certain that the account is only there. */
const place = Effect.fnUntraced(function* (
  { account_id, placed, there }: DirectoryAudit.Misplaced,
  isHomeOlder: boolean,
) {
  const isOlder = isHomeOlder && (yield* (yield* Cells).serverOf(placed)) === undefined
  if (there === undefined || (there === "account" && !isOlder)) return false
  const cell = yield* CurrentCell
  const home = yield* HomeSql
  const [moving_to, step, left] = there === "nothing" ? [null, null, null] : [cell, "cleaning", placed]
  const placing = home`
    INSERT INTO account_cells (account_id, cell, moving_to, step, left_cell)
    VALUES (${account_id}, ${cell}, ${moving_to}, ${step}, ${left})
    ON CONFLICT (account_id) DO UPDATE SET cell = excluded.cell, moving_to = excluded.moving_to, step = excluded.step,
      left_cell = excluded.left_cell, changed_at = now()`
  return yield* MoveSteps.alone(yield* Sql, account_id, () => Effect.as(placing, true)).pipe(
    Effect.catchTag("CellRefused", () => Effect.succeed(false)),
  )
})
