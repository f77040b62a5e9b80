import { type PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Duration, Effect, Exit, Fiber, Scope, Semaphore, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import * as RoutedClient from "../routing/RoutedClient.ts"
import { FIRST } from "../routing/CellName.ts"
import * as Rests from "./Rests.ts"
import type { Sql, Statement } from "../postgres/Sql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** How long an unused connection stays open: opening another one costs more than a commit. */
export const IDLE_TIMEOUT = Duration.minutes(10)

/** A statement that was sent. Its answer is here once the transaction has ended. */
export type Sent = Fiber.Fiber<unknown, SqlError.SqlError>

/** Sends a statement without waiting for its answer, which is awaited before the transaction ends. */
export type Send = (statement: Statement<object, SqlError.SqlError>) => Effect.Effect<Sent>

export interface PipelinedConnection {
  /** Runs the body between BEGIN and COMMIT. The next transaction may be sent while this one is being flushed. */
  readonly transaction: <A, E>(
    body: (send: Send) => Effect.Effect<A, E>,
    /** Runs when everything before the COMMIT has succeeded. */
    onWritten?: Effect.Effect<unknown>,
  ) => Effect.Effect<A, E | SqlError.SqlError>
  /** Runs statements outside a transaction. Not on a connection with transactions: they would become part of one. */
  readonly run: <A, E>(statements: Effect.Effect<A, E>) => Effect.Effect<A, E | StoreUnavailable>
}

/**
 * Makes a connection that sends statements without waiting for answers that are not needed yet: BEGIN goes out with the
 * first statement, COMMIT with the last. A busy process is late to read each answer, and with a round trip for each
 * statement the database would be idle for as long.
 */
export const make = Effect.fnUntraced(function* (
  sql: Sql,
  settings: Readonly<Record<string, string>> = BY_KEY_NESTED_LOOPS,
  /** Runs on each newly opened connection before its first use. */
  onOpened: (connection: PgConnection.PgConnection) => Effect.Effect<void, SqlError.SqlError> = () => Effect.void,
): Effect.fn.Return<PipelinedConnection, StoreUnavailable, Scope.Scope> {
  // The first transaction opens the connection, and the first one after a loss opens it again.
  const { driver: ofCell } = yield* RoutedClient.here(sql)
  const { driver } = sql
  // In a scope of its own, which closes after its users. Otherwise the opening of the connection would end before them, and a
  // transaction that waits for it, and for which the scope waits, would never end.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const settingsOfPool = { multiplex: true, minConnections: 0, maxConnections: 1, idleTimeout: IDLE_TIMEOUT }
  const pool = yield* PgPool.make(RoutedClient.configOf(ofCell, settingsOfPool)).pipe(
    Scope.provide(scope),
    SqlErrors.orUnavailable,
  )
  const oneAtATime = Semaphore.makeUnsafe(1)
  const rests = Rests.make()
  const prepared = new WeakSet<PgConnection.PgConnection>()
  const open = Effect.tap(pool.get, (connection) =>
    prepared.has(connection)
      ? Effect.void
      : Effect.andThen(connection.query(applyStatement(settings)), onOpened(connection)).pipe(
          Effect.tap(() => Effect.sync(() => prepared.add(connection))),
          // `onOpened` may have failed inside a transaction.
          Effect.onError(() => pool.invalidate(connection)),
        ),
  )

  return {
    transaction: (body, onWritten = Effect.void) =>
      oneAtATime.withPermit(Effect.andThen(rests.takeIfDue, sendTransaction(driver, open, pool.invalidate, body))).pipe(
        Effect.tap(() => Effect.sync(rests.sent)),
        Effect.flatMap((sent) => Effect.ensuring(awaitAnswers(sent, onWritten), Effect.sync(rests.answered))),
        Effect.scoped,
        Effect.uninterruptible,
      ),
    run: (statements) =>
      Effect.scoped(
        Effect.flatMap(open, (connection) =>
          Effect.provideService(statements, driver.transactionService, [counting(connection), 0] as const),
        ),
      ).pipe(SqlErrors.orUnavailable) as never,
  }
})

/**
 * Settings for statements that find every row by its key. They have one good plan, so it is made once: planning costs as
 * much as execution. The settings keep it from being a plan that suits the tables only while they are empty.
 */
export const BY_KEY = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" } as const
/**
 * The settings of `BY_KEY` for statements whose joins are all lookups by key, without a join between two parts of a statement.
 * Without bitmaps an index scan locks the rows of a list in the order of their key.
 */
export const BY_KEY_NESTED_LOOPS = {
  ...BY_KEY,
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_bitmapscan: "off",
} as const

/**
 * Lets the server find out that this process is gone without a farewell, and release its locks. Not start-up parameters,
 * which a pooler would refuse; without TCP they have no effect.
 */
export const TCP = {
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "60000",
} as const

const applyStatement = (settings: Readonly<Record<string, string>>): string =>
  `SELECT ${Object.entries({ ...TCP, ...settings })
    .map(([name, value], nth) => `set_config('${name}', ${valueOf(name, value)}, false) AS s${nth}`)
    .join(", ")}`

/** Citus makes a plan without the values of its parameters only for a simple statement; which ones, the server finds out. */
const valueOf = (name: string, value: string): string =>
  name === "plan_cache_mode"
    ? `CASE WHEN current_schema() <> '${FIRST}' AND EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')
        THEN 'auto' ELSE '${value}' END`
    : `'${value}'`

interface SentTransaction<A, E> {
  readonly result: Exit.Exit<A, E>
  /** Answers of all statements in their order; the last one is that of COMMIT or ROLLBACK. */
  readonly answers: ReadonlyArray<Sent>
}

const sendTransaction = <A, E>(
  sql: PgClient.PgClient,
  open: Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope>,
  invalidate: PgPool.PgPool["invalidate"],
  body: (send: Send) => Effect.Effect<A, E>,
): Effect.Effect<SentTransaction<A, E>, SqlError.SqlError, Scope.Scope> =>
  Effect.flatMap(open, (opened) =>
    // The state of the connection is unknown after an error here.
    Effect.onError(sendOn(sql, counting(opened), body), () => invalidate(opened)),
  )

const sendOn = Effect.fnUntraced(function* <A, E>(
  sql: PgClient.PgClient,
  connection: CountingConnection,
  body: (send: Send) => Effect.Effect<A, E>,
): Effect.fn.Return<SentTransaction<A, E>, SqlError.SqlError> {
  const answers: Array<Sent> = []
  const within = Effect.provideService(sql.transactionService, [connection, 0] as const)
  yield* send(connection, answers, connection.execute("BEGIN", [], undefined))
  const result = yield* Effect.exit(within(body((statement) => send(connection, answers, within(statement)))))
  const end = Exit.isSuccess(result)
    ? RoutedClient.checkedCommit(connection)
    : connection.execute("ROLLBACK", [], undefined)
  yield* send(connection, answers, end)
  return { result, answers }
})

const send = Effect.fnUntraced(function* (
  connection: CountingConnection,
  answers: Array<Sent>,
  statement: Effect.Effect<unknown, SqlError.SqlError>,
) {
  const before = connection.sent()
  const answer = yield* Effect.forkChild(statement, { startImmediately: true })
  answers.push(answer)
  // Otherwise a later statement would overtake this one.
  if (connection.sent() !== before + 1) yield* Effect.die(new Error("a pipelined statement was not sent at once"))
  return answer
})

/** Fails with the first error of the transaction: the later ones only follow from it. */
const awaitAnswers = Effect.fnUntraced(function* <A, E>(
  { answers, result }: SentTransaction<A, E>,
  onWritten: Effect.Effect<unknown>,
): Effect.fn.Return<A, E | SqlError.SqlError> {
  const beforeCommit = yield* Fiber.awaitAll(answers.slice(0, -1))
  if (Exit.isSuccess(result) && beforeCommit.every(Exit.isSuccess)) yield* onWritten
  const failed = [...beforeCommit, ...(yield* Fiber.awaitAll(answers.slice(-1)))].find(Exit.isFailure)
  return yield* failed === undefined ? result : Effect.failCause(failed.cause)
})

/** A connection that counts the statements which are sent on it. */
type CountingConnection = Connection & { readonly sent: () => number }

const counting = (connection: PgConnection.PgConnection): CountingConnection => {
  let sent = 0
  // Counts when the statement runs, not when its effect is built.
  const counted = <A>(statement: () => Effect.Effect<A, SqlError.SqlError>) =>
    Effect.suspend(() => {
      sent++
      return statement()
    })
  const query: Connection["executeRaw"] = (text, params) => counted(() => connection.query(text, params))
  const rows: Connection["execute"] = (text, params, transform) => {
    const answer = counted(() => Effect.map(connection.query(text, params), (result) => result.rows))
    return transform === undefined ? answer : Effect.map(answer, transform)
  }
  const values: Connection["executeValues"] = (text, params) => counted(() => connection.queryValues(text, params))
  return {
    sent: () => sent,
    execute: rows,
    executeUnprepared: rows,
    executeRaw: query,
    executeValues: values,
    executeValuesUnprepared: values,
    // A stream needs a connection of its own.
    executeStream: () => Stream.die(new Error("a pipelined connection does not stream")),
  }
}
