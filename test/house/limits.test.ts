import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { BEGIN, END, limits, written } from "./limits.ts"

describe("docs/limits.md", () => {
  it("names every limit of the code with its value: `npm run limits` writes it anew", () => {
    const text = readFileSync("docs/limits.md", "utf8")
    const inDocs = text.slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)).trim()
    assert.deepStrictEqual(inDocs.split("\n"), written().trim().split("\n"))
  })

  it("finds a limit by its name, with its value and the comment above it", () => {
    const found = limits().find(({ name, path }) => name === "MAX_TO" && path === "packages/domain/src/Acceptance.ts")
    assert.strictEqual(found?.value, "50")
    assert.match(found?.reason ?? "", /^Addresses in `to`/)
  })
})
