import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import * as PagedList from "../../apps/dashboard/src/api/PagedList.ts"
import type { Page } from "../../apps/dashboard/src/api/Records.ts"
import { throttle } from "../../apps/dashboard/src/live/throttle.ts"

type List = PagedList.PagedList<PagedList.Row>

const PAGE_SIZE = 50
const id = (number: number) => `msg_${String(number).padStart(6, "0")}`
const row = (number: number, version = 1): PagedList.Row => ({ id: id(number), version })

/** Page of a log with these rows, newest first. */
const page = (rows: ReadonlyArray<PagedList.Row>, after?: string): Page<PagedList.Row> => {
  const remaining = rows
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .filter((each) => after === undefined || each.id < after)
  const data = remaining.slice(0, PAGE_SIZE)
  const has_more = remaining.length > PAGE_SIZE
  return { object: "list", data, has_more, next_cursor: has_more ? (data.at(-1)?.id ?? null) : null }
}
const upTo = (size: number) => Array.from({ length: size }, (_, index) => row(index + 1))
const firstPageOf = (rows: ReadonlyArray<PagedList.Row>): List => ({ pages: [page(rows)], pageParams: [undefined] })
const idsOf = (list: List) => PagedList.rowsOf(list).map((each) => each.id)

const fetchNewest = async (list: List, rows: ReadonlyArray<PagedList.Row>) => {
  const requests: Array<string | undefined> = []
  const pages = await PagedList.fetchNewest(list, async (after) => {
    requests.push(after)
    return page(rows, after)
  })
  return { requests, pages }
}

describe("live update of a paged list", () => {
  it("takes one request when one page reaches the old rows", async () => {
    const { pages, requests } = await fetchNewest(firstPageOf(upTo(200)), upTo(220))
    assert.deepStrictEqual(requests, [undefined])
    const after = PagedList.merge(firstPageOf(upTo(200)), { pages, canShrink: false })
    assert.deepStrictEqual(
      idsOf(after),
      Array.from({ length: 70 }, (_, index) => id(220 - index)),
    )
    assert.strictEqual(after.pages.at(-1)?.next_cursor, id(151))
  })

  it("has the total of the newest page", () => {
    const counted = (count: number): List => ({
      pages: [{ ...page(upTo(count)), total: { count, is_exact: true } }],
      pageParams: [undefined],
    })
    const after = PagedList.merge(counted(200), { pages: counted(220).pages, canShrink: false })
    assert.deepStrictEqual(after.pages[0]?.total, { count: 220, is_exact: true })
  })

  it("reads several pages when more rows arrived than a page holds", async () => {
    const { pages, requests } = await fetchNewest(firstPageOf(upTo(1)), upTo(101))
    assert.strictEqual(requests.length, 3)
    assert.deepStrictEqual(
      idsOf(PagedList.merge(firstPageOf(upTo(1)), { pages, canShrink: false })),
      Array.from({ length: 101 }, (_, index) => id(101 - index)),
    )
  })

  it("starts over without a gap when far more rows arrived", async () => {
    const { pages, requests } = await fetchNewest(firstPageOf(upTo(60)), upTo(1_000))
    assert.strictEqual(requests.length, PagedList.MAX_PAGES)
    const after = PagedList.merge(firstPageOf(upTo(60)), { pages, canShrink: false })
    assert.deepStrictEqual(
      idsOf(after),
      Array.from({ length: PagedList.MAX_PAGES * PAGE_SIZE }, (_, index) => id(1_000 - index)),
    )
    assert.strictEqual(after.pages.at(-1)?.next_cursor, idsOf(after).at(-1))
  })

  it("adds a row that was committed after a newer one", () => {
    const late = [row(1), row(2), row(4)]
    assert.deepStrictEqual(idsOf(PagedList.merge(firstPageOf(late), { pages: [page(upTo(4))], canShrink: false })), [
      id(4),
      id(3),
      id(2),
      id(1),
    ])
  })

  it("removes rows that no longer match a filter, and none from an unfiltered list", () => {
    const matching = upTo(5).filter((each) => each.id !== id(3))
    const with3 = firstPageOf(upTo(5))
    assert.notInclude(idsOf(PagedList.merge(with3, { pages: [page(matching)], canShrink: true })), id(3))
    assert.include(idsOf(PagedList.merge(with3, { pages: [page(matching)], canShrink: false })), id(3))
  })

  it("updates older rows that were read, and removes those that no longer match", () => {
    const before: List = { ...firstPageOf(upTo(200)), pages: [page(upTo(200)), page(upTo(200), id(151))] }
    const olderRows = new Map([
      [id(120), row(120, 2)],
      [id(121), undefined],
    ])
    const after = PagedList.merge(before, { pages: [page(upTo(200))], olderRows, canShrink: true })
    assert.strictEqual(PagedList.rowsOf(after).find((each) => each.id === id(120))?.version, 2)
    assert.strictEqual(PagedList.rowsOf(after).length, 99)
    assert.strictEqual(after.pages.at(-1)?.next_cursor, id(101))
  })

  it("never replaces a row with an older version", () => {
    const list = firstPageOf([row(1, 3)])
    assert.strictEqual(
      PagedList.rowsOf(PagedList.merge(list, { pages: [page([row(1, 2)])], canShrink: false }))[0]?.version,
      3,
    )
  })
})

describe("throttle", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const INTERVAL_MS = 2_000
  const start = (run: () => Promise<number>) => {
    const rateLimited: Array<boolean> = []
    const pauseAfter = (error: unknown) => (error instanceof RangeError ? 30_000 : undefined)
    return {
      rateLimited,
      ...throttle({
        run,
        interval_ms: INTERVAL_MS,
        debounce_ms: 500,
        pauseAfter,
        onRateLimited: (isLimited) => rateLimited.push(isLimited),
      }),
    }
  }
  const triggerFor = async (seconds: number, trigger: () => void) => {
    for (let passed = 0; passed < seconds * 10; passed++) {
      trigger()
      await vi.advanceTimersByTimeAsync(100)
    }
  }

  it("runs soon after the first trigger, then at the configured interval", async () => {
    let times = 0
    const { stop, trigger } = start(async () => ++times && 1)
    trigger()
    await vi.advanceTimersByTimeAsync(500)
    assert.strictEqual(times, 1)
    await triggerFor(60, trigger)
    assert.approximately(times, 30, 2)
    stop()
  })

  it("waits longer after a run of several requests", async () => {
    let requests = 0
    const { stop, trigger } = start(async () => {
      requests += 3
      return 3
    })
    await triggerFor(60, trigger)
    assert.isAtMost(requests, 33)
    stop()
  })

  it("pauses after a rate limit, reports it and resumes", async () => {
    let times = 0
    const { rateLimited, stop, trigger } = start(async () => {
      if (++times === 1) throw new RangeError("429")
      return 1
    })
    await triggerFor(29, trigger)
    assert.deepStrictEqual([times, rateLimited], [1, [true]])
    await vi.advanceTimersByTimeAsync(3_000)
    assert.deepStrictEqual([times, rateLimited], [2, [true, false]])
    stop()
  })

  it("never has two runs at the same time", async () => {
    let running = 0
    let most = 0
    const { stop, trigger } = start(async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      return running--
    })
    await triggerFor(30, trigger)
    assert.strictEqual(most, 1)
    stop()
  })
})
