import { PgClient } from "@effect/sql-pg"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"

/**
 * Whose email this is: a return path names the email alone, and its MAC has already vouched for it. Every table of mail
 * is keyed by account first, so each account's index is probed, which costs some microseconds an account.
 */
export const accountOf = Effect.fn("EmailAccounts.accountOf")(function* (id: EmailId) {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly account_id: AccountId }>`
    SELECT a.account_id FROM accounts a CROSS JOIN LATERAL (
      SELECT 1 FROM email_log l WHERE l.account_id = a.account_id AND l.id = ${id} OFFSET 0) AS l
    LIMIT 1`)
  return Option.map(Option.fromUndefinedOr(rows[0]), ({ account_id }) => account_id)
})
