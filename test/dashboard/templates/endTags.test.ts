import { assert, describe, it } from "vitest"
import * as TypeOver from "../../../apps/dashboard/src/templates/editor/code/TypeOver.ts"
import * as EndTags from "../../../apps/dashboard/src/templates/editor/EndTags.ts"
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
    const warned = (html: string) =>
      EndTags.inForm({ html }).map(({ column, line, message }) => [message, line, column])
    assert.deepStrictEqual(warned("<h1>Hi</h1>\n</h1>"), [["The end tag </h1> has no begin", 2, 1]])
    for (const html of [
      "<p>One<p>Two<br>",
      "<!-- </p> --><style>a::after { content: '</b>' }</style>",
      '<a title="{{ "</a>" }}">x</a>',
      "<a title='</b>' data-x = \"</i>\">x</a>",
      "<b title=it's>x</b><i>it's</i>",
      "{% comment %}</b>{% endcomment %}<!--[if mso]></td><![endif]-->",
    ])
      assert.deepStrictEqual(warned(html), [], html)
  })

  it("are warned of whichever branches are written, and however often a loop runs", () => {
    const warned = (html: string) => EndTags.inForm({ html }).map(({ column, message }) => `${message} ${column}`)
    for (const [html, at] of [
      ["{% if a %}<b>{% else %}<b class=x>{% endif %}</b></b>", 50],
      ["{% if a %}</b>{% endif %}", 11],
      ["{% for x in xs %}<b>{{ x }}</b></b>{% endfor %}", 32],
      ["{% unless a %}{% for x in xs %}{{ x }}{% else %}</b>{% endfor %}{% endunless %}", 49],
      ["{% case a %}{% when 1 %}<b></b>{% when 2 %}{% endcase %}</b>", 57],
      ["{% capture x %}<b></b>{% endcapture %}</b>", 39],
      ["</b>{{ a | raw }}</i>", 1],
    ] as const)
      assert.deepStrictEqual(warned(html), [`The end tag </b> has no begin ${at}`], html)
    for (const html of [
      "{% if a %}<b>{% endif %}x{% if a %}</b>{% endif %}",
      "{% if a %}<b>{% elsif c %}<i>{% else %}<b class=x>{% endif %}</b>{% if c %}</i>{% endif %}",
      "<tr>{% for x in xs %}<td>{% if x %}</tr><tr>{% endif %}</td>{% endfor %}</tr>",
      "{% for x in xs %}{% if forloop.index0 %}</tr>{% endif %}<tr>{% endfor %}</tr>",
      "{% for x in xs %}<b>{% if x %}{% break %}{% endif %}</b>{% endfor %}</b>",
      "{% for x in xs %}{% for y in x %}<b>{% endfor %}{% endfor %}</b></b>",
      "{% capture x %}<b>{% endcapture %}{{ x }}</b>",
      "{% capture x %}</b>{% endcapture %}<b>{{ x }}",
      '{% render "head" %}</td></tr></table>',
      "{{ head | raw }}</b>",
      "{{ content }}</b>",
      '{% layout "base" %}</td><td>',
    ])
      assert.deepStrictEqual(warned(html), [], html)
    // What an element of the layout ends is known when both are put together, as what a partial begins.
    assert.deepStrictEqual(EndTags.inForm({ html: "</td><td>", layout: "base" }), [])
    assert.deepStrictEqual(EndTags.inForm({ html: "{{#if a}}</b>{{/if}}", language: "handlebars" }), [])
  })

  it("are warned of in the mail that partials and layout make", () => {
    assert.deepStrictEqual(EndTags.inMail("<table><tr><td>x</td></tr></table>"), [])
    assert.deepStrictEqual(EndTags.inMail(null), [])
    const mail = "<table><tr><td><p>Thank  you</p>,\nAna</td></tr></table></b></b>"
    assert.deepStrictEqual(EndTags.inMail(mail), [
      { path: "html", message: "In the mail of these values, the end tag </b> has no begin, behind “Thank you , Ana”" },
    ])
  })

  it("take a bounded time in the largest texts", () => {
    const size = 100_000
    const warned = (html: string) => EndTags.inForm({ html }).length
    const began = processorMs()
    assert.strictEqual(warned("</a>".repeat(size / 4)), 20)
    assert.strictEqual(warned("<!--".repeat(size / 4)), 0)
    assert.strictEqual(warned("<style>".repeat(size / 7)), 0)
    assert.strictEqual(warned("{%".repeat(size / 2)), 0)
    assert.strictEqual(warned(`<a =${" =".repeat(size / 2)}`), 0)
    assert.strictEqual(warned('<a b="'.repeat(size / 6)), 0)
    const names = Array.from({ length: 190 }, (_, nth) => `<a${nth}>`).join("")
    assert.strictEqual(warned(`${names}${"{% for x in y %}{% if x %}".repeat(50)}</b>`), 1)
    assert.strictEqual(warned(`${"{% for x in y %}{% if x %}".repeat(1_000)}</b>`), 0)
    assert.strictEqual(warned(`${names}${"{% if x %}<b>{% endif %}</i>".repeat(1_000)}`), 20)
    const before = `${"<a>".repeat(size / 6)}${"</b>".repeat(size / 8)}<`
    assert.strictEqual(TypeOver.typedOver(before, "</a>", "/"), 0)
    assert.isBelow(processorMs() - began, 1_000)
  })
})
