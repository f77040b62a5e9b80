import * as Template from "@waybill/domain/template/Template"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Inspection from "@waybill/templates/version/Inspection"
import * as Translation from "@waybill/templates/translate/Translation"
import * as Suggestion from "@waybill/templates/version/Suggestion"
import * as Warnings from "@waybill/templates/version/Warnings"
import * as Limits from "@waybill/templates/language/Limits"
import * as Deadline from "@waybill/templates/language/Deadline"
import * as Liquid from "@waybill/templates/language/Liquid"
import { assert, describe, it } from "../../support/effectTest.ts"
import { leastProcessorMs, processorMs } from "../../support/processorMs.ts"
import { dice } from "../../support/dice.ts"

const WRITING = { locale: "en", time_zone: "UTC" }

interface Given {
  readonly variables?: object
  readonly parts?: Liquid.Parts
  readonly limitMs?: number
}

const messageOf = (source: string, { limitMs = Limits.RENDER_MS, parts = {}, variables = {} }: Given = {}): string => {
  const [problem] = Liquid.problemsOf("html", source)
  if (problem !== undefined) return problem.message
  const rendered = Liquid.render(Liquid.compile("html", source, parts), variables, WRITING, Deadline.within(limitMs))
  return "text" in rendered ? "" : rendered.problem.message
}

const LATE = `takes longer than ${Limits.RENDER_MS} ms to render`
const MADE = `makes more than ${Limits.MAX_MADE} characters and items`

const BOUNDED: ReadonlyArray<readonly [source: string, message: string]> = [
  ["{% for i in (1..100000000) %}{% endfor %}", MADE],
  [`{% assign a = "${"a".repeat(40)}" %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}`, MADE],
  [
    `{% capture a %}${"a".repeat(40)}{% endcapture %}{% for i in (1..40) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}`,
    MADE,
  ],
  [
    `{% assign x = "${"#".repeat(4_000)}" %}{% assign x = x | append: x | append: x %}{% for i in (1..40) %}{% assign a = 123456789 | plural: other: x %}{% endfor %}`,
    MADE,
  ],
  ["{% for i in (1..900) %}{% for j in (1..900) %}{% for k in (1..900) %}{% endfor %}{% endfor %}{% endfor %}", LATE],
  [`{% for i in (1..9000) %}${"a".repeat(1000)}{% endfor %}`, `writes more than ${Limits.MAX_OUTPUT_CHARS} characters`],
  ["{{ x".padEnd(Limits.MAX_PIECE_CHARS + 9), `{{ is not closed within ${Limits.MAX_PIECE_CHARS} characters`],
  [
    `{{ x | append: "}}${"a".repeat(Limits.MAX_PIECE_CHARS)}" }}`,
    `{{ is not closed within ${Limits.MAX_PIECE_CHARS} characters`,
  ],
  ["{{ x }}".repeat(Limits.MAX_PIECES + 1), `has more than ${Limits.MAX_PIECES} tags and variables`],
  [`{{ a${".b".repeat(2_000)} }}`, `has a path of more than ${Limits.MAX_PATH_NAMES} names`],
  [`{% if a[b${".b".repeat(2_000)}] %}{% endif %}`, `has a path of more than ${Limits.MAX_PATH_NAMES} names`],
  ["a".repeat(Limits.MAX_SOURCE_CHARS + 1), `is longer than ${Limits.MAX_SOURCE_CHARS} characters`],
]

