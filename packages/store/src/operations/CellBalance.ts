import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as CellSchema from "../cells/CellSchema.ts"
import * as Placement from "../cells/Placement.ts"
import { Sql } from "../postgres/Sql.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as Databases from "../routing/Databases.ts"
import { CurrentCell, inCell } from "../routing/CurrentCell.ts"
import * as Reachable from "../routing/Reachable.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import type { State } from "./CellStates.ts"

/** Most moves of one proposal. Run again for more. */
export const MAX_MOVES = 20
/** Share of the mean load by which cells may differ: below it, moving accounts costs more than it is worth. */
export const TOLERATED = 0.2

/** An account, and the recipients that it had accepted in the last days. */
export interface AccountLoad {
  readonly account_id: AccountId
  readonly cell: CellName
  readonly mails: number
}

export interface ProposedMove extends AccountLoad {
  readonly to: CellName
}

/**
 * Proposes moves of accounts after which cells have about as much mail. A cell that is being emptied loses all its accounts; one that
 * takes none gets none.
 */
export const propose = (
  cells: ReadonlyMap<CellName, State>,
  accounts: ReadonlyArray<AccountLoad>,
): ReadonlyArray<ProposedMove> => {
  const loads = new Map([...cells.keys()].map((cell) => [cell, 0]))
  const add = (cell: CellName, mails: number) => loads.set(cell, (loads.get(cell) ?? 0) + mails)
  for (const { cell, mails } of accounts) add(cell, mails)
  const at = new Map(accounts.map((account) => [account, account.cell]))
  const moved = new Map<AccountLoad, CellName>()
  const move = (account: AccountLoad, to: CellName) => {
    add(at.get(account) ?? account.cell, -account.mails)
    add(to, account.mails)
    at.set(account, to)
    moved.set(account, to)
  }
  const byLoad = (states: ReadonlyArray<State>) =>
    [...loads]
      .filter(([cell]) => states.includes(cells.get(cell) ?? "full"))
      .toSorted(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
  const sorted = accounts.toSorted((a, b) => b.mails - a.mails || (a.account_id < b.account_id ? -1 : 1))
  for (const account of sorted) {
    const [least] = byLoad(["open"])
    if (moved.size >= MAX_MOVES || least === undefined) break
    if (cells.get(account.cell) === "draining") move(account, least[0])
  }
  while (moved.size < MAX_MOVES) {
    const [least] = byLoad(["open"])
    const most = byLoad(["open", "full"]).at(-1)
    if (least === undefined || most === undefined) break
    const [total, difference] = [[...loads.values()].reduce((sum, load) => sum + load, 0), most[1] - least[1]]
    if (difference <= TOLERATED * (total / loads.size)) break
    // The one that leaves the least difference between the two.
    const [best] = sorted
      .filter((account) => at.get(account) === most[0] && account.mails > 0 && account.mails < difference)
      .toSorted((a, b) => Math.abs(difference - 2 * a.mails) - Math.abs(difference - 2 * b.mails))
    if (best === undefined || moved.has(best)) break
    move(best, least[0])
  }
  return [...moved].map(([account, to]) => ({ ...account, to }))
}

/** Proposes moves for the accounts of all cells, each of which has to answer. */
export const proposal = Effect.fn("CellBalance.proposal")(function* () {
  const sql = yield* Sql
  const months = yield* Placement.countedMonths
  const cells = yield* inCell(
    FIRST,
    sql<{ readonly name: CellName; readonly state: State }>`SELECT name, state FROM cells ORDER BY name`,
  )
  const here = Effect.gen(function* () {
    const cell = yield* CurrentCell
    const rows = yield* StrayAccounts.leaveOut(
      yield* sql<{ readonly account_id: AccountId; readonly mails: number }>`
        SELECT a.account_id, coalesce(sum(u.accepted), 0)::float8 AS mails
        FROM accounts a LEFT JOIN monthly_usage u ON u.account_id = a.account_id AND u.month = ANY(${months}::text[])
        GROUP BY 1`,
    )
    return rows.map((row): AccountLoad => ({ ...row, cell }))
  })
  const { missing, rows } = yield* Databases.rowsInTime(here)
  if (missing.length > 0)
    return yield* new CellSchema.CellRefused({
      message: `${missing.join(", ")} does not answer, so its load is not known. ${Reachable.ifLost(missing)}`,
    })
  return propose(new Map(cells.map(({ name, state }) => [name, state])), rows)
})
