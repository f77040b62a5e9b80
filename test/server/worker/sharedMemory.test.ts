import { Deferred, Effect, Fiber } from "effect"
import * as SharedMemory from "../../../apps/server/src/worker/SharedMemory.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Memory of 64 bytes, the names of granted reservations in order, and functions to reserve and release. */
const room = Effect.sync(() => {
  const withRoom = SharedMemory.make(64)
  const inside: Array<string> = []
  const enter = Effect.fnUntraced(function* (name: string, bytes: number) {
    const [account = name] = name.split(" ")
    const end = yield* Deferred.make<void>()
    const stay = Effect.ensuring(
      Effect.andThen(
        Effect.sync(() => void inside.push(name)),
        Deferred.await(end),
      ),
      Effect.sync(() => void inside.splice(inside.indexOf(name), 1)),
    )
    const fiber = yield* Effect.forkChild(withRoom(account, bytes, stay), { startImmediately: true })
    return {
      leave: Effect.andThen(Deferred.succeed(end, undefined), Fiber.await(fiber)),
      giveUp: Fiber.interrupt(fiber),
    }
  })
  const many = (account: string, count: number, bytes: number) =>
    Effect.forEach(Array.from({ length: count }), (_, i) => enter(`${account} ${i}`, bytes))
  const of = (account: string) => inside.filter((name) => name.startsWith(`${account} `)).length
  return { enter, inside, many, of, withRoom }
})

describe("memory for large messages", () => {
  it.effect("grants half to one account, and is never used up by several", function* () {
    const { many, of } = yield* room
    yield* many("a", 64, 1)
    yield* many("b", 64, 1)
    yield* many("c", 64, 1)
    yield* many("d", 1, 8)
    assert.deepStrictEqual([of("a"), of("b"), of("c"), of("d")], [32, 16, 8, 1])
  })

  it.effect("grants a large reservation that small ones would otherwise overtake", function* () {
    const { enter, many, of } = yield* room
    const small = yield* many("a", 8, 4)
    const large = yield* enter("b 0", 40)
    yield* many("c", 8, 4)
    for (const { leave } of small.slice(0, 2)) yield* leave
    assert.deepStrictEqual([of("a"), of("b"), of("c")], [6, 1, 0])
    yield* large.leave
    assert.deepStrictEqual([of("a"), of("b"), of("c")], [6, 0, 5])
  })

  it.effect("is granted account by account, however many reservations of one wait", function* () {
    const { enter, inside, many } = yield* room
    const whole = yield* enter("z", 64)
    yield* many("a", 3, 20)
    yield* many("b", 1, 20)
    yield* many("c", 1, 20)
    assert.deepStrictEqual(inside, ["z"])
    yield* whole.leave
    assert.deepStrictEqual(inside, ["a 0", "b 0", "c 0"])
  })

  it.effect(
    "is released by interrupted work, granted or waiting, and grants a reservation above its size",
    function* () {
      const { enter, inside, withRoom } = yield* room
      const whole = yield* enter("a", 1_000)
      const second = yield* enter("b", 60)
      const third = yield* enter("c", 60)
      yield* second.giveUp
      assert.deepStrictEqual(inside, ["a"])
      yield* whole.giveUp
      assert.deepStrictEqual(inside, ["c"])
      yield* third.leave
      assert.strictEqual(yield* withRoom("d", 64, Effect.succeed("done")), "done")
    },
  )
})
