import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { Availability } from "../availability/Availability.ts"
import { type CellName, FIRST } from "../routing/CellName.ts"
import { Cells } from "../routing/Cells.ts"
import { Sql } from "../postgres/Sql.ts"

/** Time limit for the database to respond. */
export const QUERY_TIMEOUT = "2 seconds"
const CONCURRENT_CELLS = 8

/**
 * Whether the start is complete. Readiness waits for it, so that its last output, which holds the first secrets, is
 * there.
 */
export const Started = Context.Reference<() => boolean>("@waybill/store/operations/Readiness/Started", {
  defaultValue: () => () => true,
})

/**
 * Returns the reasons why the database of the first cell cannot be used; empty if there are none. They contain no host names.
 * A database that answers and takes no writes is one: in the service, a small test write is part of the check.
 */
export const database: Effect.Effect<ReadonlyArray<string>, never, Availability | PgClient.PgClient> = Effect.gen(
  function* () {
    const { isWatched, verify } = yield* Availability
    if (isWatched) {
      const problem = yield* verify
      return problem === undefined ? [] : [problem.text]
    }
    const sql = yield* Sql
    return yield* sql<{ readonly is_replica: boolean }>`SELECT pg_is_in_recovery() AS is_replica`.pipe(
      Effect.timeout(QUERY_TIMEOUT),
      Effect.matchCause({
        onSuccess: ([row]) => (row?.is_replica === true ? ["the database is a read-only replica"] : []),
        onFailure: () => [SILENT],
      }),
    )
  },
)

/** Returns the reasons why this process cannot serve. */
const problems = Effect.gen(function* () {
  return (yield* Started)() ? yield* database : ["the start is not complete"]
})

/** Finds the cells, besides the first one, that take no writes now. */
const cellsDown = Effect.gen(function* () {
  const { of } = yield* Availability
  const { names } = yield* Cells
  const [, ...others] = yield* names
  const problems = yield* Effect.forEach(
    others,
    (cell) => Effect.exit(Effect.flatMap(of(cell), ({ verify }) => verify)),
    {
      concurrency: CONCURRENT_CELLS,
    },
  )
  const down = others.filter((_, nth) => problems[nth]?._tag !== "Success" || problems[nth].value !== undefined)
  return { others, down }
})

export interface Readiness {
  readonly problems: ReadonlyArray<string>
  readonly cells_down: ReadonlyArray<CellName>
}

/** Checks this process and the cells. It serves as long as one cell takes writes, also while the first one is away. */
export const check: Effect.Effect<Readiness, never, Availability | PgClient.PgClient> = Effect.gen(function* () {
  const found = yield* problems
  const { isWatched } = yield* Availability
  if (found.length === 0) return { problems: found, cells_down: (yield* cellsDown).down }
  if (!(yield* Started)() || !isWatched) return { problems: found, cells_down: [] }
  const { down, others } = yield* cellsDown
  return down.length < others.length
    ? { problems: [], cells_down: [FIRST, ...down] }
    : { problems: found, cells_down: [] }
}).pipe(Effect.catch(() => Effect.succeed({ problems: [SILENT], cells_down: [] })))

const SILENT = "the database does not respond"
