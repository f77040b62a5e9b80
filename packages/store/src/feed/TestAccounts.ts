import { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect } from "effect"

/** Returns the test accounts that may hold mail: those of accounts that have, or had, a test key. */
export const all = Effect.fn("TestAccounts.all")(function* () {
  const sql = yield* PgClient.PgClient
  return (yield* Effect.orDie(select(sql))).map(({ account_id }) => Livemode.testAccountOf(account_id))
})

export const select = (sql: PgClient.PgClient) => sql<{ readonly account_id: AccountId }>`
  SELECT DISTINCT account_id FROM api_keys WHERE mode = 'test'`
