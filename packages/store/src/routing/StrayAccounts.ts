import * as Livemode from "@waybill/domain/account/Livemode"
import { Context, Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { type CellName, FIRST } from "./CellName.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Those of the accounts, given by their live ids, that have left a cell, or are about to. The first cell has the directory beside
 * it, and so also refuses accounts that never were there.
 */
export const elsewhere = <E>(sql: Client<E>, accounts: ReadonlyArray<string>, cell: CellName) => sql`
  SELECT account_id FROM left_accounts WHERE account_id = ANY(${accounts}::text[])
  ${
    cell === FIRST
      ? sql`UNION ALL SELECT account_id FROM account_cells WHERE account_id = ANY(${accounts}::text[]) AND cell <> ${FIRST}`
      : sql``
  }`

/**
 * Accounts, by their live ids, that have rows in the fiber's cell and are in another one: the copies of an unfinished move, and
 * what it has left behind. Work over all cells leaves them out, so that it sees each account once.
 */
export const StrayAccounts = Context.Reference<ReadonlySet<string>>("@waybill/store/routing/StrayAccounts", {
  defaultValue: () => NONE,
})

export const NONE: ReadonlySet<string> = new Set()

/** Condition on rows, by the name of their account, that they are not of a stray account. */
export const isOwn = (sql: Client<unknown>, column: string): Effect.Effect<Fragment> =>
  Effect.map(StrayAccounts, (strays) => {
    if (strays.size === 0) return sql`true`
    const accounts = [...strays].flatMap((live) => [live, Livemode.testAccountOf(live)])
    return sql`${sql.literal(column)} <> ALL(${accounts}::text[])`
  })

/** Returns the rows without those of stray accounts. A row says by `account_id` whose it is. */
export const leaveOut = <A>(rows: ReadonlyArray<A>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.map(StrayAccounts, (strays) => (strays.size === 0 ? rows : rows.filter((row) => !isOf(strays, row))))

const isOf = (strays: ReadonlySet<string>, row: unknown): boolean =>
  typeof row === "object" &&
  row !== null &&
  "account_id" in row &&
  typeof row.account_id === "string" &&
  strays.has(Livemode.liveAccountOf(row.account_id))
