import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

/** The part before the resource limits, which another test compares with the code. */
const [text = ""] = readFileSync("docs/security.md", "utf8").split("\n## Resource limits")

const rows = [...text.matchAll(/\| `(test\/[^`]+)`: ([^|]+) \|$/gmu)].map(([, file = "", title = ""]) => ({
  file,
  title,
}))

describe("docs/security.md", () => {
  it("names a test in each of its rows", () => {
    const described = text.split("\n").filter((line) => /^\| (?!what must)[A-Z]/u.test(line))
    assert.isAbove(described.length, 30)
    assert.lengthOf(rows, described.length)
  })

  it.each(rows)("names a test that exists: $title", ({ file, title }) => {
    assert.include(readFileSync(file, "utf8"), title)
  })
})
