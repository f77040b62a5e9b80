import { repeatWork, type StoreUnavailable, unlessAway } from "../postgres/StoreUnavailable.ts"
import { Cause, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { type CellName, FIRST } from "./CellName.ts"
import { Cells } from "./Cells.ts"
import { inCell } from "./CurrentCell.ts"

/** Interval at which a process looks for new cells, so that each is served a few seconds after it is made. */
export const LOOK_EVERY = Duration.seconds(1)

/** Something that runs for every database, such as a loop or a pipeline. */
export interface EveryDatabase<A> {
  /** The instance of a database by its name; undefined if this process has not started it yet. */
  readonly at: (name: string) => A | undefined
}

/**
 * Starts something in every database, and in each new one soon after it is made. One that takes long to start, or fails to, keeps
 * no other waiting. Instances stop at the same time, when the scope closes; that of a removed cell stops before.
 */
export const start = Effect.fnUntraced(function* <A, E, R>(
  build: Effect.Effect<A, E, R | Scope.Scope>,
): Effect.fn.Return<EveryDatabase<A>, E, Exclude<R, Scope.Scope> | Scope.Scope> {
  const { names } = yield* Cells
  const own = yield* Scope.fork(yield* Effect.scope, "sequential")
  const instancesScope = yield* Scope.fork(own, "parallel")
  const instances = new Map<CellName, { readonly instance: A; readonly scope: Scope.Closeable }>()

  const starting = new Set<CellName>()

  const startIn = (cell: CellName) =>
    Effect.gen(function* () {
      const scope = yield* Scope.fork(instancesScope, "sequential")
      const instance = yield* Effect.onExit(inCell(cell, Scope.provide(build, scope)), (exit) =>
        Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit),
      )
      instances.set(cell, { instance, scope })
    })
  const startOrLog = (cell: CellName) => {
    starting.add(cell)
    return startIn(cell).pipe(
      Effect.catchCause((cause) =>
        inCell(
          cell,
          unlessAway(
            Effect.logError("work on a cell could not be started; it will be tried again", { cell }, cause),
            cause,
          ),
        ),
      ),
      Effect.ensuring(Effect.sync(() => starting.delete(cell))),
    )
  }
  const stop = (cell: CellName, { scope }: { readonly scope: Scope.Closeable }) => {
    instances.delete(cell)
    return Effect.forkIn(Scope.close(scope, Exit.void), own)
  }
  const follow = Effect.gen(function* () {
    const cells = yield* names
    for (const [cell, started] of instances) if (!cells.includes(cell)) yield* stop(cell, started)
    const added = cells.filter((cell) => !instances.has(cell) && !starting.has(cell))
    yield* Effect.forEach(added, (cell) => Effect.forkIn(startOrLog(cell), own), { discard: true })
    return LOOK_EVERY
  })

  yield* startIn(FIRST)
  const failed = "cells could not be listed; it will be tried again"
  yield* Scope.provide(repeatWork(follow, { failed, retryAfter: LOOK_EVERY }), own)
  return { at: (cell) => instances.get(cell)?.instance }
})

/**
 * Time that a task waits for its work in a database. The work goes on there, but the task ends, so that one that hangs holds no
 * slot of the task runner.
 */
export const WAIT_FOR_TASK = Duration.seconds(5)
/** Number of databases whose work a task starts and waits for at the same time. */
const CONCURRENT_TASKS = 8

/**
 * Makes tasks of periodic work in every database. One that fails or is slow keeps the work from no other, nor other tasks from
 * their turn. Where the work of an earlier run still goes on, it is not started again.
 */
export const periodic = Effect.map(
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
        Effect.flatMap(start(cell), (running) => Effect.timeoutOption(Fiber.await(running), WAIT_FOR_TASK))
      return Effect.gen(function* () {
        const { names } = yield* Cells
        const idle = (yield* names).filter((cell) => !busy.has(cell))
        yield* Effect.forEach(idle, startAndWait, { concurrency: CONCURRENT_TASKS, discard: true })
      })
    },
)