/** Pieces that are put together to sources which a parser finds hard. */
const PIECES = [
  "{{ x }}",
  "{{ x | ",
  "{% if x %}",
  "{% endif %}",
  "{% for i in x %}",
  "{% endfor %}",
  "{{",
  "}}",
  "{%",
  "%}",
  "'",
  '"',
  "<a href='",
  "<",
  ">",
  "<!--",
  "<!--[if mso]>",
  "<![endif]-->",
  "<script>",
  "</script>",
  "<style>",
  "{% raw %}",
  "{% endraw %}",
  "{% comment %}",
  "{% endcomment %}",
  "| strip_html ",
  "| replace: 'a', 'aa' ",
  "{{ x | remove_last: y }}",
  "{{ x | replace_first: y, x }}",
  "{{ x | split: y }}",
  "{{ x | date: y }}",
  "{{ 0 | date: '%A%E0%B' }}",
  "{{ x | find: 'a', a }}",
  "{{ x | where: 'a', empty }}",
  "{{ x | sum: 'a' }}",
  "{{ x | sort: y }}",
  "{{ x | strip: y }}",
  "{{ x | url_encode }}",
  "{{ x | join: y }}",
  "{% if x > a or x < y or x == empty %}{% endif %}",
  "{% if x.size == a.size or x[a] %}{% endif %}",
  "{% for i in (a..a) %}{% endfor %}",
  "{% assign x = x | concat: x %}",
  "[",
  "]",
  "..",
  "(1..9999)",
  "{% capture x %}",
  "{% endcapture %}",
  "{% assign x = x | append: x %}",
  "{% else %}",
  "{% case x %}",
  "{% when 1 %}",
  "\n",
  "\\",
] as const
const ROUNDS = 1_000
const MAX_REPEATS = 2_000
const nested = (depth: number): ReadonlyArray<unknown> => (depth === 0 ? [1] : [nested(depth - 1), "a"])
/** Values that a template finds hard; a body is JSON, which can have any name. */
const VARIABLES: ReadonlyArray<object> = [
  { x: "a".repeat(170_000), y: `${"a".repeat(40_000)}b${"a".repeat(40_000)}`, a: 2 ** 53 },
  {
    x: Array.from({ length: 90_000 }, (_, nth) => nth),
    y: "%A".repeat(100),
    a: Array.from({ length: 80_000 }, () => []),
  },
  { x: [{ a: Array.from({ length: 40_000 }, () => 1), b: "b".repeat(100_000) }], y: "a", a: 1 },
  { x: "<script".repeat(20_000), y: " ".repeat(100_000), a: ["a".repeat(1_000)] },
  { x: Array.from({ length: 20_000 }, (_, nth) => `&${nth}`), a: nested(25) },
  { x: Object.fromEntries(Array.from({ length: 10_000 }, (_, nth) => [`n${nth}`, { a: nth }])), a: 1e308 },
  JSON.parse('{"x": {"__proto__": {"y": [1]}, "constructor": null, "size": "-->"}, "a": [null, true, {}]}') as object,
]
/** Of this process, so that a busy machine is not to be told a failure. */
const MAX_PROCESSOR_MS = 250

