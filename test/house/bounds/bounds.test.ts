import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { MEMORY_MIB, STALL_MS } from "../../attack/harness/Scenario.ts"
import { BEGIN_BOUNDS, END_BOUNDS, spoken, writtenBounds } from "./bounds.ts"

const text = readFileSync("docs/security.md", "utf8")

describe("the bounds of docs/security.md", () => {
  it("have the numbers of the code: `npm run limits` writes them anew", () => {
    const inDocs = text.slice(text.indexOf(BEGIN_BOUNDS) + BEGIN_BOUNDS.length, text.indexOf(END_BOUNDS)).trim()
    assert.deepStrictEqual(inDocs.split("\n"), writtenBounds().trim().split("\n"))
  })

  it("have the numbers of the attacks", () => {
    assert.include(text, `| ${STALL_MS} ms |`)
    assert.include(text, `| ${MEMORY_MIB} MiB, `)
  })

  it.each([
    ["MAX_BYTES_HELD", "256 * 1024 * 1024", "256 MiB"],
    ["HEADERS_TIMEOUT_MS", "10_000", "10 s"],
    ["IDLE", "Duration.minutes(5)", "5 min"],
    ["MAX_CONNECTIONS", "1000", "1,000"],
    ["SESSION_DAYS", "14", "14 days"],
  ])("are said in the units of people: %s", (constant, value, said) => {
    assert.strictEqual(spoken(constant, value), said)
  })

  it("are no words where a number should be", () => {
    assert.throws(() => spoken("MAX", "somewhere else"), /no quantity/u)
  })
})
