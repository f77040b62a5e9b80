import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect, Fiber } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Longer than the time that pieces of work share in a turn. */
const PIECE_MS = 12
/** As long as a late rendering. */
const LONG_MS = 50

const busy = Effect.sync(() => {
  const until = performance.now() + PIECE_MS
  while (performance.now() < until);
})

describe("a shared turn", () => {
  it.live("lets other work in after the time that pieces share, and keeps their order", function* () {
    const order: Array<string> = []
    const piece = (name: string) =>
      Turn.shared("one").pipe(Effect.andThen(busy), Effect.andThen(Effect.sync(() => order.push(name))))
    let isDone = false
    const other = Effect.gen(function* () {
      while (!isDone) {
        yield* Turn.next
        order.push("other")
      }
    })
    const names = Array.from({ length: 8 }, (_, nth) => `piece ${nth}`)
    const pieces = Effect.forEach(names, piece, { concurrency: "unbounded" })
    const done = Effect.sync(() => (isDone = true))
    yield* Effect.all([other, Effect.andThen(pieces, done)], { concurrency: 2 })
    assert.deepStrictEqual(
      order.filter((name) => name !== "other"),
      names,
    )
    const isPiece = (nth: number) => order[nth]?.startsWith("piece") === true
    for (const nth of order.keys()) assert.isFalse(isPiece(nth) && isPiece(nth + 1), order.join(", "))
  })

  it.live("is not given to who was interrupted while waiting", function* () {
    const done: Array<number> = []
    yield* Effect.andThen(Turn.shared("one"), busy)
    const wait = (nth: number) =>
      Effect.andThen(
        Turn.shared("one"),
        Effect.sync(() => done.push(nth)),
      )
    const first = yield* Effect.forkChild(wait(1), { startImmediately: true })
    const second = yield* Effect.forkChild(wait(2), { startImmediately: true })
    yield* Fiber.interrupt(first)
    yield* Fiber.join(second)
    assert.deepStrictEqual(done, [2])
  })

  it.live("goes from account to account, however much one of them has waiting", function* () {
    const order: Array<string> = []
    yield* Effect.andThen(Turn.shared("first"), busy)
    const pieces = ["many", "many", "many", "few", "few", "single"].map((account) =>
      Turn.shared(account).pipe(Effect.andThen(busy), Effect.andThen(Effect.sync(() => order.push(account)))),
    )
    yield* Effect.all(pieces, { concurrency: "unbounded", discard: true })
    assert.deepStrictEqual(order, ["many", "few", "single", "many", "few", "many"])
  })

  it.live("gives other work several turns after a piece that took long", function* () {
    yield* Turn.shared("one")
    const until = performance.now() + LONG_MS
    while (performance.now() < until);
    let turns = 0
    const other = Effect.forever(
      Effect.andThen(
        Turn.next,
        Effect.sync(() => turns++),
      ),
    )
    yield* Effect.race(Turn.shared("one"), other)
    assert.isAbove(turns, 5)
  })
})
