import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { FILE, holders, threats, written } from "../../scripts/generate/threats.ts"
import { MEMORY_MIB, STALL_MS } from "../attack/harness/Scenario.ts"

const text = readFileSync(FILE, "utf8")
const names = threats(text).map(({ name }) => name)

describe("docs/security.md", () => {
  it("has the tests that name its threats: `npm run generate threats` writes them again", () => {
    assert.deepStrictEqual(text.split("\n"), written(text).split("\n"))
  })

  it("has each threat that a test names, once, and no threat without a test", () => {
    assert.isAbove(names.length, 50)
    assert.deepStrictEqual(names.toSorted(), [...holders().keys()].toSorted())
  })

  it("has the limits of the attacks", () => {
    assert.include(text, `| ${STALL_MS} ms |`)
    assert.include(text, `| ${MEMORY_MIB} MiB, `)
  })
})
