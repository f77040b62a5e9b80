import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { REPORT_EVERY, waitingFor } from "../../../apps/server/src/process/waitingFor.ts"
import { assert, it } from "../../support/effectTest.ts"

it.effect("a long wait logs what it waits for, repeatedly", function* () {
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => void logged.push(String(message)))
  const waiting = yield* Effect.succeed("there").pipe(
    Effect.delay("12 seconds"),
    waitingFor("the database"),
    Effect.provide(Logger.layer([logger])),
    Effect.forkChild,
  )
  yield* TestClock.adjust("4 seconds")
  assert.deepStrictEqual(logged, [])
  yield* TestClock.adjust(REPORT_EVERY)
  assert.deepStrictEqual(logged, ["still waiting for the database"])
  yield* TestClock.adjust("3 seconds")
  assert.strictEqual(yield* Fiber.join(waiting), "there")
  assert.lengthOf(logged, 2)
})
