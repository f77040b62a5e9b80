import * as TemplateState from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Inspection from "@waybill/templates/version/Inspection"
import * as Suggestion from "@waybill/templates/version/Suggestion"
import * as Warnings from "@waybill/templates/version/Warnings"
import * as Rendering from "@waybill/templates/version/Rendering"
import * as Words from "@waybill/templates/version/Words"
import { Result } from "effect"
import { assert, describe, it } from "../support/effectTest.ts"

const words = (change: Partial<TemplateState.Words>): TemplateState.Words => ({
  subject: null,
  html: null,
  text: null,
  preheader: null,
  ...change,
})
const source = (change: Partial<TemplateState.TemplateSource>): TemplateState.TemplateSource => ({
  ...TemplateState.EMPTY,
  ...change,
})

const render = (template: TemplateState.TemplateSource, variables: VariableSchema.Variables, locale = "en") => {
  const compiled = Result.getOrThrow(Rendering.prepare(template, new Map(), locale))
  const once = () =>
    Rendering.render(compiled, variables, { locale, time_zone: "Europe/Berlin" }, { isOver: () => false })
  // The first time loads the words of the language, which a busy machine does not do in time.
  once()
  return Result.getOrThrow(once())
}

describe("a version", () => {
  it("is read in the nearest language, and takes from the wider one what that leaves out", () => {
    const template = source({
      subject: "Hello",
      html: "<p>Hello</p>",
      text: "Hello",
      locales: { pt: words({ subject: "Olá", html: "<p>Olá</p>" }), "pt-BR": words({ subject: "Oi" }) },
    })
    assert.deepInclude(Words.choose(template, "pt-BR"), {
      locale: "pt-BR",
      subject: "Oi",
      html: "<p>Olá</p>",
      text: null,
    })
    assert.deepInclude(Words.choose(template, "PT-pt"), { locale: "pt", subject: "Olá" })
    assert.deepInclude(Words.choose(template, "de"), { locale: null, subject: "Hello", text: "Hello" })
  })

  it("writes money, numbers, dates and plurals as readers of the language expect", () => {
    const template = source({
      text: `{{ total | money: "EUR" }}|{{ share | percent: 1 }}|{{ n | number }}|{{ at | local_date: "long" }}|{{ at | local_time }}|{{ n | plural: one: "# item", other: "# items" }}`,
    })
    const variables = { total: 1234.5, share: 0.125, n: 2000, at: "2026-01-31T23:30:00Z" }
    const plain = (text: string | null) => text?.replaceAll(/[\u00a0\u202f]/gu, " ")
    assert.strictEqual(
      plain(render(template, variables).text),
      "€1,234.50|12.5%|2,000|February 1, 2026|12:30 AM|2,000 items",
    )
    assert.strictEqual(
      plain(render(template, variables, "de").text),
      "1.234,50 €|12,5 %|2.000|1. Februar 2026|00:30|2.000 items",
    )
  })

  it("writes nothing for a date that is absent", () => {
    const template = source({
      text: "{{ nil | date }}|{{ none | date: '%Y' }}|{{ none | local_date }}|{{ empty | local_time: 'long' }}|{{ gone | date }}",
    })
    assert.strictEqual(render(template, { none: null, empty: "" }).text, "||||")
  })

  it("has a subject of one line, and a preheader before all that is seen", () => {
    const template = source({ subject: "Hi\n{{ x }}", html: "<html><body class=a><p>Hi</p>", preheader: "<{{ x }}>" })
    assert.deepStrictEqual(render(template, { x: "a\r\nBcc: b" }), {
      subject: "Hi a Bcc: b",
      html: '<html><body class=a><div style="display:none;max-height:0;overflow:hidden">&lt;a\r\nBcc: b&gt;</div><p>Hi</p>',
      text: null,
      preheader: "<a Bcc: b>",
      missing: [],
    })
  })

  it("has its preheader in the body that all readers see", () => {
    const begin = "<!--[if mso]><body><![endif]--><!--[if !mso]><!--><body>"
    const { html } = render(source({ html: `${begin}Hi`, preheader: "a" }), {})
    assert.strictEqual(html, `${begin}<div style="display:none;max-height:0;overflow:hidden">a</div>Hi`)
  })

  it("names all problems with their places", () => {
    const template = source({
      html: "<p>{{ a | nope }}",
      locales: { de: words({ subject: "{% if %}" }) },
      variables: { type: "object", properties: { a: { type: "text", minLength: 3 } } },
    })
    assert.deepStrictEqual(
      Inspection.problemsOf(template).map(({ path }) => path),
      ["html", "locales.de.subject", "variables.properties.a.minLength", "variables.properties.a.type"],
    )
  })

  it("names all problems of one part, in order", () => {
    const html = "{{ a | foo }}\n{{ b | bar }}\n<a href={{ x }}>\n{% fi c %}{% assign d = e | baz %}"
    assert.deepStrictEqual(
      Inspection.problemsOf(source({ html })).map(({ message }) => message.replace(/;.*? \(/u, " (")),
      [
        "there is no filter foo (line 1, column 1)",
        "there is no filter bar (line 2, column 1)",
        'put the value of the attribute in quotes, as in title="{{ … }}" (line 3, column 9)',
        "there is no tag fi (line 4, column 1)",
        "there is no filter baz (line 4, column 11)",
      ],
    )
    // What is open ends the search: all that follows would be about it.
    assert.strictEqual(Inspection.problemsOf(source({ html: "{{ a | foo }}{% if b %}{{ c | bar }}" })).length, 3)
  })

  it("says what other languages write in another way, and what is not closed", () => {
    const messageOf = (html: string) => Inspection.problemsOf(source({ html }))[0]?.message ?? "none"
    for (const [html, words] of [
      ["{{#if a}}", "{{#if … }} is a block of another language; write {% if … %}"],
      ["{{#each a}}", "write {% for item in … %}"],
      ["{{/if}}", "write {% endif %}"],
      ["{{^a}}", "write {% if … %} or {% for … %}"],
      ["{{{a}}}", "write {{ … | raw }}"],
      ["<h1>{{a}</h1>", "{{ has no }} behind it"],
      ["{% if a && b %}{% endif %}", "conditions are joined by and, or"],
    ] as const)
      assert.include(messageOf(html), words, html)
  })

  it("says where a part is named that is not there", () => {
    const html = '<h1>\n</h1>\n<p>{% render "foot" %}</p>'
    const foot = { ...TemplateState.EMPTY, html: '{% render "none" %}' }
    const messageOf = (library: Map<string, TemplateState.TemplateSource>, layout: string | null = null) =>
      Inspection.unresolved(source({ html, layout }), library)
    const at = (message: string) => ({
      path: "html",
      message: `${message} (line 3, column 4)`,
      place: { line: 3, column: 4, message },
    })
    assert.deepStrictEqual(messageOf(new Map()), [at("uses foot, which is no published partial or layout")])
    assert.deepStrictEqual(messageOf(new Map([["foot", foot]])), [
      at("uses none, which is no published partial or layout"),
    ])
    assert.deepStrictEqual(messageOf(new Map(), "base")[0], {
      path: "layout",
      message: "uses base, which is no published partial or layout",
    })
  })

  it("suggests a schema of what it does with each variable", () => {
    const template = source({
      subject: "{{ order.id }}",
      html:
        "{% for item in order.items %}{{ item.name }} {{ item.price | money: 'EUR' }}" +
        "{% for tag in item.tags %}{{ tag }}{% endfor %}{% endfor %}{{ name | default: 'you' }}" +
        "{% if gift %}{{ at | local_date }}{% endif %}{% if note %}{{ note }}{% endif %}{{ content }}{{ order.items.size }}",
    })
    const item = {
      type: "object",
      required: ["name", "price", "tags"],
      properties: { name: {}, price: { type: "number" }, tags: { type: "array", items: {} } },
    }
    assert.deepStrictEqual(Suggestion.suggest(template), {
      type: "object",
      required: ["order", "at"],
      properties: {
        order: {
          type: "object",
          required: ["id", "items"],
          properties: { id: {}, items: { type: "array", items: item } },
        },
        name: {},
        gift: { type: "boolean" },
        at: { type: "string", format: "date-time" },
        note: {},
      },
    } as VariableSchema.VariableSchema)
  })

  it("warns of variables that are not in the schema, each at its place", () => {
    const variables = {
      type: "object",
      properties: { name: { type: "string" }, order: { type: "object", properties: { id: {} } }, list: {} },
    }
    const template = source({
      subject: "{{ name }}",
      html: "<p>\n{{ nmae }}{{ order.di }}{{ order.id }}{{ list.size }}{{ list[0].x }}{{ content }}</p>{{ nmae }}",
      locales: { de: words({ text: "{{ Name }}" }) },
      variables,
    })
    const warnings = Warnings.ofSource(template).map(({ message, path }) => ({ path, message }))
    assert.deepStrictEqual(warnings, [
      { path: "html", message: "`nmae` is not in the schema; did you mean `name`? (line 2, column 4)" },
      { path: "html", message: "`order.di` is not in the schema (line 2, column 14)" },
      { path: "locales.de.text", message: "`Name` is not in the schema; did you mean `name`? (line 1, column 4)" },
    ])
    assert.deepStrictEqual(Warnings.ofSource({ ...template, variables: null }), [])
  })

  it("warns of HTML in a language under a subject of another", () => {
    const locales = { de: words({ html: "<p>Hallo</p>" }), fr: words({ subject: "Salut" }) }
    const message = "is missing: that of the wider language stands beside this HTML"
    assert.deepStrictEqual(Warnings.ofSource(source({ subject: "Hi", preheader: "See", html: "Hi", locales })), [
      { path: "locales.de.subject", message },
      { path: "locales.de.preheader", message },
    ])
  })
})

describe("variables", () => {
  const schema: VariableSchema.VariableSchema = {
    type: "object",
    required: ["name", "items"],
    properties: {
      name: { type: "string" },
      plan: { enum: ["free", "pro"], default: "free" },
      since: { type: "string", format: "date" },
      items: {
        type: "array",
        items: { type: "object", properties: { price: { type: "number" } }, required: ["price"] },
      },
    },
  }

  it("are checked as a whole, each by its path", () => {
    const { problems } = VariableSchema.check(schema, {
      nam: "Ana",
      plan: "gold",
      since: "yesterday",
      items: [{ price: 1 }, { price: "2" }, {}],
    })
    assert.deepStrictEqual(
      problems.map(({ message, path }) => `${path} ${message}`),
      [
        "nam is not a variable of this template; did you mean `name`?",
        'plan must be one of "free", "pro"',
        "since must be a date",
        "items[1].price must be a number, not string",
        "items[2].price is missing",
        "name is missing",
      ],
    )
  })

  it("get the defaults of the schema, and samples fit it", () => {
    const { problems, variables } = VariableSchema.check(schema, { name: "Ana", items: [] })
    assert.deepStrictEqual([problems, variables], [[], { name: "Ana", items: [], plan: "free" }])
    const nested = {
      properties: {
        rows: { items: { properties: { count: { default: 1 } } } },
        deep: { properties: { at: { default: "x" } } },
      },
    }
    const given = { rows: [{ count: 2 }, {}], deep: {} }
    assert.deepStrictEqual(VariableSchema.check(nested, given).variables, {
      rows: [{ count: 2 }, { count: 1 }],
      deep: { at: "x" },
    })
    assert.deepStrictEqual(given, { rows: [{ count: 2 }, {}], deep: {} })
    const sample = VariableSchema.sampleOf(schema) as Readonly<Record<string, string>>
    assert.deepStrictEqual(VariableSchema.check(schema, sample).problems, [])
  })
})
