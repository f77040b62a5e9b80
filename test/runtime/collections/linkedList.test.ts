import { LinkedList } from "@waybill/runtime/collections/LinkedList"
import { assert, describe, it } from "../../support/effectTest.ts"

const items = (list: LinkedList<string>) => list.places.map(({ item }) => item)

describe("a linked list", () => {
  it("keeps items in the order in which they came, whichever leave", () => {
    const list = new LinkedList<string>()
    const [a, b, c, d] = [list.add("a"), list.add("b"), list.add("c"), list.add("d")]
    assert.isTrue(list.remove(b))
    assert.deepStrictEqual(items(list), ["a", "c", "d"])
    assert.isTrue(list.remove(a))
    assert.isTrue(list.remove(d))
    list.add("e")
    assert.deepStrictEqual(items(list), ["c", "e"])
    assert.strictEqual(list.first, c)
    assert.strictEqual(list.size, 2)
  })

  it("removes an item once", () => {
    const list = new LinkedList<string>()
    const place = list.add("a")
    list.add("b")
    assert.isTrue(list.remove(place))
    assert.isFalse(list.remove(place))
    assert.strictEqual(list.size, 1)
  })

  it("moves an item to the end", () => {
    const list = new LinkedList<string>()
    const [a, , c] = [list.add("a"), list.add("b"), list.add("c")]
    list.moveToEnd(a)
    assert.deepStrictEqual(items(list), ["b", "c", "a"])
    list.moveToEnd(c)
    list.moveToEnd(c)
    assert.deepStrictEqual(items(list), ["b", "a", "c"])
    assert.strictEqual(list.size, 3)
  })

  it("does not move an item that has left", () => {
    const list = new LinkedList<string>()
    const place = list.add("a")
    list.remove(place)
    list.moveToEnd(place)
    assert.strictEqual(list.size, 0)
  })

  it("leaves a place without neighbors, so that it keeps none of them alive", () => {
    const list = new LinkedList<string>()
    const [, b] = [list.add("a"), list.add("b"), list.add("c")]
    list.remove(b)
    assert.strictEqual(b.before, undefined)
    assert.strictEqual(b.after, undefined)
  })
})
