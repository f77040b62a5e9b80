import { LruCache } from "@waybill/runtime/collections/LruCache"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("LRU cache", () => {
  it("removes the entry used longest ago when there are too many", () => {
    const cache = new LruCache<string, number>({ maxEntries: 2 })
    cache.set("a", 1)
    cache.set("b", 2)
    assert.strictEqual(cache.get("a"), 1)
    cache.set("c", 3)
    assert.strictEqual(cache.get("b"), undefined)
    assert.strictEqual(cache.get("a"), 1)
    assert.strictEqual(cache.size, 2)
  })

  it("counts a second set of a key as a use, and replaces the value", () => {
    const cache = new LruCache<string, number>({ maxEntries: 2 })
    cache.set("a", 1)
    cache.set("b", 2)
    cache.set("a", 3)
    cache.set("c", 4)
    assert.strictEqual(cache.get("a"), 3)
    assert.strictEqual(cache.get("b"), undefined)
  })

  it("keeps the sum of weights within its bound, also after deletes", () => {
    const cache = new LruCache<string, string>({ maxEntries: 10, maxWeight: 6, weigh: (text) => text.length })
    cache.set("a", "aaa")
    cache.set("b", "bb")
    cache.set("c", "cc")
    assert.strictEqual(cache.get("a"), undefined)
    cache.delete("b")
    cache.delete("b")
    cache.set("d", "dddd")
    assert.strictEqual(cache.size, 2)
    cache.set("e", "eeeeee")
    assert.strictEqual(cache.size, 1)
    assert.strictEqual(cache.get("e"), "eeeeee")
  })

  it("does not store a value heavier than the bound, and removes what the key had", () => {
    const cache = new LruCache<string, string>({ maxEntries: 10, maxWeight: 3, weigh: (text) => text.length })
    cache.set("a", "a")
    cache.set("b", "b")
    cache.set("a", "aaaa")
    assert.strictEqual(cache.get("a"), undefined)
    assert.strictEqual(cache.get("b"), "b")
  })
})
