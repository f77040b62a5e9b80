import * as Livemode from "@waybill/domain/account/Livemode"
import { Effect } from "effect"
import * as DirectoryNames from "../readmodels/DirectoryNames.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as CellSchema from "../cells/CellSchema.ts"
import type { CellLog } from "./LogExport.ts"
import type { CellOf } from "./LogImport.ts"
import type { Sql } from "../postgres/Sql.ts"

/**
 * Gives each account of an imported log its cell: the chosen one, or the open one with the fewest events of this import. An
 * account of an interrupted import stays where it is.
 */
export const make = (sql: Sql, chosen: CellName | undefined): CellOf => {
  const cells = new Map<string, CellName>()
  const counts = new Map<CellName, number>()
  const count = (cell: CellName) => {
    counts.set(cell, (counts.get(cell) ?? 0) + 1)
    return cell
  }
  const leastFilled = Effect.map(open(sql), (names) => {
    const [least = FIRST] = names.toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0))
    return least
  })
  const find = Effect.fnUntraced(function* (account_id: string) {
    const [existing] = yield* located(sql, account_id)
    if (existing !== undefined) return existing.cell
    const cell = chosen ?? (yield* leastFilled)
    if (cell !== FIRST) yield* sql`INSERT INTO account_cells (account_id, cell) VALUES (${account_id}, ${cell})`
    return cell
  })
  return (account_id) =>
    Effect.suspend(() => {
      const live = Livemode.liveAccountOf(account_id)
      const cell = cells.get(live)
      if (cell !== undefined) return Effect.succeed(count(cell))
      return Effect.map(find(live), (found) => {
        cells.set(live, found)
        return count(found)
      })
    })
}

const open = (sql: Sql) =>
  Effect.map(
    sql<{ readonly name: string }>`SELECT name FROM cells WHERE state = 'open' ORDER BY name <> ${FIRST}, name`,
    (rows) => rows.map(({ name }) => name),
  )

const located = (sql: Sql, account_id: string) => sql<{ readonly cell: string }>`
  SELECT cell FROM account_cells WHERE account_id = ${account_id}
  UNION ALL (SELECT ${FIRST} FROM ${sql(FIRST)}.events WHERE account_id = ${account_id} LIMIT 1) LIMIT 1`

/** Restores the directory of cells from the read models, by which keys, users and tracking hosts find their accounts. */
export const restoreNames = Effect.fn("ImportedAccounts.restoreNames")(function* (logs: ReadonlyArray<CellLog>) {
  const [home] = logs
  if (home === undefined) return
  for (const { cell, sql } of logs)
    if (cell !== FIRST) yield* AccountNames.insert(home.sql, yield* DirectoryNames.read(sql))
  yield* CellSchema.noteChange(home.sql)
})
