import { Duration } from "effect"
import * as CellPace from "../../../apps/server/src/worker/CellPace.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("the pace of cells", () => {
  it("does not delay results while one cell has work", () => {
    assert.strictEqual(CellPace.resultPause(1, 12_345), 0)
    assert.strictEqual(CellPace.resultPause(0, 12_345), 0)
  })

  it("writes results of four cells together that come within a pace", () => {
    const every = 3 * Duration.toMillis(CellPace.RESULT_PACE)
    const ends = [0, 1, every / 2, every - 1].map((after) => {
      const now = 1_000 * every + after
      return now + CellPace.resultPause(4, now)
    })
    assert.deepStrictEqual(new Set(ends), new Set([1_001 * every]))
  })

  it("is bounded, however many cells have work", () => {
    const most = CellPace.MAX_PACED_CELLS
    assert.strictEqual(CellPace.resultPause(64, 0), Duration.toMillis(CellPace.RESULT_PACE) * (most - 1))
    assert.deepStrictEqual(CellPace.claimPause(64), Duration.times(CellPace.CLAIM_PACE, most))
    assert.deepStrictEqual(CellPace.claimPause(1), CellPace.CLAIM_PACE)
  })
})
