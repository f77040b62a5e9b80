import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

/** Maximum number of errors that become defects. */
const MAX_DEFECTS = 40

const SOURCES = globSync(["packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}"])

/** Lines that match, each with its file, its number and the line above. */
const linesWith = (pattern: RegExp) =>
  SOURCES.flatMap((file) => {
    const lines = readFileSync(file, "utf8").split("\n")
    return lines.flatMap((line, nth) =>
      pattern.test(line) ? [{ at: `${file}:${nth + 1}`, line, above: lines[nth - 1] ?? "" }] : [],
    )
  })

describe("an error that becomes a defect", () => {
  const defects = linesWith(/\borDie\b/u)

  it("is rare, because a defect is a bug and nothing else", () => {
    assert.isAtMost(defects.length, MAX_DEFECTS)
  })

  it("has its reason beside it", () => {
    const bare = defects.filter(({ above, line }) => !line.includes("//") && !/^\s*\/\/|\*\/$/u.test(above))
    assert.deepStrictEqual(
      bare.map(({ at }) => at),
      [],
    )
  })
})

describe("an error of the driver", () => {
  it("is known only where statements are run, and everybody else gets `StoreUnavailable`", () => {
    const folders = new Set(linesWith(/\bSqlError\b/u).map(({ at }) => at.split("/").slice(0, 4).join("/")))
    const known = ["availability", "commit", "database", "exports", "postgres", "routing"]
    assert.deepStrictEqual(
      [...folders].toSorted(),
      known.map((folder) => `packages/store/src/${folder}`),
    )
  })

  it("is looked for in no defect", () => {
    assert.deepStrictEqual(linesWith(/\bdefect instanceof\b/u), [])
  })
})
