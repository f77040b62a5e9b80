import { Deadline } from "@waybill/mail/smtp/Deadline"
import { Effect } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Time by which a timer may seem early, since timers count whole milliseconds. */
const TOLERANCE_MS = 2

describe("the deadline of a connection", () => {
  /** Returns after how many milliseconds the deadline passed that `begin` sets. */
  const passes = (begin: (deadline: Deadline) => void) =>
    Effect.promise(
      () =>
        new Promise<number>((resolve) => {
          const began = performance.now()
          begin(new Deadline(() => resolve(performance.now() - began)))
        }),
    )

  it.live("passes when its time is over", function* () {
    assert.isAtLeast(yield* passes((deadline) => deadline.set(20)), 20 - TOLERANCE_MS)
  })

  it.live("is replaced by a later one, and by an earlier one", function* () {
    const later = yield* passes((deadline) => {
      deadline.set(1)
      deadline.set(60)
    })
    assert.isAtLeast(later, 60 - TOLERANCE_MS)
    yield* passes((deadline) => {
      deadline.set(10 * 60_000)
      deadline.set(1)
    })
  })

  it.live("does not pass once it is lifted, until the next one", function* () {
    let times = 0
    const deadline = new Deadline(() => times++)
    deadline.set(5)
    deadline.lift()
    yield* passes((other) => other.set(40))
    assert.strictEqual(times, 0)
    const next = yield* passes((deadline) => {
      deadline.set(1)
      deadline.lift()
      deadline.set(40)
    })
    assert.isAtLeast(next, 40 - TOLERANCE_MS)
  })
})
