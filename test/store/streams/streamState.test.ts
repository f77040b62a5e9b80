import * as Domain from "@waybill/domain/domain/Domain"
import * as Email from "@waybill/domain/email/Email"
import type { EventRow } from "@waybill/store/log/RecordedEvents"
import * as StreamState from "@waybill/store/streams/StreamState"
import * as StreamStateCache from "@waybill/store/streams/StreamStateCache"
import { assert, describe, it } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"

describe("rows continue a known state", () => {
  const row = (event_id: string, xmin: string) => ({ event_id, xmin }) as unknown as EventRow
  const known: StreamState.StreamState = { ...StreamState.initial(Email), version: 7, last: row("evt_7", "100") }

  it("when the last known event is in the same row", () => {
    assert.isTrue(StreamState.isContinuedBy(known, [row("evt_7", "100"), row("evt_8", "101")]))
    assert.isTrue(StreamState.isContinuedBy(StreamState.initial(Email), []))
  })
  it("not when it is missing or another event, as after a failover that reuses transaction ids", () => {
    assert.isFalse(StreamState.isContinuedBy(known, []))
    assert.isFalse(StreamState.isContinuedBy(known, [row("evt_8", "100")]))
  })
  it("not when its row was rewritten, as by an erasure", () => {
    assert.isFalse(StreamState.isContinuedBy(known, [row("evt_7", "102")]))
  })
})

describe("stream state cache", () => {
  const stateOf = (version: number, chars: number): StreamState.StreamState => ({
    aggregate: Email,
    version,
    // As JSON, with its quotes, this long.
    state: "x".repeat(chars - 2),
    last: { event_id: id("EventId"), xmin: "1" },
  })
  const read = (chars: number) => ({ data: { text: "x".repeat(chars - '{"text":""}'.length) } }) as unknown as EventRow
  const cached = (cache: StreamStateCache.StreamStateCache, ...keys: ReadonlyArray<string>) =>
    keys.filter((key) => cache.find(key, Email) !== undefined)

  it("holds states of long streams only", () => {
    const cache = StreamStateCache.make({ streamEvents: 3, states: 9, chars: 900, stateChars: 900 })
    cache.store("short", stateOf(3, 10))
    cache.store("long", stateOf(4, 10))
    assert.deepStrictEqual(cached(cache, "short", "long"), ["long"])
    assert.isUndefined(cache.find("long", Domain))
  })

  it("evicts the least recently used state when it holds too many", () => {
    const cache = StreamStateCache.make({ streamEvents: 0, states: 3, chars: 900, stateChars: 900 })
    for (const key of ["a", "b", "c"]) cache.store(key, stateOf(1, 10))
    cache.find("a", Email)
    cache.store("d", stateOf(1, 10))
    assert.deepStrictEqual(cached(cache, "a", "b", "c", "d"), ["a", "c", "d"])
  })

  it("evicts states when they are too long together, including what they have grown by", () => {
    const cache = StreamStateCache.make({ streamEvents: 0, states: 9, chars: 100, stateChars: 60 })
    for (const key of ["a", "b", "c"]) cache.store(key, stateOf(1, 30))
    assert.deepStrictEqual(cached(cache, "a", "b", "c"), ["a", "b", "c"])
    cache.advance("c", stateOf(2, 30), [read(500), read(20)])
    assert.deepStrictEqual(cached(cache, "a", "b", "c"), ["b", "c"])
    cache.advance("c", stateOf(3, 30), [read(20), read(20)])
    assert.deepStrictEqual(cached(cache, "a", "b", "c"), ["b"])
    cache.store("d", stateOf(9, 61))
    cache.store("e", stateOf(9, 60))
    assert.deepStrictEqual(cached(cache, "b", "d", "e"), ["b", "e"])
  })

  it("releases the length of a deleted state", () => {
    const cache = StreamStateCache.make({ streamEvents: 0, states: 9, chars: 60, stateChars: 60 })
    cache.store("a", stateOf(1, 60))
    cache.delete("a")
    cache.delete("a")
    cache.store("b", stateOf(1, 30))
    cache.store("b", stateOf(1, 30))
    cache.store("c", stateOf(1, 30))
    assert.deepStrictEqual(cached(cache, "a", "b", "c"), ["b", "c"])
  })
})
