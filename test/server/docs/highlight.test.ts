import { readFileSync } from "node:fs"
import * as Highlight from "../../../apps/server/src/http/pages/reference/Highlight.ts"
import * as Html from "../../../apps/server/src/http/pages/reference/Html.ts"
import * as Style from "../../../apps/server/src/http/pages/reference/Style.ts"
import * as Source from "../../house/source.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const span = (name: string, text: string) => `<span class="${name}">${Html.escaped(text)}</span>`
const plain = (html: string) => html.replaceAll(/<\/?span[^>]*>/gu, "")

describe("highlighted code", () => {
  it("is the same text, whatever its language", () => {
    const documents = Source.paths.filter((path) => path.endsWith(".md"))
    const fences = documents.flatMap((path) => [...readFileSync(path, "utf8").matchAll(/^```(\w*)\n([^]*?)^```$/gmu)])
    assert.isAbove(fences.length, 150)
    for (const [, language = "", code = ""] of fences)
      assert.strictEqual(plain(Highlight.of(code, language)), Html.escaped(code))
  })

  it("has a class for each token, also in the body of a request of curl", () => {
    const curl = Highlight.of(`curl -d '{"to": ["a"], "n": 1}' "$URL" # sends`, "sh")
    assert.include(curl, span("keyword", "curl"))
    assert.include(curl, `${span("name", '"to"')}: [${span("string", '"a"')}]`)
    assert.include(curl, span("number", "1"))
    assert.include(curl, span("comment", "# sends"))
    assert.strictEqual(
      Highlight.of(`if url == "https://a#b": # c`, "python"),
      `${span("keyword", "if")} url == ${span("string", '"https://a#b"')}: ${span("comment", "# c")}`,
    )
    assert.strictEqual(Highlight.of("a <b>", "constructor"), "a &lt;b&gt;")
  })

  it("does not backtrack in quotes and comments that never end, and leaves long code plain", () => {
    for (const language of ["json", "ts", "sh", "python", "go", "php", "ruby", "yaml"])
      for (const part of ['"', "'", "/*", "\\", "a ", " -", '"a" ', "\x60", "# ", "1_"]) {
        const code = part.repeat(50_000 / part.length)
        assert.strictEqual(plain(Highlight.of(code, language)), Html.escaped(code))
      }
    assert.notInclude(Highlight.of('"a" '.repeat(20_000), "json"), "<span")
  })
})

describe("the style of the documentation", () => {
  it("has the colors of the dashboard", () => {
    const colorsOf = (css: string) => [...css.matchAll(/(--[a-z0-9-]+): (#[0-9a-f]{6})/gu)].map(([color]) => color)
    const theme = new Set(colorsOf(readFileSync("apps/dashboard/src/theme.css", "utf8").replaceAll("--color-", "--")))
    const own = colorsOf(Style.CSS)
    assert.isAbove(own.length, 40)
    for (const color of own) assert.isTrue(theme.has(color), color)
  })
})
