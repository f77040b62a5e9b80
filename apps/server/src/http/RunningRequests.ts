import { type Entry, Roster } from "@waybill/domain/values/Roster"
import { Effect, Fiber, type Scope } from "effect"

/** Fibers that handle requests. The end of the scope interrupts those that still run, and waits for them. */
export interface RunningRequests {
  readonly add: (fiber: Fiber.Fiber<unknown, unknown>) => void
}

export const make: Effect.Effect<RunningRequests, never, Scope.Scope> = Effect.gen(function* () {
  const running = new Roster<Fiber.Fiber<unknown, unknown>>()
  let isOver = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isOver = true
      return Fiber.interruptAll(running.items)
    }),
  )
  return {
    add: (fiber) => {
      if (isOver) fiber.interruptUnsafe()
      else follow(running, fiber)
    },
  }
})

const follow = (running: Roster<Fiber.Fiber<unknown, unknown>>, fiber: Fiber.Fiber<unknown, unknown>): void => {
  const entry: Entry<typeof fiber> = running.add(fiber)
  fiber.addObserver(() => void running.remove(entry))
}
