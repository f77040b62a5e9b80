import { PgClient } from "@effect/sql-pg"
import { type Cause, Duration, Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import type { CellName } from "./CellName.ts"
import { ANSWER_WITHIN, Cells } from "./Cells.ts"
import { inCell } from "./CurrentCell.ts"

/** Time limit if the server does not end the query itself. */
const GIVEN_UP_AFTER = Duration.seconds(6)

/** Results of the cells that work reached, and the names of the others. */
export interface Reached<A> {
  readonly results: ReadonlyArray<readonly [CellName, A]>
  readonly unreachable: ReadonlyArray<CellName>
}

/** Whether the tables of a cell can be read. In a cluster, the connection to the coordinator alone does not say so. */
export const doesAnswer = (sql: PgClient.PgClient): Effect.Effect<boolean> => {
  // The server ends the statement, so that its connection can be closed at once.
  const limit = sql`SET LOCAL statement_timeout = ${sql.literal(String(Duration.toMillis(ANSWER_WITHIN)))}`
  const reading = sql`
    SELECT ARRAY(SELECT position FROM followers LIMIT 1), ARRAY(SELECT position FROM events LIMIT 1),
      ARRAY(SELECT 1 FROM email_log LIMIT 1), ARRAY(SELECT 1 FROM outbox LIMIT 1),
      ARRAY(SELECT 1 FROM accounts LIMIT 1)`
  return Effect.match(Effect.timeout(sql.withTransaction(Effect.andThen(limit, reading)), GIVEN_UP_AFTER), {
    onFailure: () => false,
    onSuccess: () => true,
  })
}

/** Whether work ended because its cell was lost meanwhile. */
export const isLost = (cause: Cause.Cause<unknown>): boolean =>
  SqlErrors.isConnectionLost(cause) ||
  cause.reasons.some((reason) => {
    const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    return error instanceof SqlError.SqlError && TIMEOUTS.has(error.reason._tag)
  })

const TIMEOUTS: ReadonlySet<string> = new Set(["LockTimeoutError", "StatementTimeoutError"])

/** Runs work in every cell that answers, one after the other. */
export const each = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<Reached<A>, E, R | PgClient.PgClient> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { names } = yield* Cells
    return yield* inEach(yield* names, (cell) => ({
      answers: inCell(cell, doesAnswer(sql)),
      work: inCell(cell, work),
    }))
  })

/** Runs work that returns rows in every cell that answers, and returns the rows of all of them. */
export const rowsOf = <A, E, R>(work: Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.map(each(work), ({ results, unreachable }) => ({ rows: results.flatMap(([, rows]) => rows), unreachable }))

/** Runs the work of each given cell that answers, one after the other. All cells are asked at the same time. */
export const inEach = Effect.fnUntraced(function* <A, E, R>(
  cells: ReadonlyArray<CellName>,
  inCell: (cell: CellName) => { readonly answers: Effect.Effect<boolean>; readonly work: Effect.Effect<A, E, R> },
) {
  const asked = yield* Effect.forEach(
    cells,
    (cell) => {
      const { answers, work } = inCell(cell)
      return Effect.map(answers, (isReachable) => ({ cell, isReachable, work }))
    },
    { concurrency: "unbounded" },
  )
  const results: Array<readonly [CellName, A]> = []
  const unreachable: Array<CellName> = []
  for (const { cell, isReachable, work } of asked) {
    if (!isReachable) {
      unreachable.push(cell)
      continue
    }
    const exit = yield* Effect.exit(work)
    if (Exit.isSuccess(exit)) results.push([cell, exit.value])
    else if (isLost(exit.cause)) unreachable.push(cell)
    else return yield* Effect.failCause(exit.cause)
  }
  return { results, unreachable } satisfies Reached<A>
})
