import * as Liquid from "@waybill/templates/language/Liquid"
import type { Translated } from "@waybill/templates/translate/LiquidWriter"
import { fromHandlebars } from "@waybill/templates/translate/fromHandlebars"
import { fromMustachio } from "@waybill/templates/translate/fromMustachio"
import { fromResend } from "@waybill/templates/translate/fromResend"
import { assert, describe, it } from "../../support/effectTest.ts"
import { processorMs } from "../../support/processorMs.ts"
import { renderTranslated } from "./renderTranslated.ts"

describe("a translation", () => {
  it("of Mustachio leads out of a loop by the list and then by what has it", () => {
    const source = "{{#each shop.items}}{{name}} of {{../../name}} at {{../../../city}};{{/each}}"
    const variables = { city: "Rome", shop: { name: "Acme", items: [{ name: "a" }, { name: "b" }] } }
    assert.strictEqual(renderTranslated(fromMustachio(source), variables), "a of Acme at Rome;b of Acme at Rome;")
  })

  it("of Mustachio finds in an inverted section what is around that which is not there", () => {
    const source = "{{#a}}{{#b}}B{{^b}}no {{name}}{{../name}}{{/b}}{{^c}}{{name}}{{../name}}{{../../name}}{{/c}}{{/a}}"
    assert.strictEqual(renderTranslated(fromMustachio(source), { name: "y", a: { name: "x", b: "" } }), "no xxxxy")
  })

  it("of Handlebars writes dates in the zone that it names", () => {
    const source = '{{formatDate at "MMMM D, YYYY h:mm A" "-0800"}} {{formatDate at "DD/MM/YY HH:mm:ss"}}'
    const variables = { at: "2026-01-05T20:30:00Z" }
    assert.strictEqual(
      renderTranslated(fromHandlebars(source), variables),
      "January 5, 2026 12:30 PM 05/01/26 20:30:00",
    )
  })

  it("of Resend knows three braces alone, with a fallback", () => {
    const source = '<p>{{{NAME|dear "friend"}}} {{{ PRICE }}} {{x}} {% if %} {</p>'
    assert.strictEqual(
      renderTranslated(fromResend(source), { PRICE: 12 }),
      "<p>dear &#34;friend&#34; 12 {{x}} {% if %} {</p>",
    )
    assert.strictEqual(fromResend("{{{shop.name|there & you}}}").liquid, '{{ shop.name | default: "there & you" }}')
  })

  it("escapes what a variable of Resend holds, and not in a subject", () => {
    assert.strictEqual(renderTranslated(fromResend("<p>{{{X}}}</p>"), { X: "<b>" }), "<p>&lt;b&gt;</p>")
    assert.strictEqual(renderTranslated(fromResend("Hello {{{X}}}"), { X: "<b>" }, "text"), "Hello <b>")
  })

  it("says line by line what cannot be said in Liquid", () => {
    const problems = (translated: Translated) =>
      translated.problems.map(({ column, line, message }) => `${line}:${column} ${message}`)
    assert.deepStrictEqual(
      problems(fromHandlebars("<p>\n{{> footer}}\n  {{shout name}}{{#if a}}\n{{#list}}{{/list}}")),
      [
        "2:1 SendGrid has no partials",
        "3:3 shout is not a helper of SendGrid",
        "4:1 {{#list}} could be a list or a condition: write {{#each}}, {{#with}} or {{#if}}",
        "3:17 {{#if}} is not closed",
      ],
    )
    assert.deepStrictEqual(
      problems(fromHandlebars("{{{unsubscribe}}}{{#each a}}{{@../index}}{{/each}}{{else}}{{/x}}")),
      [
        "1:1 unsubscribe is filled in by SendGrid; write it, or set `list_unsubscribe`",
        "1:29 @../index: Liquid knows only the innermost loop",
        "1:51 {{else}} stands in no block",
        "1:59 {{/x}} closes nothing",
      ],
    )
    assert.deepStrictEqual(problems(fromMustachio("{{#a}}\n{{/b}} {{a b}} {{#each}}{{{ pm:unsubscribe }}}")), [
      "2:1 {{/b}} stands where {{/a}} is due",
      "2:8 a b is not a path of Mustachio",
      "2:16 {{#each}} needs a list, as in {{#each items}}",
      "2:25 pm:unsubscribe is filled in by Postmark; set `list_unsubscribe`",
      "1:1 {{#a}} is not closed",
    ])
    assert.deepStrictEqual(problems(fromMustachio("{{> a}}\n{{empty}}\n{{#each x}}")), [
      "1:1 Postmark has no partials",
      "3:1 {{#each}} is not closed",
    ])
    assert.deepStrictEqual(problems(fromResend("a\n{{{FIRST_NAME|x}}} {{{a b}}}")), [
      "2:1 FIRST_NAME is filled in by Resend from a contact; use a variable of another name",
      "2:20 a b is not a name of letters, digits and _",
    ])
    assert.deepStrictEqual(problems(fromResend("a\n{{{RESEND_UNSUBSCRIBE_URL}}}{{{contact.name|you}}}{{{a..b}}}")), [
      "2:1 RESEND_UNSUBSCRIBE_URL is filled in by Resend from a contact; use a variable of another name",
      "2:29 contact.name is filled in by Resend from a contact; use a variable of another name",
      "2:51 a..b is not a name of letters, digits and _",
    ])
  })

  it("leaves out what cannot be said, and is valid otherwise", () => {
    const { liquid, problems } = fromHandlebars(
      'Hi {{name}}\n{{> footer}}\n{{#each items as |item|}}x{{/each}}\n{{money total "EUR"}}\n{{../up}}{{#odd a}}{{else if b}}{{/odd}}\n{{/if}}{{#if a}}{{else}}{{else}}{{#each b}}',
    )
    assert.deepStrictEqual(
      problems.map(({ line, message }) => `${line}: ${message}`),
      [
        "2: SendGrid has no partials",
        "4: money is not a helper of SendGrid",
        "5: ../up leads out of the template",
        "5: odd is not a helper of SendGrid",
        "6: {{/if}} closes nothing",
        "6: {{else}} stands behind the last branch",
        "6: {{#each}} is not closed",
        "6: {{#if}} is not closed",
      ],
    )
    assert.match(liquid, /^Hi \{\{ name \}\}/u)
    for (const translated of [liquid, fromMustachio("{{#a}}{{#each b}}{{^c}}").liquid])
      assert.deepStrictEqual(Liquid.problemsOf("html", translated), [], translated)
  })

  it("reaches no prototype and escapes for the place where a variable stands", () => {
    const inherited = "{{x.constructor.name}}{{constructor}}{{__proto__}}{{x.__proto__.toString}}"
    for (const translate of [fromHandlebars, fromMustachio])
      assert.strictEqual(renderTranslated(translate(`[${inherited}]`), { x: {} }), "[]")
    const link = '<a href="{{url}}" style="color:{{color}}">x</a>'
    const hostile = { url: "javascript:alert(1)", color: "red;background:url(x)" }
    for (const translate of [fromHandlebars, fromMustachio]) {
      const html = renderTranslated(translate(link), hostile)
      assert.include(html, 'href="about:blank#blocked"')
      assert.notInclude(html, "url(")
    }
  })

  it("takes time in proportion to the largest source", () => {
    const size = 256 * 1024
    const deep = `{{#with ${"a".repeat(200)}}}`
    const sources = [
      "{{",
      "{{a",
      '{{a "',
      "{{!--",
      "{{{",
      "\\{{",
      "{{#if a}}",
      "{{[",
      "{{a.[b]",
      "{%",
      deep,
      "{{#each a}}\n",
      "{{(((",
      "{{a~}} ",
      " {{~a~}} \n",
      " {{#a}} {{!b}}",
      "{{#if a}}\n  {{else if b}}\n",
      `{{${"[".repeat(4_000)}}}`,
      `{{${"a[".repeat(2_000)}}}`,
      `{{formatDate at "${"[".repeat(4_000)}"}}`,
    ]
    for (const piece of sources) {
      const source = piece.repeat(Math.floor(size / piece.length))
      for (const translate of [fromHandlebars, fromMustachio, fromResend]) {
        const spent = () => {
          const before = processorMs()
          translate(source)
          return processorMs() - before
        }
        // The better of two, because other processes slow this one down.
        assert.isBelow(Math.min(spent(), spent()), 400, `${translate.name} of ${piece.slice(0, 20)}`)
      }
    }
  })
})
