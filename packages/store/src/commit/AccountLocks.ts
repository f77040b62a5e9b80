import type { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"

/** Class of the advisory locks of accounts. Batches share an account's lock; an exclusive transaction holds it alone. */
export const ACCOUNT_LOCKS = 0x5742_4143

/** Returns the names of the accounts' locks. A test account has that of its live account, whose webhooks get its events. */
export const locksOf = (accounts: ReadonlyArray<string>): ReadonlyArray<string> => accounts.map(Livemode.liveAccountOf)

/** Shares the locks of accounts until the end of the transaction, in the order in which batches take them. */
export const share = (sql: PgClient.PgClient, accounts: ReadonlyArray<string>) => sql`
  SELECT count(taken) AS locks FROM (
    SELECT pg_advisory_xact_lock_shared(${ACCOUNT_LOCKS}::int, key)::text AS taken
    FROM (
      SELECT DISTINCT hashtext(account_id) AS key FROM unnest(${locksOf(accounts)}::text[]) AS a(account_id) ORDER BY 1
    ) AS keys
  ) AS taking`
