import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Team from "@waybill/domain/account/Team"
import type { Address } from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Users from "@waybill/store/users/Users"
import { FIRST } from "@waybill/store/routing/CellName"
import * as Databases from "@waybill/store/routing/Databases"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Runtime } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import * as Database from "../../support/postgres/Database.ts"
import { homeClient, otherClient } from "../../support/postgres/otherClient.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"

export const TIMEOUT = { timeout: 120_000 }
export const CELLS = ["public", "cell_b", "cell_c"] as const
export const BO = "bo@example.org" as Address
export const LEFT_OUT = "The cell cell_b does not answer and was left out."

/** Creates an account in a cell, with a verified domain. */
export const senderIn = Effect.fnUntraced(function* (cell: string, name = "acme.test") {
  const account_id = yield* World.accountIn(cell)
  return yield* Databases.ofAccount(account_id, World.verifiedDomain(name, account_id))
})

/** Adds an owner to an account, and returns the id of the user. */
export const memberOf = Effect.fnUntraced(function* (account_id: Id.AccountId, email: string) {
  const { commit } = yield* EventStore
  const user_id = yield* NewIds.newId("UserId")
  yield* Users.create({ id: user_id, email, name: "Ana", operator: false, created_at: yield* NewIds.now })
  const ref = { account_id, stream_id: Team.STREAM_ID }
  const invitation = { user_id, email: email as Address, name: "Ana", role: "owner" as const }
  yield* Effect.orDie(commit(Team, ref, Team.invite(yield* NewIds.now, invitation)))
  yield* Effect.orDie(commit(Team, ref, Team.join(yield* NewIds.now, user_id)))
  return user_id
})

/** Locks tables of a cell in another session until the scope closes, so that its statements hang. */
export const lockTables = Effect.fnUntraced(function* (cell: string, ...tables: ReadonlyArray<string>) {
  const { url } = yield* Database.Fresh
  const other = yield* cell === FIRST ? homeClient(url) : otherClient(url)
  const names = tables.map((table) => `${cell}.${table}`).join(", ")
  // The test role ends transactions that are idle for 10 s.
  yield* other.query("SET idle_in_transaction_session_timeout = 0")
  yield* Effect.acquireRelease(other.query(`BEGIN; LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`), () =>
    Effect.ignore(other.query("ROLLBACK")),
  )
})

/** Rows of a table of a cell. */
export const countIn = (cell: string, table: string) =>
  inCell(
    cell,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.map(
        Effect.orDie(sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM ${sql(table)}`),
        ([row]) => row?.count ?? 0,
      ),
    ),
  )

/** Runs a command, and returns what it printed, its complaint, and its exit code. */
export const run = (...args: ReadonlyArray<string>) =>
  Effect.map(CommandLine.type(...args), ({ errors, exit, output }) => ({
    output,
    errors,
    code: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)),
  }))

/** Adds an address to the suppression list of an account. */
export const suppress = Effect.fnUntraced(function* (account_id: World.SendingDomain["account_id"]) {
  const { commit } = yield* EventStore
  const add = Suppression.add(yield* NewIds.now, yield* NewIds.newId("SuppressionId"), BO, "manual", null)
  yield* Effect.orDie(commit(Suppression, { account_id, stream_id: Suppression.streamId(BO) }, add))
})
