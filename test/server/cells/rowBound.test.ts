import * as RowBound from "../../../apps/server/src/worker/RowBound.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const bounded = (size: number, cells: number) => {
  const bound = RowBound.make(size)
  const held = Array.from({ length: cells }, () => 0)
  const rows = held.map((_, nth): RowBound.PipelineRows => ({ size: () => held[nth] ?? 0, onFree: () => {} }))
  for (const each of rows) bound.add(each)
  /** Claims as much for a cell as it gets, and returns how much it holds then. */
  const fill = (nth: number) => {
    const cell = rows[nth]
    if (cell === undefined) return 0
    for (let free = bound.free(cell); free > 0; free = bound.free(cell)) held[nth] = cell.size() + Math.ceil(free / 2)
    return cell.size()
  }
  return { bound, fill, held }
}

describe("the bound of rows in flight", () => {
  it("is all that one cell has", () => {
    assert.strictEqual(bounded(400, 1).fill(0), 400)
  })

  it("leaves half of the places to others beside a cell that hangs", () => {
    const { fill, held } = bounded(400, 4)
    assert.isAtMost(fill(0), 200)
    assert.isAtLeast(fill(1), 100)
    held[1] = 0
    assert.isAtLeast(fill(2), 100)
  })

  it("leaves each cell its equal part, however many others hang", () => {
    const { bound, fill } = bounded(400, 64)
    const held = Array.from({ length: 64 }, (_, nth) => fill(nth))
    assert.isAtLeast(Math.min(...held), Math.floor(400 / 64))
    assert.isAtMost(bound.inFlight(), 2 * 400)
  })
})
