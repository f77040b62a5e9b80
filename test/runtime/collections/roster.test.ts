import { Roster } from "@waybill/runtime/collections/Roster"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("a roster", () => {
  it("has the items that were added and not removed, each removed once", () => {
    const roster = new Roster<string>()
    const [a, b, c, d] = ["a", "b", "c", "d"].map((item) => roster.add(item))
    if (a === undefined || b === undefined || c === undefined || d === undefined) return assert.fail()
    assert.deepStrictEqual(roster.items, ["a", "b", "c", "d"])
    assert.isTrue(roster.remove(b))
    assert.isFalse(roster.remove(b))
    assert.deepStrictEqual(roster.items.toSorted(), ["a", "c", "d"])
    assert.isTrue(roster.remove(d))
    assert.isTrue(roster.remove(a))
    roster.add("e")
    assert.deepStrictEqual(roster.items.toSorted(), ["c", "e"])
    assert.strictEqual(roster.size, 2)
    assert.isTrue(roster.remove(c))
    assert.isBelow(c.place, 0)
    assert.deepStrictEqual(roster.items, ["e"])
  })

  it("may lose items while they are visited", () => {
    const roster = new Roster<number>()
    const entries = [1, 2, 3].map((item) => roster.add(item))
    const visited: Array<number> = []
    for (const item of roster.items) {
      visited.push(item)
      for (const entry of entries) roster.remove(entry)
    }
    assert.deepStrictEqual(visited, [1, 2, 3])
    assert.strictEqual(roster.size, 0)
  })
})
