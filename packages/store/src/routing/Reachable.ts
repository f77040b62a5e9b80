import type { PgClient } from "@effect/sql-pg"
import { Cause, Context, Duration, Effect, Exit, Fiber, Option } from "effect"
import { Sql } from "../postgres/Sql.ts"
import { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import type { CellName } from "./CellName.ts"
import * as Databases from "./Databases.ts"
import * as StrayAccounts from "./StrayAccounts.ts"

/** Time limit if the server does not end the query itself. */
const GIVEN_UP_AFTER = Duration.seconds(6)

/** Interval at which a database is asked again while work on it runs. */
export const ASK_EVERY = Context.Reference<Duration.Duration>("@waybill/store/routing/Reachable/ASK_EVERY", {
  defaultValue: () => Duration.seconds(10),
})
/** Answers that a database may owe in a row before its work is given up. One may be late under load. */
const OWED_ANSWERS = 4

/** Results of the databases that work reached, and the names of the others. */
export interface Reached<A> {
  readonly results: ReadonlyArray<readonly [name: string, A]>
  readonly unreachable: ReadonlyArray<string>
}

/** Whether the tables of the fiber's database can be read. */
export const doesAnswer = (sql: Sql): Effect.Effect<boolean> => {
  // The server ends the statement, so that its connection can be closed at once.
  const limit = sql`SET LOCAL statement_timeout = ${sql.literal(String(Duration.toMillis(Databases.ANSWER_WITHIN)))}`
  const reading = sql`
    SELECT ARRAY(SELECT position FROM followers LIMIT 1), ARRAY(SELECT position FROM events LIMIT 1),
      ARRAY(SELECT 1 FROM email_log LIMIT 1), ARRAY(SELECT 1 FROM outbox LIMIT 1),
      ARRAY(SELECT 1 FROM accounts LIMIT 1)`
  return Effect.match(Effect.timeout(sql.withTransaction(Effect.andThen(limit, reading)), GIVEN_UP_AFTER), {
    onFailure: () => false,
    onSuccess: () => true,
  })
}

/** Whether work ended because its database was lost meanwhile. */
export const isLost = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(
    Cause.findErrorOption(cause),
    (error) => error instanceof StoreUnavailable && (error.isConnectionLost || error.why === "timed-out"),
  )

/** Runs work as long as its database answers, and returns how it ended; none if it was lost meanwhile. */
const watched = Effect.fnUntraced(function* <A, E, R>(answers: Effect.Effect<boolean>, work: Effect.Effect<A, E, R>) {
  const every = yield* ASK_EVERY
  // Not a child: if the database hangs, so may the end of its work, which nobody waits for.
  const worker = yield* Effect.forkDetach(work)
  let owed = 0
  const asking = Effect.delay(answers, every).pipe(
    Effect.map((isReachable) => (owed = isReachable ? 0 : owed + 1)),
    Effect.repeat({ until: () => owed === OWED_ANSWERS }),
  )
  const ended = yield* Effect.raceFirst(
    Effect.map(Fiber.await(worker), Option.some),
    Effect.as(asking, Option.none<Exit.Exit<A, E>>()),
  ).pipe(Effect.onInterrupt(() => Fiber.interrupt(worker)))
  if (Option.isNone(ended)) yield* Effect.forkDetach(Fiber.interrupt(worker))
  return ended
})

/** Runs work in every database that answers, one after the other. */
export const each = <A, E, R>(
  work: Effect.Effect<A, E, R>,
): Effect.Effect<Reached<A>, E | StoreUnavailable, R | PgClient.PgClient> =>
  Effect.gen(function* () {
    return yield* eachOf(yield* Sql, yield* Databases.all, work)
  })

/** Runs work in each of some databases that answers, one after the other. */
export const eachOf = <A, E, R>(
  sql: Sql,
  databases: ReadonlyArray<Databases.Database>,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<Reached<A>, E | StoreUnavailable, R> =>
  inEach(databases.map(({ name, run }) => ({ name, answers: run(doesAnswer(sql)), work: run(work) })))

/** Runs work that returns rows in every database that answers, and returns the rows of all of them. */
export const rowsOf = <A, E, R>(work: Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.map(each(Effect.flatMap(work, StrayAccounts.leaveOut)), ({ results, unreachable }) => ({
    rows: results.flatMap(([, rows]) => rows),
    unreachable,
  }))

/** Says what to do about cells whose servers do not come back. */
export const ifLost = (cells: ReadonlyArray<CellName>): string => {
  const [server, name] = cells.length === 1 ? ["its server", cells[0]] : ["the server of one", "NAME"]
  return `If ${server} is lost for good, promote a standby (\`waybill cells address ${name}\`) or remove the cell (\`waybill cells close ${name} --lost\`).`
}

/** The work of a database, and whether it answers. */
export interface DatabaseWork<A, E, R> {
  readonly name: string
  readonly answers: Effect.Effect<boolean>
  readonly work: Effect.Effect<A, E, R>
}

/** Runs the work of each given database that answers, one after the other. All are asked at the same time. */
export const inEach = Effect.fnUntraced(function* <A, E, R>(databases: ReadonlyArray<DatabaseWork<A, E, R>>) {
  const asked = yield* Effect.forEach(
    databases,
    (one) => Effect.map(one.answers, (isReachable) => ({ ...one, isReachable })),
    { concurrency: "unbounded" },
  )
  const results: Array<readonly [string, A]> = []
  const unreachable: Array<string> = []
  for (const { answers, isReachable, name, work } of asked) {
    const exit = isReachable ? Option.getOrUndefined(yield* watched(answers, work)) : undefined
    if (exit === undefined) unreachable.push(name)
    else if (Exit.isSuccess(exit)) results.push([name, exit.value])
    else if (isLost(exit.cause)) unreachable.push(name)
    else return yield* Effect.failCause(exit.cause)
  }
  return { results, unreachable } satisfies Reached<A>
})
