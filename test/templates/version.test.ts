import * as TemplateState from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Inspection from "@waybill/templates/version/Inspection"
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

const render = (template: TemplateState.TemplateSource, variables: Rendering.Variables, locale = "en") => {
  const compiled = Result.getOrThrow(Rendering.prepare(template, new Map(), locale))
  const once = () => Rendering.render(compiled, variables, { locale, time_zone: "Europe/Berlin" }, () => 0)
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

  it("has a subject of one line, and a preheader before all that is seen", () => {
    const template = source({ subject: "Hi\n{{ x }}", html: "<html><body class=a><p>Hi</p>", preheader: "<{{ x }}>" })
    assert.deepStrictEqual(render(template, { x: "a\r\nBcc: b" }), {
      subject: "Hi a Bcc: b",
      html: '<html><body class=a><div style="display:none;max-height:0;overflow:hidden">&lt;a\r\nBcc: b&gt;</div><p>Hi</p>',
      text: null,
    })
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

  it("suggests a schema of what it uses", () => {
    const template = source({
      subject: "{{ order.id }}",
      html: "{% for item in order.items %}{{ item.name }}{% endfor %}{{ name | default: 'you' }}",
    })
    assert.deepStrictEqual(Inspection.suggest(template), {
      type: "object",
      properties: { order: { type: "object", properties: { id: {}, items: {} } }, name: {} },
    })
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
    const sample = VariableSchema.sampleOf(schema) as Readonly<Record<string, string>>
    assert.deepStrictEqual(VariableSchema.check(schema, sample).problems, [])
  })
})
