import { assert, describe, it } from "vitest"
import * as TypeOver from "../../../apps/dashboard/src/templates/editor/code/TypeOver.ts"
import { strayEndTags } from "../../../apps/dashboard/src/templates/editor/strayEndTags.ts"
import { processorMs } from "../../support/processorMs.ts"

/** Types a text at the bar of another one, as the editor does without an end tag of its own. */
const type = (place: string, text: string): string => {
  let [before = "", after = ""] = place.split("|")
  for (const typed of text) {
    const length = TypeOver.typedOver(before, after, typed)
    if (length === 2) before = before.slice(0, -1)
    before += length === 0 ? typed : after.slice(0, length)
    after = after.slice(length)
  }
  return `${before}|${after}`
}

describe("end tags in the editor", () => {
  it("are typed over where the editor has inserted them", () => {
    assert.strictEqual(type("<h1>Hello|</h1>", "</h1>"), "<h1>Hello</h1>|")
    assert.strictEqual(type("<div><p>Hi|</p></div>", "</p></div>"), "<div><p>Hi</p></div>|")
  })

  it("are typed where another element ends", () => {
    assert.strictEqual(type("<div><p>Hi|</div>", "</p>"), "<div><p>Hi</p>|</div>")
    assert.strictEqual(type("<div><div>Hi|</div>", "</div>"), "<div><div>Hi</div>|</div>")
  })

  it("are warned of if nothing has begun", () => {
    const warned = (html: string) => strayEndTags({ html }).map(({ column, line, message }) => [message, line, column])
    assert.deepStrictEqual(warned("<h1>Hi</h1>\n</h1>"), [["The end tag </h1> has no begin", 2, 1]])
    for (const html of [
      "<p>One<p>Two<br>",
      "<!-- </p> --><style>a::after { content: '</b>' }</style>",
      "{% if a %}<b>{% else %}<b class=x>{% endif %}</b></b>",
      '<a title="{{ "</a>" }}">x</a>',
    ])
      assert.deepStrictEqual(warned(html), [], html)
  })

  it("take a bounded time in the largest texts", () => {
    const size = 100_000
    const warned = (html: string) => strayEndTags({ html }).length
    const began = processorMs()
    assert.strictEqual(warned("</a>".repeat(size / 4)), 20)
    assert.strictEqual(warned("<!--".repeat(size / 4)), 0)
    assert.strictEqual(warned("<style>".repeat(size / 7)), 0)
    assert.strictEqual(warned("{%".repeat(size / 2)), 0)
    const before = `${"<a>".repeat(size / 6)}${"</b>".repeat(size / 8)}<`
    assert.strictEqual(TypeOver.typedOver(before, "</a>", "/"), 0)
    assert.isBelow(processorMs() - began, 1_000)
  })
})
