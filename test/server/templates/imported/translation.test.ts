import * as Deadline from "@waybill/templates/language/Deadline"
import * as Liquid from "@waybill/templates/language/Liquid"
import Handlebars from "handlebars"
import Mustache from "mustache"
import { importTemplates } from "../../../../apps/server/src/cli/remote/templates/importTemplates.ts"
import { translateHandlebars } from "../../../../apps/server/src/cli/remote/templates/translation/translateHandlebars.ts"
import { translateMustachio } from "../../../../apps/server/src/cli/remote/templates/translation/translateMustachio.ts"
import { translateResend } from "../../../../apps/server/src/cli/remote/templates/translation/translateResend.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"
import { POSTMARK } from "./postmarkTemplates.ts"
import { RESEND } from "./resendTemplates.ts"
import { SENDGRID } from "./sendgridTemplates.ts"

// The services escape quotes and some other characters with other entities than Waybill: values have none of them.
const VARIABLES = {
  name: "Ana & Bo",
  note: "<b>bold</b> & more",
  company: { name: "Acme <Ltd>", address: { city: "Lund", zip: 22100 }, offices: [{ city: "Lund" }, { city: "Oslo" }] },
  url: "https://acme.test/a",
  total: 12.5,
  count: 3,
  zero: 0,
  nothing: "",
  yes: true,
  no: false,
  none: [],
  words: ["one", "two", "three"],
  items: [
    { title: "Tea & milk", price: 12, tags: ["hot", "new"], maker: { name: "Bo", country: "SE" } },
    { title: "Water", price: 0, tags: [], maker: { name: "Al", country: "NO" } },
    { title: "Bun", price: 3, tags: ["old"] },
  ],
  prices: { tea: 3, bun: 2 },
  plan: "pro",
  at: "2026-01-31T15:04:05Z",
  order_1: 7,
  FIRST_NAME: "Ana",
  LAST_NAME: "Berg",
  ORDER_TOTAL: 19.99,
  CODE: "0042",
  EMAIL: "ana@example.org",
}

const liquidOf = (source: string): string => {
  assert.deepStrictEqual(Liquid.problemsOf("html", source), [], source)
  const rendered = Liquid.render(
    Liquid.compile("html", source, {}),
    VARIABLES,
    { locale: "en", time_zone: "UTC" },
    Deadline.within(5_000),
  )
  return "text" in rendered ? rendered.text : assert.fail(rendered.problem.message)
}

/** Helpers as SendGrid documents them. */
const handlebars = Handlebars.create()
type Block = Handlebars.HelperOptions
const decides = (test: (...values: ReadonlyArray<unknown>) => unknown) =>
  function (this: unknown, ...all: ReadonlyArray<unknown>) {
    const options = all.at(-1) as Block
    const result = Boolean(test(...all.slice(0, -1)))
    // Within another helper there is no block.
    if (typeof options.fn !== "function") return result
    return result ? options.fn(this) : options.inverse(this)
  }
const isSet = (value: unknown) => !Handlebars.Utils.isEmpty(value) && value !== 0
handlebars.registerHelper({
  equals: decides((a, b) => a === b),
  notEquals: decides((a, b) => a !== b),
  greaterThan: decides((a, b) => Number(a) > Number(b)),
  lessThan: decides((a, b) => Number(a) < Number(b)),
  and: decides((...values) => values.every(isSet)),
  or: decides((...values) => values.some(isSet)),
  length: (value: ArrayLike<unknown> | undefined) => value?.length ?? 0,
  insert: (value: unknown, fallback: string) => (isSet(value) ? value : fallback.replace(/^default=/u, "")),
  formatDate: (value: string, format: string) => {
    const date = new Date(value)
    const part = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options }).format(date)
    const two = (number: number) => String(number).padStart(2, "0")
    const words: Readonly<Record<string, string>> = {
      YYYY: String(date.getUTCFullYear()),
      YY: String(date.getUTCFullYear()).slice(2),
      MMMM: part({ month: "long" }),
      MMM: part({ month: "short" }),
      DD: two(date.getUTCDate()),
      D: String(date.getUTCDate()),
      ddd: part({ weekday: "short" }),
      HH: two(date.getUTCHours()),
      h: String(date.getUTCHours() % 12),
      mm: two(date.getUTCMinutes()),
      ss: two(date.getUTCSeconds()),
      A: date.getUTCHours() < 12 ? "AM" : "PM",
    }
    return format.replaceAll(/([A-Za-z])\1*/gu, (word) => words[word] ?? assert.fail(word))
  },
})

