import { Duration } from "effect"
import * as Pace from "../../../apps/server/src/worker/Pace.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("the pace of cells", () => {
  it("does not delay results while one cell has work", () => {
    assert.strictEqual(Pace.resultPause(1, 12_345), 0)
    assert.strictEqual(Pace.resultPause(0, 12_345), 0)
  })

  it("writes results of four cells together that come within a pace", () => {
    const every = 3 * Duration.toMillis(Pace.RESULT_PACE)
    const ends = [0, 1, every / 2, every - 1].map((after) => {
      const now = 1_000 * every + after
      return now + Pace.resultPause(4, now)
    })
    assert.deepStrictEqual(new Set(ends), new Set([1_001 * every]))
  })

  it("is bounded, however many cells have work", () => {
    const most = Pace.MAX_PACED
    assert.strictEqual(Pace.resultPause(64, 0), Duration.toMillis(Pace.RESULT_PACE) * (most - 1))
    assert.deepStrictEqual(Pace.claimPause(64), Duration.times(Pace.CLAIM_PACE, most))
    assert.deepStrictEqual(Pace.claimPause(1), Pace.CLAIM_PACE)
  })
})
