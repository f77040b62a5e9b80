import type { CellName } from "@waybill/store/routing/CellName"
import { Cells } from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Cause, Duration, Effect, Fiber } from "effect"
import { type StoreUnavailable, unlessAway } from "@waybill/store/postgres/StoreUnavailable"

/**
 * Time that a task waits for its work in a cell. The work goes on there, but the task ends, so that a cell that hangs holds no
 * slot of the task runner.
 */
export const WAIT_FOR_CELL = Duration.seconds(5)
/** Number of cells whose work a task starts and waits for at the same time. */
const CONCURRENT_CELLS = 8

/**
 * Makes tasks of periodic work in every cell. A cell that fails or is slow keeps the work from no other cell, nor other tasks
 * from their turn. In a cell where the work of an earlier run still goes on, it is not started again.
 */
export const make = Effect.map(
  Effect.scope,
  (scope) =>
    <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<void, StoreUnavailable, R> => {
      const busy = new Set<CellName>()
      const start = (cell: CellName) => {
        busy.add(cell)
        return inCell(cell, work).pipe(
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : unlessAway(
                  Effect.logError("task failed in a cell; its schedule runs it again", { cell }, cause),
                  cause,
                ),
          ),
          Effect.ensuring(Effect.sync(() => busy.delete(cell))),
          Effect.forkIn(scope),
        )
      }
      const startAndWait = (cell: CellName) =>
        Effect.flatMap(start(cell), (running) => Effect.timeoutOption(Fiber.await(running), WAIT_FOR_CELL))
      return Effect.gen(function* () {
        const { names } = yield* Cells
        const idle = (yield* names).filter((cell) => !busy.has(cell))
        yield* Effect.forEach(idle, startAndWait, { concurrency: CONCURRENT_CELLS, discard: true })
      })
    },
)
