import { Deferred, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import * as EndpointTurns from "../../../apps/server/src/worker/webhooks/EndpointTurns.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const { MAX_CALLS_PER_WEBHOOK, MAX_WAITING_PER_WEBHOOK, MIN_CALLS_PER_WEBHOOK } = EndpointTurns

const answered = () => true

/** Calls that last until they are answered or interrupted. */
const calls = Effect.fnUntraced(function* (turns: EndpointTurns.EndpointTurns, webhook: string, count: number) {
  const answer = Deferred.makeUnsafe<boolean>()
  const fibers = yield* Effect.forEach(Array.from({ length: count }), () =>
    Effect.forkChild(turns.take(webhook, Deferred.await(answer), (it) => it)),
  )
  yield* Effect.yieldNow
  return { answer, fibers }
})

/** Returns the number of calls admitted at once. */
const places = Effect.fnUntraced(function* (turns: EndpointTurns.EndpointTurns, webhook: string, ok: boolean) {
  let called = 0
  const answer = Deferred.makeUnsafe<boolean>()
  const call = Effect.andThen(
    Effect.sync(() => called++),
    Deferred.await(answer),
  )
  const fibers = yield* Effect.forEach(Array.from({ length: MAX_CALLS_PER_WEBHOOK + 1 }), () =>
    Effect.forkChild(turns.take(webhook, call, (it) => it)),
  )
  yield* Effect.yieldNow
  const seen = called
  yield* TestClock.adjust("2 seconds")
  yield* Deferred.succeed(answer, ok)
  yield* Fiber.joinAll(fibers)
  return seen
})

describe("turns of calls to an endpoint", () => {
  it.effect("are given up to a limit, and to the next waiting call when one ends", function* () {
    const turns = EndpointTurns.make()
    const { answer } = yield* calls(turns, "a", MAX_CALLS_PER_WEBHOOK)
    const next = yield* Effect.forkChild(turns.take("a", Effect.succeed("called"), answered))
    assert.deepStrictEqual(yield* turns.take("b", Effect.succeed("called"), answered), Option.some("called"))
    yield* Effect.yieldNow
    assert.isUndefined(next.pollUnsafe())
    yield* Deferred.succeed(answer, true)
    assert.deepStrictEqual(yield* Fiber.join(next), Option.some("called"))
    assert.strictEqual(turns.size(), 0)
  })

  it.effect("are refused to all waiting calls if none was admitted for two seconds", function* () {
    const turns = EndpointTurns.make()
    const { answer, fibers } = yield* calls(turns, "a", MAX_CALLS_PER_WEBHOOK)
    const line = yield* calls(turns, "a", MAX_WAITING_PER_WEBHOOK)
    assert.isTrue(turns.isStuck("a"))
    assert.isTrue(Option.isNone(yield* turns.take("a", Effect.void, answered)))
    yield* TestClock.adjust("1999 millis")
    assert.isUndefined(line.fibers[0]?.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.isTrue((yield* Fiber.joinAll(line.fibers)).every(Option.isNone))
    assert.isTrue(turns.isStuck("a"))
    assert.isFalse(turns.isStuck("b"))
    yield* Deferred.succeed(answer, true)
    yield* Fiber.joinAll(fibers)
    assert.isFalse(turns.isStuck("a"))
    assert.isTrue(Option.isSome(yield* turns.take("a", Effect.void, answered)))
  })

  it.effect("are halved by a call without an answer, and increase by one with every answer", function* () {
    const turns = EndpointTurns.make()
    assert.strictEqual(yield* places(turns, "a", false), MAX_CALLS_PER_WEBHOOK)
    assert.strictEqual(yield* places(turns, "a", true), MIN_CALLS_PER_WEBHOOK)
    assert.strictEqual(yield* places(turns, "a", true), 2 * MIN_CALLS_PER_WEBHOOK)
    assert.strictEqual(turns.size(), 1)
    for (let n = 0; n < 3; n++) yield* places(turns, "a", true)
    assert.strictEqual(yield* places(turns, "a", true), MAX_CALLS_PER_WEBHOOK)
    assert.strictEqual(turns.size(), 0)
  })

  it.effect("are not lost by interrupted calls, waiting or admitted", function* () {
    const turns = EndpointTurns.make()
    const { fibers } = yield* calls(turns, "a", MAX_CALLS_PER_WEBHOOK)
    const line = yield* calls(turns, "a", 3)
    const [first, second] = line.fibers
    if (first === undefined || second === undefined) return assert.fail("nobody stands in line")
    yield* Fiber.interrupt(first)
    // The turn goes to the second call, which is interrupted at the same time.
    yield* Fiber.interruptAll([...fibers.slice(0, 1), second])
    yield* Fiber.interruptAll([...fibers, ...line.fibers])
    assert.strictEqual(turns.size(), 0)
  })
})
