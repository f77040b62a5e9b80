import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import { Sql } from "../postgres/Sql.ts"

/** Returns the test accounts that may hold mail: those of accounts that have, or had, a test key. */
export const all = Effect.fn("TestAccounts.all")(function* () {
  const sql = yield* Sql
  return (yield* select(sql)).map(({ account_id }) => Livemode.testAccountOf(account_id))
})

export const select = (sql: Sql) => sql<{ readonly account_id: AccountId }>`
  SELECT DISTINCT account_id FROM api_keys WHERE mode = 'test'`
