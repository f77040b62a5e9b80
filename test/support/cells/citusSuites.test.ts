import { globSync } from "node:fs"
import { assert, describe, it } from "vitest"
import * as CitusSuites from "./citusSuites.ts"

/** Returns a pattern for each of the alternatives in braces. */
const alternatives = (pattern: string): ReadonlyArray<string> => {
  const [braces, names = ""] = /\{([^}]*)\}/u.exec(pattern) ?? []
  return braces === undefined
    ? [pattern]
    : names.split(",").flatMap((name) => alternatives(pattern.replace(braces, name)))
}

describe("the suites that run on Citus", () => {
  it("exist", () => {
    const named = [...CitusSuites.FILES, ...CitusSuites.OF_CELLS].flatMap(alternatives)
    const missing = [...named, ...Object.keys(CitusSuites.SKIPPED)].filter((each) => globSync(each).length === 0)
    assert.deepStrictEqual(missing, [])
  })
})
