import type { AccountId, EmailId, InboundId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import * as Cells from "./Cells.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Finds the account of a sent or received mail, in all cells. A return path names only the email, and its MAC was verified before. Events
 * are keyed by account first, so this probes the index of each account, live and test, at a cost of some microseconds per account.
 */
export const accountOf = Effect.fn("EmailAccounts.accountOf")(function* (id: EmailId | InboundId) {
  const sql = yield* Sql
  const search = sql<{ readonly account_id: AccountId }>`
    SELECT mode.account_id FROM accounts a
    CROSS JOIN LATERAL (VALUES (a.account_id), (test_account_of(a.account_id))) AS mode(account_id)
    CROSS JOIN LATERAL (
      SELECT 1 FROM events e WHERE e.account_id = mode.account_id AND e.stream_id = ${id} AND e.version = 1 OFFSET 0) AS e
    LIMIT 1`
  const found = yield* Cells.findFirst(Effect.map(search, ([row]) => Option.fromUndefinedOr(row)))
  return Option.map(found, ({ account_id }) => account_id)
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
