import { existsSync } from "node:fs"
import { assert, describe, it } from "../support/effectTest.ts"
import { paths, read } from "./source.ts"

const { text } = read("docs/architecture.md")

/** Arrows of the table of packages, such as `store --> domain`; a dotted arrow allows types alone. */
const told = [...text.matchAll(/^\| `(?:packages|apps)\/([\w-]+)` \| [^|]+ \| ([^|]*)\|$/gmu)].flatMap(
  ([, from = "", imports = ""]) =>
    [...imports.matchAll(/(type )?`([\w-]+)`/gu)].map(
      ([, type, to = ""]) => `${from} ${type === undefined ? "-->" : "-.->"} ${to}`,
    ),
)

/** Arrows that the rules of `test/tidy.test.ts` allow. */
const allowed = () => {
  const [, rules = ""] = /^const rooms[^\n]*\{\n([^]*?)^\}$/mu.exec(read("test/tidy.test.ts").text) ?? []
  const found = [...rules.matchAll(/^ {2}"(?:packages|apps)\/([a-z-]+)": \[([^\]]*)\]/gmu)].flatMap(
    ([, from = "", imports = ""]) =>
      // A package may import itself by its name, which is no arrow.
      [...imports.matchAll(/"(type:)?@waybill\/([a-z-]+)/gu)].flatMap(([, type, to = ""]) =>
        to === from ? [] : [`${from} ${type === undefined ? "-->" : "-.->"} ${to}`],
      ),
  )
  // A package may name several files of another.
  return [...new Set(found)]
}

describe("docs/architecture.md", () => {
  it("has at most 200 lines", () => {
    assert.isAtMost(text.trimEnd().split("\n").length, 200)
  })

  it("names only files and folders that exist", () => {
    const named = [...text.matchAll(/`((?:packages|apps|test|docs|db|scripts)\/[^`\s]+)`/gu)].map(
      ([, path = ""]) => path,
    )
    assert.isAbove(named.length, 40)
    assert.deepStrictEqual(
      named.filter((path) => !existsSync(path)),
      [],
    )
  })

  it("names each file of a step by its full path", () => {
    const steps = text.split("\n").filter((line) => /^\| \d+ \|/u.test(line))
    assert.lengthOf(steps, 12)
    const paths = steps.flatMap((line) => [...line.matchAll(/`([^`]+\.ts)`/gu)].map(([, path = ""]) => path))
    assert.deepStrictEqual(
      paths.filter((path) => !/^(?:packages|apps)\//u.test(path)),
      [],
    )
  })

  it("has at most ten modes of the group commit, each with a test", () => {
    const [, section = ""] = /^## Modes of the group commit$([^]*?)^## /mu.exec(text) ?? []
    const tests = [...section.matchAll(/ \| `([\w.]+)`: ([^|]+) \|$/gmu)]
    assert.lengthOf(tests, section.split("\n").filter((line) => line.startsWith("| ")).length - 1)
    assert.isAtMost(tests.length, 10)
    assert.deepStrictEqual(
      tests.flatMap(([, file = "", title = ""]) => {
        const path = paths.find((each) => each.endsWith(`/${file}`) && each.startsWith("test/store/"))
        const text = path === undefined ? "" : read(path).text
        return title.split("; ").every((each) => text.includes(`"${each}"`)) ? [] : [`${file}: ${title}`]
      }),
      [],
    )
  })

  it("names only modes that the code has", () => {
    const modes = [...text.matchAll(/`([A-Z]\w+)\.(?!ts`)(\w+)`/gu)].map(([, file = "", name = ""]) => ({ file, name }))
    assert.isAbove(modes.length, 15)
    assert.deepStrictEqual(
      modes.filter(({ file, name }) => {
        const path = paths.find(
          (each) =>
            /^(?:packages\/store\/src\/commit|apps\/server\/src\/worker)\/\w+\.ts$/u.test(each) &&
            each.endsWith(`/${file}.ts`),
        )
        return path === undefined || !new RegExp(`\\b${name}\\b(?::| = )`, "u").test(read(path).text)
      }),
      [],
    )
  })

  it("has the imports of packages that test/tidy.test.ts allows", () => {
    assert.isAbove(told.length, 8)
    assert.deepStrictEqual(told.toSorted(), allowed().toSorted())
  })
})