describe("limits of a template", () => {
  for (const [source, message] of BOUNDED)
    it(`bound the work: ${message}, ${source.slice(0, 60)}`, () => {
      // On a busy machine the time is over before another bound is met.
      const given = message === LATE ? {} : { limitMs: 60_000 }
      const render = () => assert.strictEqual(messageOf(source, given), message)
      assert.isBelow(leastProcessorMs(MAX_PROCESSOR_MS, render), MAX_PROCESSOR_MS)
    })

  const items = Array.from({ length: 50_000 }, (_, nth) => `Item ${nth}`)
  const LISTS = {
    l: items,
    m: [...items],
    d: [...items.slice(1), "x"],
    o: items.map((name) => ({ name })),
    s: "a".repeat(100_000),
    /** Texts that differ at their end, if at all. */
    t: ["a", "b"].map((end) => JSON.parse(JSON.stringify("a".repeat(100_000) + end)) as string),
  }
  const MANY_TEXTS = `{% assign m = t${" | concat: t".repeat(4_000 / 12)} %}`
  it.for([
    ["equal lists", `{% if ${Array(360).fill("l == m").join(" and ")} %}{% endif %}`],
    ["lists that differ at their end", `{% if ${Array(200).fill("l contains 'x'").join(" or ")} %}{% endif %}`],
    [
      "texts in texts",
      `{% assign n = "b" | append: s %}{% if ${Array(250).fill("s contains n").join(" or ")} %}{% endif %}`,
    ],
    ["branches", `{% case l %}{% when ${Array(900).fill("d").join(",")} %}{% endcase %}`],
    ["many branches", `{% case l %}${`{% when m %}`.repeat(900)}{% endcase %}`],
    ["filters of items", `{{ o${" | where: 'name'".repeat(200)} }}`],
    ["sorting", `{{ l${" | sort_natural".repeat(5)} }}`],
    ["sorting of long texts", `${MANY_TEXTS}{{ m | sort | size }}`],
    ["looking for a long text", `${MANY_TEXTS}{{ m | where: "x", t[0] | size }}`],
  ] as const)("count the steps of one piece: %s", ([, source]) => {
    const render = () => assert.strictEqual(messageOf(source, { variables: LISTS, limitMs: 60_000 }), MADE)
    assert.isBelow(leastProcessorMs(MAX_PROCESSOR_MS, render), MAX_PROCESSOR_MS)
  })

  for (const filter of ["where", "find", "has", "reject", "map", "sort", "sum"])
    it(`refuse a long property of ${filter}`, () => {
      const message = messageOf(`{{ o | ${filter}: s }}`, { variables: LISTS })
      assert.strictEqual(message, `reads a property of more than ${Limits.MAX_PROPERTY_CHARS} characters`)
    })

  it("end a partial that uses itself", () => {
    const parts = { a: '{% render "b" %}', b: '{% render "a" %}' }
    assert.include([LATE, "is nested too deep"], messageOf('{% render "a" %}', { parts }))
  })

  it(`hold for ${ROUNDS} sources of hard pieces`, { timeout: 300_000 }, () => {
    const { below, pick } = dice(7)
    let slowest = { ms: 0, source: "" }
    for (let round = 0; round < ROUNDS; round++) {
      const repeats = () => 1 + below(below(3) === 0 ? MAX_REPEATS : 3)
      const source = Array.from({ length: 1 + below(12) }, () => pick(PIECES).repeat(repeats())).join("")
      const variables = pick(VARIABLES)
      const ms = leastProcessorMs(MAX_PROCESSOR_MS, () => messageOf(source, { variables }))
      if (ms > slowest.ms) slowest = { ms, source: source.slice(0, 200) }
    }
    assert.isBelow(slowest.ms, MAX_PROCESSOR_MS, slowest.source)
  })

  /** The largest legal template, of one piece, in two languages. */
  const largest = (piece: (nth: number) => string): TemplateState.TemplateSource => {
    const html = Array.from({ length: Limits.MAX_TOGETHER_PIECES / 2 }, (_, nth) => piece(nth))
      .join("")
      .padEnd(Limits.MAX_TOGETHER_CHARS / 2, "<p>a</p> ")
      .replace(/<[^>]*$/u, "")
    const words = { subject: null, html, text: null, preheader: null }
    return { ...TemplateState.EMPTY, html, locales: { de: words }, variables: { type: "object" } }
  }

  it.for([
    ["equal variables", () => "{{ x }}"],
    ["variables in addresses", () => '<a href="{{ x }}">'],
    ["many variables", (nth: number) => `{{ a${nth} | upcase }}`],
  ] as const)("hold for checking the largest template: %s", ([, piece]) => {
    const source = largest(piece)
    for (const work of [Inspection.problemsOf, Suggestion.suggest, Warnings.ofSource]) {
      work(source)
      const before = processorMs()
      work(source)
      assert.isBelow(processorMs() - before, MAX_PROCESSOR_MS)
    }
    assert.deepStrictEqual(Inspection.problemsOf(source), [])
  })

  const LANGUAGES = 40
  const LANGUAGE_CHARS = 12_000
  /** A template in many languages, of different pieces. */
  const inLanguages = (language: TemplateState.TemplateLanguage, piece: (nth: number) => string) => {
    const wordsOf = (first: number) => {
      let html = ""
      for (let nth = first; html.length < LANGUAGE_CHARS; nth++) html += piece(nth)
      return { subject: null, html, text: null, preheader: null }
    }
    const tags = Array.from({ length: LANGUAGES }, (_, nth) => [`de-${100 + nth}`, wordsOf(nth * 1_000)] as const)
    return { ...TemplateState.EMPTY, language, locales: Object.fromEntries(tags), variables: { type: "object" } }
  }
  const ofTags = (language: TemplateState.TemplateLanguage, html: string) => ({
    ...TemplateState.EMPTY,
    language,
    html,
    variables: { type: "object" },
  })
  const LONG_TEXT = "x".repeat(400)
  // threat: templates
  it.for([
    ["formats without an end", ofTags("handlebars", `{{formatDate a "${"[".repeat(4_000)}"}}`.repeat(64))],
    ["longest formats", ofTags("handlebars", `{{formatDate a "${"[".repeat(256)}"}}`.repeat(900))],
    ["many languages", inLanguages("handlebars", (nth) => `{{a${nth}}}{{#if b${nth}}}x{{/if}}${LONG_TEXT}`)],
    ["many loops", inLanguages("handlebars", (nth) => `{{#each a${nth}}}{{this.b}}{{/each}}${LONG_TEXT}`)],
    ["many sections", inLanguages("mustachio", (nth) => `{{a${nth}}}{{#b${nth}}}x{{/b${nth}}}${LONG_TEXT}`)],
    ["long paths", ofTags("liquid", `{{ a${" | append: a[b][b][b][b][b][b][b][b]".repeat(110)} }}`.repeat(60))],
    ["long conditions", ofTags("liquid", `{% if a${" or a".repeat(800)} %}{% endif %}`.repeat(60))],
  ] as const)("hold for checking a template of %s", ([, source]) => {
    let problems = 0
    for (const work of [Inspection.problemsOf, Suggestion.suggest, Warnings.ofSource]) {
      const before = processorMs()
      const found = problems > 0 ? [] : work(source)
      assert.isBelow(processorMs() - before, MAX_PROCESSOR_MS)
      problems = Array.isArray(found) ? found.length : problems
    }
  })

  it("translate a template once, whoever asks", () => {
    const source = inLanguages("handlebars", (nth) => `{{a${nth}}}${"{{b}}".repeat(50)}`)
    const first = processorMs()
    Translation.problemsOf(source)
    const once = processorMs() - first
    const before = processorMs()
    for (let nth = 0; nth < 20; nth++)
      for (const each of Inspection.byLanguage(source)) Translation.problemsOf(each.source)
    assert.isBelow(processorMs() - before, 5 * once + 20)
  })

  it.for([
    ["a long word", "a".repeat(256_000)],
    ["many names in few tags", `{% if a${" or b".repeat(790)} %}{% endif %}`.repeat(20)],
    ["a long path beside a variable", `{{ a }}a${".b".repeat(100_000)} | money`],
  ] as const)("hold for suggesting the variables of %s", ([, html]) => {
    const source = { ...TemplateState.EMPTY, html }
    const before = processorMs()
    assert.strictEqual(Suggestion.suggest(source).type, "object")
    assert.isBelow(processorMs() - before, MAX_PROCESSOR_MS)
  })

  it("tell where a path is too long", () => {
    const [problem] = Liquid.problemsOf("html", `<p>\n{{ a }} {{ a${".b".repeat(10)} }}`)
    assert.deepInclude(problem, { line: 2, message: `has a path of more than ${Limits.MAX_PATH_NAMES} names` })
  })

  it("refuse a template whose parts are too large together", () => {
    const source = largest(() => "{{ x }}")
    assert.deepStrictEqual(
      Inspection.problemsOf({ ...source, text: "{{ x }}" }).map(({ path }) => path),
      [""],
    )
  })

  it("hold for parts in another language, which many languages of a template use", () => {
    const wordsOf = (html: string) => ({ subject: null, html, text: null, preheader: null })
    const inMany = (html: string) =>
      Object.fromEntries(Array.from({ length: Template.MAX_LOCALES }, (_, nth) => [`de-${100 + nth}`, wordsOf(html)]))
    const library = new Map<string, TemplateState.TemplateSource>()
    for (let nth = 0; nth < Limits.MAX_PARTS; nth++) {
      const html = "{{#a}}b{{/a}}"
        .repeat(20)
        .padEnd(Limits.MAX_TOGETHER_CHARS / Template.MAX_LOCALES - 1_000, "<p>a</p> ")
      library.set(`part${nth}`, { ...TemplateState.EMPTY, language: "mustachio", html, locales: inMany(html) })
    }
    const html = [...library.keys()].map((name) => `{% render "${name}" %}`).join("")
    const locales = inMany(html)
    const before = processorMs()
    assert.deepStrictEqual(Inspection.unresolved({ ...TemplateState.EMPTY, html, locales }, library), [])
    assert.isBelow(processorMs() - before, MAX_PROCESSOR_MS)
  })

  it("hold for looking at rendered HTML of many image tags with one end", () => {
    const html = `${"<img ".repeat(Limits.MAX_OUTPUT_CHARS / 5 - 1)}>`
    const look = () => Warnings.ofRendered({ html, text: null })
    assert.isBelow(leastProcessorMs(MAX_PROCESSOR_MS, look), MAX_PROCESSOR_MS)
  })

  it("take a name in quotes after many spaces", () => {
    assert.deepStrictEqual(Liquid.problemsOf("html", '{% render   "footer" %}'), [])
    assert.lengthOf(Liquid.problemsOf("html", "{% render   footer %}"), 1)
  })

  it("refuse what is no language", () => {
    const tags = ["de", "pt-BR", "zh-Hant-TW", "de-DE-DE", "a", "de_DE"]
    assert.deepStrictEqual(tags.filter(Template.isLocale), ["de", "pt-BR", "zh-Hant-TW"])
  })

  it("bound the names that a schema looks for in variables", () => {
    const names = Array.from({ length: 498 }, (_, nth) => `n${nth}`)
    const item = {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { default: 1 }])),
    } as const
    const schema = { type: "object", properties: { list: { type: "array", items: item } } } as const
    const before = processorMs()
    const { problems } = VariableSchema.check(schema, { list: Array.from({ length: 45_000 }, () => ({})) })
    assert.deepStrictEqual(
      problems.map(({ path }) => path),
      [""],
    )
    assert.isBelow(processorMs() - before, 2 * MAX_PROCESSOR_MS)
    const twice = { type: "object", required: ["a", "a"] }
    assert.deepStrictEqual(
      VariableSchema.problemsOf(twice).map(({ path }) => path),
      ["required"],
    )
    assert.lengthOf(VariableSchema.problemsOf({ type: "object", required: [...names, "x", "y", "z"] }), 1)
  })

  it("hold for looking at rendered HTML of image tags without an end", () => {
    const html = "<img ".repeat(Limits.MAX_OUTPUT_CHARS / 5)
    const look = () => Warnings.ofRendered({ html, text: null })
    assert.isBelow(leastProcessorMs(MAX_PROCESSOR_MS, look), MAX_PROCESSOR_MS)
  })
})

describe("the deadline of a rendering", () => {
  it("is that of the processor's time, which stands still while other processes run", () => {
    const source = "{% for i in (1..3000) %}{{ i }}{% endfor %}"
    const program = Liquid.compile("text", source, {})
    assert.property(
      Liquid.render(
        program,
        {},
        WRITING,
        Deadline.within(0, () => 0),
      ),
      "text",
    )
    let ticks = 0
    assert.include(
      Liquid.render(
        program,
        {},
        WRITING,
        Deadline.within(0, () => ticks++),
      ),
      { isLate: true },
    )
  })
})
