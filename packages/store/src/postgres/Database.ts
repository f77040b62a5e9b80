import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, type Redacted, Schedule } from "effect"
import { SqlError } from "effect/sql"

/** Connections of one process to Postgres, beside graphile-worker's own few. */
export const DEFAULT_CONNECTIONS = 10
/** Whoever takes a connection and says nothing on it is given up. */
export const CONNECT_TIMEOUT_MS = 5_000
/** No statement of a request may hold a connection longer. */
export const STATEMENT_TIMEOUT = "30s"
export const IDLE_IN_TRANSACTION_TIMEOUT = "10s"
const READY_TRIES = 50
/** For all tries together: one that hangs is none. */
export const READY_TIMEOUT = Duration.seconds(15)

/** What every session of ours has, told to Postgres as it begins. */
export const SESSION = {
  statement_timeout: STATEMENT_TIMEOUT,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT,
  // A generic plan does not know how few rows a LIMIT needs: it sorted the whole outbox.
  plan_cache_mode: "force_custom_plan",
  // By the cost a server comes with, one account's feed is read past everybody else's events.
  random_page_cost: "1.1",
  // Where Postgres can compile queries it does so by what it reckons they cost, and takes a tenth of a second for it.
  jit: "off",
} as const

export interface Options {
  readonly url: Redacted.Redacted
  readonly connections?: number
  readonly applicationName?: string
}

/** The connection pool, once the database answers. */
export const layer = (options: Options) =>
  Layer.effectDiscard(ready).pipe(
    Layer.provideMerge(
      PgClient.layer({
        url: options.url,
        applicationName: options.applicationName ?? "waybill",
        maxConnections: options.connections ?? DEFAULT_CONNECTIONS,
        minConnections: 1,
        connectTimeout: Duration.millis(CONNECT_TIMEOUT_MS),
        idleTimeout: "60 seconds",
        startupParameters: SESSION,
      }),
    ),
  )

/** Connections are made on demand, so a database that is not there yet shows only here. */
export const ready = Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT 1`).pipe(
  Effect.retry({ while: (error) => error.isRetryable, schedule: Schedule.spaced("200 millis"), times: READY_TRIES }),
  Effect.timeoutOrElse({ duration: READY_TIMEOUT, orElse: () => Effect.fail(silent) }),
)

/** What hangs looks like what works, but for its silence. */
const silent = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({
    cause: undefined,
    message: `the database did not answer within ${Duration.toSeconds(READY_TIMEOUT)} seconds`,
    operation: "ready",
  }),
})

/** Our corner of the advisory locks that are keyed by two integers: WB, turns. */
const TURNS = 0x5742_0003

/**
 * One process at a time, of all that share the database. The lock is a connection's own, so the work itself may use as
 * many transactions as it likes.
 */
export const inTurn =
  (turn: number) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const connection = yield* sql.reserve
      const lock = (name: string) =>
        connection.execute(`SELECT 1 AS done FROM (SELECT ${name}($1::int, $2::int)) AS done`, [TURNS, turn], undefined)
      yield* Effect.acquireRelease(lock("pg_advisory_lock"), () => Effect.ignore(lock("pg_advisory_unlock")))
      return yield* work
    }).pipe(Effect.scoped)
