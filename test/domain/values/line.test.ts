import { Line } from "@waybill/domain/values/Line"
import { assert, describe, it } from "../../support/effectTest.ts"

const items = (line: Line<string>) => line.places.map(({ item }) => item)

describe("line", () => {
  it("keeps items in the order in which they came, whichever leave", () => {
    const line = new Line<string>()
    const [a, b, c, d] = [line.add("a"), line.add("b"), line.add("c"), line.add("d")]
    assert.isTrue(line.remove(b))
    assert.deepStrictEqual(items(line), ["a", "c", "d"])
    assert.isTrue(line.remove(a))
    assert.isTrue(line.remove(d))
    line.add("e")
    assert.deepStrictEqual(items(line), ["c", "e"])
    assert.strictEqual(line.first, c)
    assert.strictEqual(line.size, 2)
  })

  it("removes an item once", () => {
    const line = new Line<string>()
    const place = line.add("a")
    line.add("b")
    assert.isTrue(line.remove(place))
    assert.isFalse(line.remove(place))
    assert.strictEqual(line.size, 1)
  })

  it("moves an item to the end", () => {
    const line = new Line<string>()
    const [a, , c] = [line.add("a"), line.add("b"), line.add("c")]
    line.moveToEnd(a)
    assert.deepStrictEqual(items(line), ["b", "c", "a"])
    line.moveToEnd(c)
    line.moveToEnd(c)
    assert.deepStrictEqual(items(line), ["b", "a", "c"])
    assert.strictEqual(line.size, 3)
  })

  it("does not move an item that has left", () => {
    const line = new Line<string>()
    const place = line.add("a")
    line.remove(place)
    line.moveToEnd(place)
    assert.strictEqual(line.size, 0)
  })

  it("leaves a place without neighbors, so that it keeps none of them alive", () => {
    const line = new Line<string>()
    const [, b] = [line.add("a"), line.add("b"), line.add("c")]
    line.remove(b)
    assert.strictEqual(b.before, undefined)
    assert.strictEqual(b.after, undefined)
  })
})
