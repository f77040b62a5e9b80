import { shareLookups } from "../../../apps/server/src/signIn/shareLookups.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Lookups that end when the test says so, each with its number. */
const manual = () => {
  const ends: Array<{ readonly succeed: () => void; readonly fail: (reason: Error) => void }> = []
  const lookUp = shareLookups(
    () =>
      new Promise<number>((resolve, reject) => {
        const nth = ends.length + 1
        ends.push({ succeed: () => resolve(nth), fail: reject })
      }),
  )
  return { ends, lookUp }
}

describe("lookups of a session", () => {
  it("requests that arrive during a lookup share the next one, and none gets what was looked up before it", async () => {
    const { ends, lookUp } = manual()
    const first = lookUp("a")
    const later = [lookUp("a"), lookUp("a"), lookUp("a")]
    assert.strictEqual(ends.length, 1)
    ends[0]?.succeed()
    assert.strictEqual(await first, 1)
    const latest = lookUp("a")
    ends[1]?.succeed()
    assert.deepStrictEqual(await Promise.all(later), [2, 2, 2])
    ends[2]?.succeed()
    assert.strictEqual(await latest, 3)
    assert.strictEqual(ends.length, 3)
  })

  it("other cookies are looked up by themselves", async () => {
    const { ends, lookUp } = manual()
    const both = [lookUp("a"), lookUp("b")]
    assert.strictEqual(ends.length, 2)
    for (const { succeed } of ends) succeed()
    assert.deepStrictEqual(await Promise.all(both), [1, 2])
  })

  it("a lookup that fails does so for those who share it, and the next begins anyway", async () => {
    const { ends, lookUp } = manual()
    const first = lookUp("a").catch((error: Error) => error.message)
    const next = lookUp("a")
    ends[0]?.fail(new Error("no database"))
    assert.strictEqual(await first, "no database")
    ends[1]?.succeed()
    assert.strictEqual(await next, 2)
  })
})
