import type { PgClient } from "@effect/sql-pg"
import * as Livemode from "@waybill/domain/account/Livemode"
import { Data, Effect } from "effect"
import * as AccountLocks from "./AccountLocks.ts"
import * as StrayAccounts from "../routing/StrayAccounts.ts"
import * as Databases from "../routing/Databases.ts"
import { Sql } from "../postgres/Sql.ts"
import { away, type StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** An account has moved to another database since that of a write was chosen. */
export class AccountMoved extends Data.TaggedError("AccountMoved")<{}> {}

/** Tries of a write whose account moves meanwhile. */
const TRIES = 3

/**
 * Keeps accounts in the fiber's database until the end of its transaction: a move waits for the locks. Fails if an account is in
 * another one already.
 */
export const hold = Effect.fnUntraced(function* (sql: Sql, accounts: ReadonlyArray<string>) {
  if ((yield* Databases.isCertainlyAlone)()) return
  yield* AccountLocks.share(sql, accounts)
  const live = [...new Set(accounts.map(Livemode.liveAccountOf))]
  // A statement of its own, which sees what was committed while the locks were waited for.
  const moved = yield* StrayAccounts.elsewhere(sql, live, yield* Databases.name)
  if (moved.length > 0) return yield* new AccountMoved()
})

/**
 * Runs work that writes rows of an account beside the log, in the account's database, which cannot change before the work is
 * committed. Inside a transaction of the caller, which is there, the work is a part of it.
 */
export const run = Effect.fnUntraced(function* <A, E, R>(
  account_id: string,
  work: Effect.Effect<A, E, R>,
): Effect.fn.Return<A, E | StoreUnavailable, R | PgClient.PgClient> {
  const sql = yield* Sql
  if (yield* Databases.isInTransaction) return yield* work
  if ((yield* Databases.isCertainlyAlone)()) return yield* Databases.ofAccount(account_id, work)
  return yield* retryMoved(
    Databases.ofAccount(account_id, sql.withTransaction(Effect.andThen(hold(sql, [account_id]), work))),
  )
})

/** Repeats work that finds its databases anew, while accounts move between the choice of one and its transaction. */
export const retryMoved = <A, E, R>(
  work: Effect.Effect<A, E | AccountMoved | StoreUnavailable, R>,
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.tapError(work, (error) => (error instanceof AccountMoved ? Databases.refresh : Effect.void)).pipe(
    Effect.retry({ while: (error) => error instanceof AccountMoved, times: TRIES - 1 }),
    Effect.catch((error) => Effect.fail(error instanceof AccountMoved ? away() : (error as E | StoreUnavailable))),
  )
