import { Effect } from "effect"
import { type CellName, FIRST } from "../routing/CellName.ts"
import * as Cells from "../routing/Cells.ts"
import { inCell } from "../routing/CurrentCell.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Membership of a user in an account, which may have ended. */
export interface Membership {
  readonly user_id: string
  readonly account_id: string
  readonly role: string
  readonly status: string
}

/** Finds the memberships of users, each in the cell of its account. Not for the transaction of a cell. */
export const find = Effect.fn("Memberships.find")(function* (user_ids: ReadonlyArray<string>) {
  const sql = yield* Sql
  const found = yield* Effect.forEach(yield* cellsOf(sql, user_ids), ([cell, users]) =>
    inCell(
      cell,
      sql<Membership>`
        SELECT user_id, account_id, role, status FROM members WHERE user_id = ANY(${users}::text[])`,
    ),
  )
  return found.flat()
})

/** Lists the memberships that have not ended, of all accounts in cells that answer in time. */
export const list = Effect.fn("Memberships.list")(function* () {
  const sql = yield* Sql
  return yield* Cells.rowsInTime(
    sql<Membership>`SELECT user_id, account_id, role, status FROM members WHERE status <> 'removed'`,
  )
})

/** Accounts of the users in cells, by the directory, which is at home and does not say whether a membership has ended. */
export const accountsIn = Effect.fn("Memberships.accountsIn")(function* (cells: ReadonlyArray<CellName>) {
  const sql = yield* Sql
  const named = sql<Pick<Membership, "user_id" | "account_id">>`
    SELECT n.name AS user_id, n.account_id FROM account_names n JOIN account_cells c ON c.account_id = n.account_id
    WHERE n.kind = 'user' AND c.cell = ANY(${cells}::text[])`
  return cells.length === 0 ? [] : yield* inCell(FIRST, named)
})

/** Groups users by the cell of their account; those who are not named in the directory are in the first one. */
const cellsOf = Effect.fnUntraced(function* (
  sql: Sql,
  user_ids: ReadonlyArray<string>,
): Effect.fn.Return<ReadonlyArray<readonly [CellName, ReadonlyArray<string>]>, StoreUnavailable> {
  const { names, of } = yield* Cells.Cells
  if ((yield* names).length === 1) return [[FIRST, user_ids]]
  const named = yield* inCell(
    FIRST,
    sql<{ readonly user_id: string; readonly account_id: string | null }>`
      SELECT wanted.user_id, n.account_id FROM unnest(${user_ids}::text[]) AS wanted(user_id)
      LEFT JOIN account_names n ON n.kind = 'user' AND n.name = wanted.user_id`,
  )
  const placed = yield* Effect.forEach(named, ({ account_id, user_id }) =>
    Effect.map(account_id === null ? Effect.succeed(FIRST) : of(account_id), (cell) => ({ cell, user_id })),
  )
  return [...Map.groupBy(placed, ({ cell }) => cell)].map(
    ([cell, users]) => [cell, users.map(({ user_id }) => user_id)] as const,
  )
})
