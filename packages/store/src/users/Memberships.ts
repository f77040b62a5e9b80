import { Effect } from "effect"
import * as Databases from "../routing/Databases.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"
import { Sql } from "../postgres/Sql.ts"

/** Membership of a user in an account, which may have ended. */
export interface Membership {
  readonly user_id: string
  readonly account_id: string
  readonly role: string
  readonly status: string
}

/** Finds the memberships of users, each in the database of its account. Not for a transaction. */
export const find = Effect.fn("Memberships.find")(function* (user_ids: ReadonlyArray<string>) {
  const sql = yield* Sql
  const found = yield* Effect.forEach(yield* AccountNames.placeUsers(user_ids), ({ rows, run }) =>
    run(sql<Membership>`
      SELECT user_id, account_id, role, status FROM members
      WHERE user_id = ANY(${rows.map(({ user_id }) => user_id)}::text[])`),
  )
  return found.flat()
})

/** Lists the memberships that have not ended, of all accounts in databases that answer in time. */
export const list = Effect.fn("Memberships.list")(function* () {
  const sql = yield* Sql
  return yield* Databases.rowsInTime(
    sql<Membership>`SELECT user_id, account_id, role, status FROM members WHERE status <> 'removed'`,
  )
})
