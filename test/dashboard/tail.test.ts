import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { MAX_PAGES, merged, newsOf, type Row, type Rows, rowsOf } from "../../apps/dashboard/src/api/PagedList.ts"
import { paced } from "../../apps/dashboard/src/api/throttle.ts"
import type { Page } from "../../apps/dashboard/src/api/Records.ts"

const LIMIT = 50
const id = (nth: number) => `msg_${String(nth).padStart(6, "0")}`
const row = (nth: number, version = 1): Row => ({ id: id(nth), version })

/** A page of a log that holds the rows from 1 up to its size, newest first. */
const page = (rows: ReadonlyArray<Row>, after?: string): Page<Row> => {
  const left = rows.toSorted((a, b) => (a.id < b.id ? 1 : -1)).filter((each) => after === undefined || each.id < after)
  const data = left.slice(0, LIMIT)
  const has_more = left.length > LIMIT
  return { object: "list", data, has_more, next_cursor: has_more ? (data.at(-1)?.id ?? null) : null }
}
const upTo = (size: number) => Array.from({ length: size }, (_, nth) => row(nth + 1))
const opened = (rows: ReadonlyArray<Row>): Rows<Row> => ({ pages: [page(rows)], pageParams: [undefined] })
const idsOf = (data: Rows<Row>) => rowsOf(data).map((each) => each.id)

const news = async (data: Rows<Row>, rows: ReadonlyArray<Row>) => {
  const asked: Array<string | undefined> = []
  const pages = await newsOf(data, async (after) => {
    asked.push(after)
    return page(rows, after)
  })
  return { asked, pages }
}

describe("a list that is kept true", () => {
  it("asks once where one page reaches what is known", async () => {
    const { asked, pages } = await news(opened(upTo(200)), upTo(220))
    assert.deepStrictEqual(asked, [undefined])
    const after = merged(opened(upTo(200)), { pages, isLeft: false })
    assert.deepStrictEqual(
      idsOf(after),
      Array.from({ length: 70 }, (_, nth) => id(220 - nth)),
    )
    assert.strictEqual(after.pages.at(-1)?.next_cursor, id(151))
  })

  it("leaves no message out when more came than a page holds", async () => {
    const { asked, pages } = await news(opened(upTo(1)), upTo(101))
    assert.strictEqual(asked.length, 3)
    assert.deepStrictEqual(
      idsOf(merged(opened(upTo(1)), { pages, isLeft: false })),
      Array.from({ length: 101 }, (_, nth) => id(101 - nth)),
    )
  })

  it("begins anew, without a gap, where far more came", async () => {
    const { asked, pages } = await news(opened(upTo(60)), upTo(1_000))
    assert.strictEqual(asked.length, MAX_PAGES)
    const after = merged(opened(upTo(60)), { pages, isLeft: false })
    assert.deepStrictEqual(
      idsOf(after),
      Array.from({ length: MAX_PAGES * LIMIT }, (_, nth) => id(1_000 - nth)),
    )
    assert.strictEqual(after.pages.at(-1)?.next_cursor, idsOf(after).at(-1))
  })

  it("takes in a row whose commit came after a newer one's", () => {
    const late = [row(1), row(2), row(4)]
    assert.deepStrictEqual(idsOf(merged(opened(late), { pages: [page(upTo(4))], isLeft: false })), [
      id(4),
      id(3),
      id(2),
      id(1),
    ])
  })

  it("drops rows that a filter's answer leaves out, and no other list's", () => {
    const left = upTo(5).filter((each) => each.id !== id(3))
    const with3 = opened(upTo(5))
    assert.notInclude(idsOf(merged(with3, { pages: [page(left)], isLeft: true })), id(3))
    assert.include(idsOf(merged(with3, { pages: [page(left)], isLeft: false })), id(3))
  })

  it("changes rows further down that were looked up, and drops those that fit no more", () => {
    const before: Rows<Row> = { ...opened(upTo(200)), pages: [page(upTo(200)), page(upTo(200), id(151))] }
    const others = new Map([
      [id(120), row(120, 2)],
      [id(121), undefined],
    ])
    const after = merged(before, { pages: [page(upTo(200))], others, isLeft: true })
    assert.strictEqual(rowsOf(after).find((each) => each.id === id(120))?.version, 2)
    assert.strictEqual(rowsOf(after).length, 99)
    assert.strictEqual(after.pages.at(-1)?.next_cursor, id(101))
  })

  it("never goes back to a state that was", () => {
    const known = opened([row(1, 3)])
    assert.strictEqual(rowsOf(merged(known, { pages: [page([row(1, 2)])], isLeft: false }))[0]?.version, 3)
  })
})

describe("work that is asked for all the time", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const EVERY_MS = 2_000
  const started = (work: () => Promise<number>) => {
    const held: Array<boolean> = []
    const heldFor = (error: unknown) => (error instanceof RangeError ? 30_000 : undefined)
    return { held, ...paced({ work, every_ms: EVERY_MS, gather_ms: 500, heldFor, onHeld: (now) => held.push(now) }) }
  }
  const askFor = async (seconds: number, ask: () => void) => {
    for (let passed = 0; passed < seconds * 10; passed++) {
      ask()
      await vi.advanceTimersByTimeAsync(100)
    }
  }

  it("is done at once at first, and then as often as its requests may be made", async () => {
    let times = 0
    const { ask, stop } = started(async () => ++times && 1)
    ask()
    await vi.advanceTimersByTimeAsync(500)
    assert.strictEqual(times, 1)
    await askFor(60, ask)
    assert.approximately(times, 30, 2)
    stop()
  })

  it("waits longer after work of several requests", async () => {
    let requests = 0
    const { ask, stop } = started(async () => {
      requests += 3
      return 3
    })
    await askFor(60, ask)
    assert.isAtMost(requests, 33)
    stop()
  })

  it("leaves a server alone that asks for it, says so, and goes on by itself", async () => {
    let times = 0
    const { ask, held, stop } = started(async () => {
      if (++times === 1) throw new RangeError("429")
      return 1
    })
    await askFor(29, ask)
    assert.deepStrictEqual([times, held], [1, [true]])
    await vi.advanceTimersByTimeAsync(3_000)
    assert.deepStrictEqual([times, held], [2, [true, false]])
    stop()
  })

  it("is one piece of work at a time, however long that takes", async () => {
    let under = 0
    let most = 0
    const { ask, stop } = started(async () => {
      most = Math.max(most, ++under)
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      return under--
    })
    await askFor(30, ask)
    assert.strictEqual(most, 1)
    stop()
  })
})
