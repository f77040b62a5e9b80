import { OrderedWrites } from "@waybill/store/rebuild/fill/OrderedWrites"
import { assert, describe, it } from "../../../support/effectTest.ts"

/** Resolves after all callbacks of settled promises have run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe("ordered writes", () => {
  it("are made in the order of their turns, whichever ends first", async () => {
    const turns = new OrderedWrites()
    const came: Array<string> = []
    const [first, second, third] = ["first", "second", "third"].map((name) => {
      const turn = turns.takeTurn()
      void turn.ready.then(() => came.push(name))
      return turn
    })
    await settled()
    assert.deepStrictEqual(came, ["first"])
    // As after a slice that failed.
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
