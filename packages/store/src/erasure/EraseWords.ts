import { HomeSql } from "../routing/HomeSql.ts"
import type * as Address from "@waybill/domain/values/Address"
import { Effect } from "effect"
import * as EmailSubjects from "../readmodels/emails/EmailSubjects.ts"
import * as EmailWords from "../search/EmailWords.ts"
import * as Mask from "./Mask.ts"
import type { Sql } from "../postgres/Sql.ts"

/**
 * Replaces the words of a search that hold an address by the masked words that the messages now have.
 */
export const erase = Effect.fnUntraced(function* (sql: Sql, address: Address.Address, mask: Mask.Mask) {
  // Reading all words may exceed the statement timeout.
  yield* sql`SET LOCAL statement_timeout = 0`
  // Locks the follower, so that it does not write the words of before the masking.
  yield* sql`SELECT 1 AS held FROM followers WHERE name = ${EmailWords.follower.name} FOR UPDATE`
  const rows = yield* sql<{ readonly account: string; readonly term: string }>`
    SELECT account_id AS account, term FROM email_words
    WHERE lower(term COLLATE "C") LIKE ANY(${Mask.patterns(address)}::text[])`
  for (const { account, term } of rows) {
    if (!mask.contains(term)) continue
    const masked = mask.apply(term)
    yield* sql`DELETE FROM email_words WHERE account_id = ${account}::uuid AND term = ${term}`
    yield* sql`
      INSERT INTO email_words (account_id, term, folded)
      VALUES (${account}::uuid, ${masked}, ${EmailSubjects.fold(masked.slice(masked.indexOf(":") + 1))})
      ON CONFLICT (account_id, term) DO NOTHING`
  }
})

/** Deletes the saved views that hold an address, which are at home. */
export const eraseViews = Effect.fnUntraced(function* (address: Address.Address, mask: Mask.Mask) {
  const home = yield* HomeSql
  const views = yield* home<Readonly<Record<"account_id" | "user_id" | "name" | "search", string>>>`
    SELECT account_id, user_id, name, search FROM saved_views
    WHERE lower(name || ' ' || search COLLATE "C") LIKE ANY(${Mask.patterns(address)}::text[])`
  for (const { account_id, name, search, user_id } of views)
    if (mask.contains([name, search]))
      yield* home`DELETE FROM saved_views WHERE account_id = ${account_id} AND user_id = ${user_id} AND name = ${name}`
})
