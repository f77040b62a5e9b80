import { type PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, type Duration, Effect, Option, type Scope } from "effect"
import { SqlError } from "effect/sql"
import * as RoutedClient from "../routing/RoutedClient.ts"
import * as Databases from "../routing/Databases.ts"
import { Sql } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import { type Problem, problemOf } from "./Problem.ts"

/** Rows of a test write: about 400 kB, so that the server has to allocate disk space for them. */
export const PROBE_ROWS = 4_096

/** A temporary table, because its rows do not enter the write-ahead log and its space is freed at the commit. */
const CREATE = "CREATE TEMPORARY TABLE IF NOT EXISTS waybill_write_probe (filler name) ON COMMIT DELETE ROWS"
/** Allocates disk space, and flushes a small message through the write-ahead log as a commit does. */
const WRITE = `
  WITH message AS (SELECT pg_logical_emit_message(true, 'waybill', 'write probe') AS position)
  INSERT INTO waybill_write_probe SELECT 'x' FROM message, generate_series(1, ${PROBE_ROWS})`
/** The tables may lie on another server, which is reached through this one. */
const REACH_TABLES = "SELECT name FROM followers LIMIT 1"
const MODE = `
  SELECT pg_is_in_recovery() AS is_replica, current_setting('transaction_read_only') = 'on' AS is_read_only`

/** Tests within a time limit whether the database takes writes; returns why not. */
export type WriteProbe = (limit: Duration.Input) => Effect.Effect<Problem | undefined>

/** Makes a probe with a connection of its own, because those of the pool may all be busy. */
export const make = Effect.gen(function* (): Effect.fn.Return<
  WriteProbe,
  StoreUnavailable,
  PgClient.PgClient | Scope.Scope
> {
  const { driver } = yield* RoutedClient.here(yield* Sql)
  const isHome = yield* Databases.isHome
  const pool = yield* SqlErrors.orUnavailable(
    PgPool.make(RoutedClient.configOf(driver, { minConnections: 0, maxConnections: 1 })),
  )
  const prepared = new WeakSet<PgConnection.PgConnection>()
  const run = (connection: PgConnection.PgConnection) =>
    Effect.gen(function* () {
      const [mode] = (yield* connection.query(MODE)).rows
      if (mode?.["is_replica"] === true) return problem("the database is a read-only replica")
      if (mode?.["is_read_only"] === true) return problem("the database is read-only")
      if (!prepared.has(connection)) yield* connection.query(CREATE)
      prepared.add(connection)
      yield* connection.query(WRITE)
      if (!isHome) yield* connection.query(REACH_TABLES)
      return undefined
    }).pipe(Effect.onError(() => pool.invalidate(connection)))
  return (limit) =>
    pool.use(run).pipe(
      Effect.timeoutOption(limit),
      Effect.matchCause({
        onSuccess: (answer) => (answer._tag === "None" ? problem(SILENT) : answer.value),
        onFailure: (cause) => problemOf(cause) ?? awayBy(cause),
      }),
    )
})

const SILENT = "the database does not respond"
const REFUSED = "the database refuses the role or its password"

const problem = (text: string): Problem => ({ text, cause: Cause.empty })

/** Whether the server could not be reached. Another refusal, such as of temporary tables, says nothing about its disk. */
const awayBy = (cause: Cause.Cause<unknown>): Problem | undefined => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (!SqlError.isSqlError(error)) return undefined
  if (SqlErrors.isRoleRefused(error)) return { text: REFUSED, cause }
  return error.isRetryable || SqlErrors.isConnectionLost(error) ? { text: SILENT, cause } : undefined
}
