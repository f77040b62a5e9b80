import { Roster } from "@waybill/runtime/collections/Roster"
import { Effect, Fiber, type Scope } from "effect"

/**
 * Fibers that handle requests or rows. The end of the scope interrupts those that still run, and waits for them. A `FiberSet`
 * would keep what each of them has held alive (docs/decisions/0065-pay-for-each-optimisation.md).
 */
export interface RunningFibers {
  readonly add: (fiber: Fiber.Fiber<unknown, unknown>) => void
  /** Starts work at once, in a fiber of its own. */
  readonly start: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<Fiber.Fiber<A, E>, never, R>
}

export const make: Effect.Effect<RunningFibers, never, Scope.Scope> = Effect.gen(function* () {
  const running = new Roster<Fiber.Fiber<unknown, unknown>>()
  let isOver = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isOver = true
      return Fiber.interruptAll(running.items)
    }),
  )
  const add = (fiber: Fiber.Fiber<unknown, unknown>): void => {
    if (isOver) return fiber.interruptUnsafe()
    const entry = running.add(fiber)
    fiber.addObserver(() => void running.remove(entry))
  }
  return {
    add,
    start: (work) =>
      Effect.map(Effect.forkDetach(work, { startImmediately: true }), (fiber) => {
        add(fiber)
        return fiber
      }),
  }
})
