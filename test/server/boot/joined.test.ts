import { Deferred, Effect, Fiber } from "effect"
import { shareRunning } from "../../../apps/server/src/operate/shareRunning.ts"
import { assert, it } from "../../support/effectTest.ts"

// threat: documents
it.effect("a joined effect runs once at a time, and survives its first caller", function* () {
  let begun = 0
  const gate = yield* Deferred.make<void>()
  const work = shareRunning(
    Effect.suspend(() => {
      const nth = ++begun
      return Effect.as(Deferred.await(gate), nth)
    }),
  )
  const first = yield* Effect.forkChild(work, { startImmediately: true })
  const others = yield* Effect.forEach(Array.from({ length: 50 }), () =>
    Effect.forkChild(work, { startImmediately: true }),
  )
  yield* Fiber.interrupt(first)
  yield* Deferred.succeed(gate, undefined)
  assert.deepStrictEqual(new Set(yield* Effect.forEach(others, Fiber.join)), new Set([1]))
  assert.strictEqual(yield* work, 2)
})
