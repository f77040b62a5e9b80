import { HTML_TEXT_LIMIT, textFromHtml } from "@waybill/mail/compose/textFromHtml"
import { assert, describe, it } from "../../support/effectTest.ts"
import { growth } from "../../support/postgres/growth.ts"

/** Time limit of a test that takes seconds on any machine. */
const HANGS_MS = 120_000

describe("text from HTML", () => {
  it("keeps words, links and lists, and drops styles, scripts and pictures", () => {
    const html = `<html><head><title>T</title><style>p{}</style></head><body><script>x()</script><h1>Hello &amp; welcome</h1>
      <p>See <a href="https://acme.test/1">the page</a>, <a href="https://acme.test">https://acme.test</a> or <a href="#top">above</a>.</p>
      <ul><li>one</li><li>two</li></ul><img src="cid:x" alt="logo"><table><tr><td>cell</td></tr></table></body></html>`
    assert.strictEqual(
      textFromHtml(html),
      "Hello & welcome\n\nSee the page [https://acme.test/1], https://acme.test or above.\n\n * one\n * two\n\ncell",
    )
  })

  it("wraps at 76 characters, and never inside a URL", () => {
    const url = `https://acme.test/${"x".repeat(200)}`
    const lines = textFromHtml(`<p>${"word ".repeat(60)}</p><a href="${url}">go</a>`).split("\n")
    assert.isTrue(lines.filter((line) => !line.includes(url)).every((line) => line.length <= 76))
    assert.isTrue(lines.some((line) => line.includes(url)))
  })

  it("is cut at the limit and ends with an ellipsis", () => {
    const text = textFromHtml(`<p>${"word ".repeat(HTML_TEXT_LIMIT)}</p>`)
    assert.isAtMost(text.length, HTML_TEXT_LIMIT + 10)
    assert.match(text, /…$/)
  })

  it("is empty for empty HTML", () => {
    for (const html of ["", " ", "<p></p>", "<!-- x -->"]) assert.strictEqual(textFromHtml(html), "")
  })

  for (const piece of ["<div>", "<table><tr><td>", "<ul><li>", "</p>", "<a href=x>", "<", "&", "<!--", "<p "]) {
    it(`takes no longer for endless ${piece} than for HTML of the maximum length`, { timeout: HANGS_MS }, () => {
      // Made once: making the text takes longer than reading an endless comment.
      const texts = new Map<number, string>()
      const reading = (size: number) => {
        const text = texts.get(size) ?? piece.repeat(Math.ceil(size / piece.length))
        texts.set(size, text)
        return textFromHtml(text)
      }
      assert.isBelow(growth(reading, HTML_TEXT_LIMIT * 2, 8), 4)
    })
  }
})
