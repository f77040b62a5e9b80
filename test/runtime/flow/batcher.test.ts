import * as Batcher from "@waybill/runtime/flow/Batcher"
import { Effect, Exit, Fiber } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

interface Request extends Batcher.Item<string, never> {
  readonly name: string
}

const closed = Exit.die(new Error("closed"))

const make = (options: Partial<Batcher.Options<Request>> = {}) =>
  Effect.gen(function* () {
    const batcher = yield* Batcher.make<string, never, Request>(
      { capacity: 10, maxItems: () => 10, ...options },
      closed,
    )
    /** Submits requests one after the other, without waiting for their answers. */
    const submit = (...names: ReadonlyArray<string>) =>
      Effect.forEach(names, (name) =>
        Effect.forkChild(
          batcher.submit((complete) => ({ name, complete })),
          { startImmediately: true },
        ),
      )
    const take = Effect.map(batcher.take, (batch) => batch.map(({ name }) => name))
    return { batcher, submit, take }
  })

describe("batcher", () => {
  it.effect("takes everything that waits, and gives each caller its own answer", function* () {
    const { batcher, submit } = yield* make()
    const callers = yield* submit("a", "b", "c")
    for (const { complete, name } of yield* batcher.take) complete(Exit.succeed(`done ${name}`))
    assert.deepStrictEqual(yield* Fiber.joinAll(callers), ["done a", "done b", "done c"])
  })

  it.effect("waits for the first request", function* () {
    const { submit, take } = yield* make()
    const batch = yield* Effect.forkChild(take, { startImmediately: true })
    yield* submit("a")
    assert.deepStrictEqual(yield* Fiber.join(batch), ["a"])
  })

  it.effect("bounds a batch by the number of those that wait", function* () {
    const { submit, take } = yield* make({ maxItems: (waiting) => Math.ceil((1 + waiting) / 2) })
    yield* submit("a", "b", "c", "d")
    assert.deepStrictEqual([yield* take, yield* take, yield* take], [["a", "b"], ["c"], ["d"]])
  })

  it.effect("ends a batch that has reached its weight", function* () {
    const { submit, take } = yield* make({ maxWeight: 4, weightOf: ({ name }) => name.length })
    yield* submit("aaa", "bbb", "c", "dddddd", "e")
    assert.deepStrictEqual([yield* take, yield* take, yield* take], [["aaa", "bbb"], ["c", "dddddd"], ["e"]])
  })

  it.effect("gives an exclusive request a batch of its own, in its turn", function* () {
    const { submit, take } = yield* make({ isExclusive: ({ name }) => name === "x" })
    yield* submit("a", "x", "b", "c")
    assert.deepStrictEqual([yield* take, yield* take, yield* take], [["a"], ["x"], ["b", "c"]])
  })

  it.effect("makes callers beyond its capacity wait for a place", function* () {
    const { batcher, submit } = yield* make({ capacity: 2 })
    const callers = yield* submit("a", "b", "c")
    for (let answered = 0; answered < 3;) {
      const batch = yield* batcher.take
      Batcher.completeAll(batch, Exit.succeed("done"))
      answered += batch.length
    }
    assert.deepStrictEqual(yield* Fiber.joinAll(callers), ["done", "done", "done"])
  })

  it.effect("completes all waiting and later requests when it is closed", function* () {
    const { batcher, submit, take } = yield* make({ capacity: 2, isExclusive: ({ name }) => name === "x" })
    const first = yield* submit("a", "x", "b", "c")
    assert.deepStrictEqual(yield* take, ["a"])
    yield* batcher.close
    const later = yield* submit("d")
    for (const caller of [...first.slice(1), ...later]) assert.isTrue(Exit.hasDies(yield* Fiber.await(caller)))
    const [answered] = first
    assert.isUndefined(answered?.pollUnsafe(), "a request of a batch is answered by whoever took the batch")
  })
})
