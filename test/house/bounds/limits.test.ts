import { readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"
import { BEGIN_LIMITS, END_LIMITS, GROUPS, valueOf, writtenLimits } from "./bounds.ts"

const bounds = GROUPS.flatMap(({ bounds }) => bounds)

describe("docs/limits.md", () => {
  it("has the limits of the code: `npm run limits` writes them again", () => {
    const text = readFileSync("docs/limits.md", "utf8")
    const inDocs = text.slice(text.indexOf(BEGIN_LIMITS) + BEGIN_LIMITS.length, text.indexOf(END_LIMITS)).trim()
    assert.deepStrictEqual(inDocs.split("\n"), writtenLimits().trim().split("\n"))
  })

  it("has every limit that a customer or an operator reaches, and no internal one", () => {
    const rows = writtenLimits()
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| limit"))
    assert.lengthOf(rows, bounds.filter(({ audience }) => audience !== "internal").length)
  })

  it("has constants of the code: every bound is declared and is a quantity, internal ones too", () => {
    assert.isAbove(bounds.length, 150)
    for (const bound of bounds) assert.match(valueOf(bound), /\d/u, bound.what)
  })

  it("names a limit once in its group", () => {
    for (const { bounds, title } of GROUPS)
      assert.lengthOf(new Set(bounds.map(({ what }) => what)), bounds.length, title)
  })
})
