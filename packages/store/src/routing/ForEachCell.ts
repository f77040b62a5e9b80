import { repeatWork, unlessAway } from "../postgres/StoreUnavailable.ts"
import { Duration, Effect, Exit, Scope } from "effect"
import { type CellName, FIRST } from "./CellName.ts"
import { Cells } from "./Cells.ts"
import { inCell } from "./CurrentCell.ts"

/** Interval at which a process looks for new cells, so that each is served a few seconds after it is made. */
export const LOOK_EVERY = Duration.seconds(1)

/** Something that runs for every cell, such as a loop or a pipeline. */
export interface ForEachCell<A> {
  /** The instance of a cell; undefined if this process has not started it yet. */
  readonly at: (cell: CellName) => A | undefined
}

/**
 * Starts something in every cell, and in each new cell soon after it is made. One that takes long to start, or fails to,
 * keeps no other cell waiting. Instances stop at the same time, when the scope closes; that of a removed cell stops before.
 */
export const make = Effect.fnUntraced(function* <A, E, R>(
  start: Effect.Effect<A, E, R | Scope.Scope>,
): Effect.fn.Return<ForEachCell<A>, E, Exclude<R, Scope.Scope> | Scope.Scope> {
  const { names } = yield* Cells
  const own = yield* Scope.fork(yield* Effect.scope, "sequential")
  const instancesScope = yield* Scope.fork(own, "parallel")
  const instances = new Map<CellName, { readonly instance: A; readonly scope: Scope.Closeable }>()

  const starting = new Set<CellName>()

  const startIn = (cell: CellName) =>
    Effect.gen(function* () {
      const scope = yield* Scope.fork(instancesScope, "sequential")
      const instance = yield* Effect.onExit(inCell(cell, Scope.provide(start, scope)), (exit) =>
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
