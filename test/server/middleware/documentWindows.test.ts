import * as DocumentWindows from "../../../apps/server/src/http/pages/DocumentWindows.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const LIMITS = { requests: 3, bytes: 100, allBytes: 400, firstBytes: 30, searches: 2, allSearches: 3 }
const [PAGE, SEARCH] = ["/docs/start", "/docs/search.json"]
const MINUTE_MS = 60_000

describe("rate windows of documents", () => {
  it("count requests per address (IPv6: per /64) and restart each minute", () => {
    const { count } = DocumentWindows.make(LIMITS)
    const refused = (address: string, now_ms: number) => count(address, now_ms, PAGE).refusal !== undefined
    const same = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"]
    assert.deepStrictEqual(
      same.map((address) => refused(address, 0)),
      [false, false, false, true],
    )
    assert.isFalse(refused("2001:db8:0:1::1", 0))
    const late = count("2001:db8::1", MINUTE_MS - 1_000, PAGE)
    assert.deepStrictEqual([late.refusal?.retry_after_s, late.standing.remaining], [1, 0])
    assert.isFalse(refused("2001:db8::1", MINUTE_MS))
  })

  // threat: documents
  it("count searches on their own, per address and in total", () => {
    const { count } = DocumentWindows.make(LIMITS)
    const refused = (address: string, path = SEARCH, now_ms = 0) => count(address, now_ms, path).refusal !== undefined
    assert.deepStrictEqual(
      [refused("1.1.1.1"), refused("1.1.1.1", "/docs/search"), refused("1.1.1.1"), refused("1.1.1.1", PAGE)],
      [false, false, true, false],
    )
    assert.deepStrictEqual([refused("2.2.2.2"), refused("3.3.3.3"), refused("3.3.3.3", PAGE)], [false, true, false])
    assert.isFalse(refused("3.3.3.3", SEARCH, MINUTE_MS))
  })

  // threat: documents
  it("count bytes per address and in total", () => {
    const { charge } = DocumentWindows.make(LIMITS)
    const refused = (address: string, bytes: number, now_ms = 0) => charge(address, now_ms, bytes) !== undefined
    assert.deepStrictEqual(
      [refused("1.1.1.1", 60), refused("1.1.1.1", 60), refused("1.1.1.1", 40)],
      [false, true, false],
    )
    assert.deepStrictEqual([refused("2.2.2.2", 100), refused("3.3.3.3", 100)], [false, false])
    assert.isTrue(refused("4.4.4.4", 60))
    assert.isFalse(refused("1.1.1.1", 60, MINUTE_MS))
  })

  it("reserve a quarter of the bytes for addresses that received little", () => {
    const { charge } = DocumentWindows.make(LIMITS)
    const refused = (address: string, bytes: number) => charge(address, 0, bytes) !== undefined
    for (const address of ["1.1.1.1", "2.2.2.2", "3.3.3.3"]) assert.isFalse(refused(address, 100))
    assert.isTrue(refused("4.4.4.4", 31))
    assert.deepStrictEqual([refused("4.4.4.4", 30), refused("4.4.4.4", 1)], [false, true])
    assert.isFalse(refused("5.5.5.5", 30))
  })

  it("tell so many addresses apart in a minute, and count all others together", () => {
    const { count } = DocumentWindows.make(LIMITS)
    const refused = (address: string) => count(address, 0, PAGE).refusal !== undefined
    for (let nth = 0; nth < DocumentWindows.MAX_ADDRESSES; nth++)
      assert.isFalse(refused(`10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`))
    assert.deepStrictEqual(["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"].map(refused), [false, false, false, true])
    // An address that came before them keeps its own window.
    assert.isFalse(refused("10.0.0.0"))
  })
})
