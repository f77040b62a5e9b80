import { Effect, Fiber, Latch } from "effect"
import * as FairSlots from "@waybill/runtime/flow/FairSlots"
import { assert, it } from "../../support/effectTest.ts"

// threat: provider-calls
it.effect("an owner whose work hangs leaves slots to the others", function* () {
  const slots = FairSlots.make({ all: 4, perOwner: 2 })
  const open = yield* Latch.make()
  const done: Array<string> = []
  const work = (name: string) =>
    Effect.andThen(
      open.await,
      Effect.sync(() => done.push(name)),
    )
  const hanging = yield* Effect.forEach(["a", "b", "c"], (name) => Effect.forkChild(slots("slow")(work(name))))
  yield* Effect.yieldNow
  assert.strictEqual(yield* slots("quick")(Effect.succeed("answered")), "answered")
  // Work that is given up leaves no slot behind.
  yield* Effect.forEach(hanging, Fiber.interrupt)
  yield* open.open
  yield* Effect.forEach(["d", "e", "f"], (name) => slots("slow")(work(name)))
  assert.deepStrictEqual(done, ["d", "e", "f"])
})
