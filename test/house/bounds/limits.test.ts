import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { BEGIN_LIMITS, END_LIMITS, GROUPS, spoken, valueOf, writtenLimits } from "./bounds.ts"

const bounds = GROUPS.flatMap(({ bounds }) => bounds)

describe("docs/limits.md", () => {
  it("has the limits of the code: `npm run generate limits` writes them again", () => {
    const text = readFileSync("docs/limits.md", "utf8")
    const inDocs = text.slice(text.indexOf(BEGIN_LIMITS) + BEGIN_LIMITS.length, text.indexOf(END_LIMITS)).trim()
    assert.deepStrictEqual(inDocs.split("\n"), writtenLimits().trim().split("\n"))
  })

  it("has every limit that a customer or an operator reaches", () => {
    const rows = writtenLimits()
      .split("\n")
      .filter((line) => /^\| (?!limit|\*\*)/u.test(line))
    assert.lengthOf(rows, bounds.length)
  })

  it("has constants of the code: every bound is declared and is a quantity", () => {
    assert.isAbove(bounds.length, 150)
    for (const bound of bounds) assert.match(valueOf(bound), /\d/u, bound.what)
  })

  it("names a limit once in its group", () => {
    for (const { bounds, title } of GROUPS)
      assert.lengthOf(new Set(bounds.map(({ what }) => what)), bounds.length, title)
  })

  it.each([
    ["MAX_BYTES_HELD", "256 * 1024 * 1024", "256 MiB"],
    ["HEADERS_TIMEOUT_MS", "10_000", "10 s"],
    ["IDLE", "Duration.minutes(5)", "5 min"],
    ["MAX_CONNECTIONS", "1000", "1,000"],
    ["SESSION_DAYS", "14", "14 days"],
  ])("has values in the units of people: %s", (constant, value, said) => {
    assert.strictEqual(spoken(constant, value), said)
  })

  it("has no word where a number should be", () => {
    assert.throws(() => spoken("MAX", "somewhere else"), /no quantity/u)
  })
})
