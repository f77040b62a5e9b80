import { OrderedWrites } from "@waybill/store/rebuild/OrderedWrites"
import { assert, describe, it } from "@effect/vitest"

/** What waits for a promise that is settled has run after this. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe("turns", () => {
  it("come in the order in which they were taken, whichever is ended first", async () => {
    const turns = new OrderedWrites()
    const came: Array<string> = []
    const [first, second, third] = ["first", "second", "third"].map((name) => {
      const turn = turns.takeTurn()
      void turn.ready.then(() => came.push(name))
      return turn
    })
    await settled()
    assert.deepStrictEqual(came, ["first"])
    // As the turn of a slice that has failed does.
    second?.end()
    await settled()
    assert.deepStrictEqual(came, ["first"])
    first?.end()
    await settled()
    assert.deepStrictEqual(came, ["first", "second", "third"])
    third?.end()
    let isNext = false
    void turns.takeTurn().ready.then(() => (isNext = true))
    await settled()
    assert.isTrue(isNext)
  })
})