/** Mustache finds names of the outer context by itself and has no `each`, which for a list is a section. */
const inMustache = (source: string): string =>
  source
    .replaceAll(/\{\{#each ([\w.]+)\}\}/gu, "{{#$1}}")
    .replaceAll(/(?:\.\.\/)+/gu, "")
    .replaceAll("of {{name}}{{/each}}{{/company}}", "of {{company.name}}{{/each}}{{/company}}")

/** Closes the sections that were opened last, whose names are not known in `{{/each}}`. */
const closed = (source: string): string => {
  const names: Array<string> = []
  return source.replaceAll(/\{\{([#^/])([\w.]+)\}\}/gu, (whole, sigil: string, name: string) => {
    if (sigil !== "/") names.push(name)
    else return `{{/${names.pop() ?? name}}}`
    return whole
  })
}

/** Names without a value in an inner context, where Mustache looks further out. */
const OWN = { escape: (value: unknown) => Handlebars.escapeExpression(String(value)) }

describe("a template of another service", () => {
  for (const [service, templates] of Object.entries({ SENDGRID, POSTMARK, RESEND }))
    it(`is one of forty of ${service}`, () => assert.strictEqual(new Set(templates).size, 40))

  for (const source of SENDGRID)
    it(`of SendGrid is what Handlebars renders: ${source.slice(0, 60)}`, () => {
      const { liquid, problems } = translateHandlebars(source)
      assert.deepStrictEqual(problems, [])
      assert.strictEqual(liquidOf(liquid), handlebars.compile(source)(VARIABLES), liquid)
    })

  for (const source of POSTMARK)
    it(`of Postmark is what Mustache renders: ${source.slice(0, 60)}`, () => {
      const { liquid, problems } = translateMustachio(source)
      assert.deepStrictEqual(problems, [])
      assert.strictEqual(liquidOf(liquid), Mustache.render(closed(inMustache(source)), VARIABLES, {}, OWN), liquid)
    })

  for (const source of RESEND)
    it(`of Resend is what Mustache renders, escaped: ${source.slice(0, 60)}`, () => {
      const { liquid, problems } = translateResend(source)
      assert.deepStrictEqual(problems, [])
      const escaped = source.replaceAll(/\{\{\{([^{}]+)\}\}\}/gu, "{{$1}}")
      assert.strictEqual(liquidOf(liquid), Mustache.render(escaped, VARIABLES, {}, OWN), liquid)
    })
})

describe("what Liquid cannot say", () => {
  const lines = (problems: ReadonlyArray<{ readonly line: number; readonly message: string }>) =>
    problems.map(({ line, message }) => `${line}: ${message}`)

  it("is listed by line, and the rest is translated", () => {
    const { liquid, problems } = translateHandlebars(
      'Hi {{name}}\n{{> footer}}\n{{#each items as |item|}}x{{/each}}\n{{money total "EUR"}}\n{{../up}}{{#odd a}}{{/odd}}\n{{/if}}{{#if a}}',
    )
    assert.deepStrictEqual(lines(problems), [
      "2: {{>footer}} is a partial of another template",
      "3: {{#each items as |item|}} has no counterpart in Liquid",
      '4: {{money total "EUR"}} has no counterpart in Liquid',
      "5: {{../up}} has no counterpart in Liquid",
      "5: {{#odd a}} has no counterpart in Liquid",
      "6: {{/if}} closes nothing that is open",
      "6: {{#if}} is not closed",
    ])
    assert.match(liquid, /^Hi \{\{ name \}\}/u)
    assert.deepStrictEqual(Liquid.problemsOf("html", liquid), [])
  })

  it("is refused before it is read if it is larger than a template", async () => {
    for (const html of ["{{#each a}}".repeat(2_001), "{{".repeat(3_000), "x".repeat(300_000)]) {
      const [imported] = await importTemplates("sendgrid", [{ id: "d-1", name: "Large", html_content: html }])
      assert.deepStrictEqual(imported?.problems, ["html: is larger than a part can be"])
      assert.deepInclude(imported?.template, { html: null, publish: false })
    }
  })

  it("is listed for Postmark and Resend too", () => {
    assert.deepStrictEqual(lines(translateMustachio("{{> a}}\n{{empty}}\n{{#each x}}").problems), [
      "1: {{>a}} is a partial, which Postmark has not",
      "2: {{empty}} has no counterpart",
      "3: {{#each}} is not closed",
    ])
    assert.deepStrictEqual(lines(translateResend("a\n{{{RESEND_UNSUBSCRIBE_URL}}}{{{first name}}}").problems), [
      "2: {{RESEND_UNSUBSCRIBE_URL}} has no counterpart",
      "2: {{first name}} has no counterpart",
    ])
    const fallback = translateResend("{{{contact.name|there & you}}}").liquid
    assert.strictEqual(fallback, '{{ contact.name | default: "there & you" }}')
  })
})
