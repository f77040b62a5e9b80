import { assert, describe, it } from "../support/effectTest.ts"
import { bare, importsOf } from "./source.ts"

describe("reading source", () => {
  const cases: ReadonlyArray<readonly [name: string, text: string, code: string]> = [
    ["a comment is no code", "a() // console.log\nb()", "a() \nb()"],
    ["nor is a block of it", "a(/* console.log */)", "a()"],
    ["a string is empty, whatever it quotes", `f("it's // \\" new Date()", 'x"y')`, 'f("", "")'],
    [
      "a template keeps only its expressions",
      "sql`SELECT ${f({ a: `b ${c}` })} new Date()` + d",
      "sql`${f({ a: `${c}` })}` + d",
    ],
    ["a regular expression may hold quotes", "x.replace(/[\"'`]/g, a) / b", "x.replace(/ /, a) / b"],
    ["a division is none", "a / b + c / d", "a / b + c / d"],
  ]
  for (const [name, text, code] of cases) it(name, () => assert.strictEqual(bare(text), code))

  it("imports are found on one line, over several, re-exported, for effect and for types", () => {
    const text = `import { A } from "one"\nimport type { B } from "two"\nexport {\n  c,\n  d,\n} from "three"\nimport "four"\nimport * as E from "five"\nawait import("six")`
    assert.deepStrictEqual(
      importsOf(text).map(({ specifier, typeOnly }) => (typeOnly ? `type ${specifier}` : specifier)),
      ["one", "type two", "three", "four", "five", "six"],
    )
  })
})
