import { type PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Duration, Effect, Exit, Fiber, type Scope, Semaphore, Stream } from "effect"
import { SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import type { Statement } from "effect/sql/Statement"

/** A connection that nobody commits on is kept so long: making another costs more than a commit. */
export const LINE_IDLE_TIMEOUT = Duration.minutes(10)

/** Puts a statement on the line, and has its answer awaited before the transaction ends. */
export type Send = (statement: Statement<object>) => Effect.Effect<void>

export interface Line {
  /** Runs a body between BEGIN and COMMIT. Another transaction can follow while this one is being flushed. */
  readonly transaction: <A, E>(
    body: (send: Send) => Effect.Effect<A, E>,
    /** Told when everything before COMMIT is done; never of what has failed by then. */
    written?: Effect.Effect<unknown>,
  ) => Effect.Effect<A, E | SqlError.SqlError>
  /** Runs statements that need no transaction. Never on a line that has transactions, which it would become part of. */
  readonly alone: <A, E>(statements: Effect.Effect<A, E>) => Effect.Effect<A, E | SqlError.SqlError>
}

/**
 * Transactions one after another on one connection that does not wait for answers nobody needs yet: BEGIN travels with
 * what comes first, and COMMIT with what comes last. A process that is busy comes back to each answer late, and for as
 * long the database has nothing to do.
 */
export const make = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  settings: Readonly<Record<string, string>> = BY_KEY_ALONE,
  /** What a connection needs before anything is done on it. */
  enter: (opened: PgConnection.PgConnection) => Effect.Effect<void, SqlError.SqlError> = () => Effect.void,
): Effect.fn.Return<Line, never, Scope.Scope> {
  // Opened by the first transaction, and anew after it was lost.
  const pool = yield* Effect.orDie(
    PgPool.make({
      ...sql.config,
      multiplex: true,
      minConnections: 0,
      maxConnections: 1,
      idleTimeout: LINE_IDLE_TIMEOUT,
    }),
  )
  const turn = Semaphore.makeUnsafe(1)
  const prepared = new WeakSet<PgConnection.PgConnection>()
  const session = Effect.tap(pool.get, (opened) =>
    prepared.has(opened)
      ? Effect.void
      : Effect.andThen(opened.query(telling(settings)), enter(opened)).pipe(
          Effect.tap(() => Effect.sync(() => prepared.add(opened))),
          // It may have been left inside a transaction.
          Effect.onError(() => pool.invalidate(opened)),
        ),
  )

  return {
    transaction: (body, written = Effect.void) =>
      turn.withPermit(write(sql, session, pool.invalidate, body)).pipe(
        Effect.flatMap((all) => settle(all, written)),
        Effect.scoped,
        Effect.uninterruptible,
      ),
    alone: (statements) =>
      Effect.scoped(
        Effect.flatMap(session, (opened) =>
          Effect.provideService(statements, sql.transactionService, [onLine(opened), 0] as const),
        ),
      ),
  }
})

/**
 * What is asked on a line is found by its key, however many ask together. So it can be done in one way only, and a plan is
 * made once: planning anew each time costs as much as doing it. That way must not be one that suited tables when they were
 * empty.
 */
export const BY_KEY = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" } as const
/** The same where no part of a statement is joined with another part of it. */
export const BY_KEY_ALONE = { ...BY_KEY, enable_hashjoin: "off", enable_mergejoin: "off" } as const

const telling = (settings: Readonly<Record<string, string>>): string =>
  `SELECT ${Object.entries(settings)
    .map(([name, value], nth) => `set_config('${name}', '${value}', false) AS s${nth}`)
    .join(", ")}`

interface Written<A, E> {
  readonly done: Exit.Exit<A, E>
  readonly answers: ReadonlyArray<Fiber.Fiber<unknown, SqlError.SqlError>>
}

const write = Effect.fnUntraced(function* <A, E>(
  sql: PgClient.PgClient,
  session: Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope>,
  invalidate: PgPool.PgPool["invalidate"],
  body: (send: Send) => Effect.Effect<A, E>,
): Effect.fn.Return<Written<A, E>, SqlError.SqlError, Scope.Scope> {
  const opened = yield* session
  const connection = onLine(opened)
  const answers: Array<Fiber.Fiber<unknown, SqlError.SqlError>> = []
  const put = (statement: Effect.Effect<unknown, SqlError.SqlError>) =>
    Effect.gen(function* () {
      const before = connection.put()
      answers.push(yield* Effect.forkChild(statement, { startImmediately: true }))
      // What follows would overtake it.
      if (connection.put() !== before + 1) yield* Effect.die(new Error("a statement was not put on the line at once"))
    })
  const within = Effect.provideService(sql.transactionService, [connection, 0] as const)
  return yield* Effect.gen(function* () {
    yield* put(connection.execute("BEGIN", [], undefined))
    const done = yield* Effect.exit(within(body((statement) => put(within(statement)))))
    yield* put(Exit.isSuccess(done) ? commit(connection) : connection.execute("ROLLBACK", [], undefined))
    return { done, answers }
    // Nobody knows what it holds then.
  }).pipe(Effect.onError(() => invalidate(opened)))
})

/** The first trouble counts: whatever comes after it in a transaction is refused because of it. */
const settle = Effect.fnUntraced(function* <A, E>(
  { answers, done }: Written<A, E>,
  written: Effect.Effect<unknown>,
): Effect.fn.Return<A, E | SqlError.SqlError> {
  const before = yield* Fiber.awaitAll(answers.slice(0, -1))
  if (Exit.isSuccess(done) && before.every(Exit.isSuccess)) yield* written
  const failed = [...before, ...(yield* Fiber.awaitAll(answers.slice(-1)))].find(Exit.isFailure)
  return yield* failed === undefined ? done : Effect.failCause(failed.cause)
})

/** Postgres answers a COMMIT by ROLLBACK where the transaction had failed before. */
const commit = (connection: Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (answer) =>
    (answer as PgConnection.Result).command === "COMMIT"
      ? Effect.void
      : Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({ cause: answer, message: "nothing was committed", operation: "commit" }),
          }),
        ),
  )

const onLine = (connection: PgConnection.PgConnection): Connection & { readonly put: () => number } => {
  let put = 0
  // Counted when it is done, not when it is described.
  const counted = <A>(statement: () => Effect.Effect<A, SqlError.SqlError>) =>
    Effect.suspend(() => {
      put++
      return statement()
    })
  const query: Connection["executeRaw"] = (text, params) => counted(() => connection.query(text, params))
  const rows: Connection["execute"] = (text, params, transform) => {
    const answered = counted(() => Effect.map(connection.query(text, params), (result) => result.rows))
    return transform === undefined ? answered : Effect.map(answered, transform)
  }
  const values: Connection["executeValues"] = (text, params) => counted(() => connection.queryValues(text, params))
  return {
    put: () => put,
    execute: rows,
    executeUnprepared: rows,
    executeRaw: query,
    executeValues: values,
    executeValuesUnprepared: values,
    // A stream would want the connection for itself.
    executeStream: () => Stream.die(new Error("nothing is streamed in a line")),
  }
}
