import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import * as Cells from "./Cells.ts"
import * as Databases from "./Databases.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Finds the account of an email by the beginning of the account's id, live or test. Accounts whose ids begin alike were made in the
 * same millisecond; that with the email is meant then.
 */
export const accountOf = Effect.fn("EmailAccounts.accountOf")(function* (start: string, id: EmailId) {
  const { beginningWith } = yield* Cells.Cells
  const live = yield* beginningWith(Livemode.liveAccountOf(start))
  const accounts = Livemode.isLive(start) ? live : live.map(Livemode.testAccountOf)
  if (accounts.length <= 1) return Option.fromUndefinedOr(accounts[0])
  return yield* Effect.findFirst(accounts, (account_id) => Databases.ofAccount(account_id, hasEmail(account_id, id)))
})

const hasEmail = Effect.fnUntraced(function* (account_id: AccountId, id: EmailId) {
  const sql = yield* Sql
  const found = yield* sql`
    SELECT FROM events WHERE account_id = ${account_id} AND stream_id = ${id} AND version = 1`
  return found.length > 0
})

/** Those of the ids that name an email of the fiber's cell, with its account. */
export const known = Effect.fn("EmailAccounts.known")(function* (ids: ReadonlyArray<EmailId>) {
  const sql = yield* Sql
  return yield* sql<{ readonly id: EmailId; readonly account_id: AccountId }>`
    SELECT wanted.id, mode.account_id FROM unnest(${ids}::text[]) AS wanted(id)
    CROSS JOIN accounts a
    CROSS JOIN LATERAL (VALUES (a.account_id), (test_account_of(a.account_id))) AS mode(account_id)
    CROSS JOIN LATERAL (
      SELECT 1 FROM events e WHERE e.account_id = mode.account_id AND e.stream_id = wanted.id AND e.version = 1 OFFSET 0) AS e`
})
