import * as Deadline from "@waybill/templates/language/Deadline"
import * as Engine from "@waybill/templates/language/Engine"
import * as Limits from "@waybill/templates/language/Limits"
import * as Liquid from "@waybill/templates/language/Liquid"
import { assert, describe, it } from "../support/effectTest.ts"
import { dice } from "../support/dice.ts"
import { leastProcessorMs, processorMs } from "../support/processorMs.ts"
import * as Library from "liquidjs"

const WRITING = { locale: "en", time_zone: "UTC" }
/** So that the count alone bounds a rendering. */
const ENDLESS = { isOver: () => false }
const MAX_PROCESSOR_MS = 250

const CHARS = 250_000
const many = <A>(length: number, make: (nth: number) => A) => Array.from({ length }, (_, nth) => make(nth))

/** The largest values that a message can bring, each hard in another way. */
const VALUES: Readonly<Record<string, unknown>> = {
  near: "a".repeat((CHARS * 2) / 3),
  signs: "<&'\"%é ".repeat(CHARS / 7),
  open: "<script<!--<style<".repeat(CHARS / 18),
  spaces: " \n".repeat(CHARS / 2),
  digits: "9".repeat(CHARS),
  hex: "%E2%82%AC".repeat(CHARS / 9),
  cjk: "語".repeat(CHARS),
  numbers: many(90_000, (nth) => nth),
  texts: many(40_000, (nth) => `t${nth % 7}`),
  lists: many(80_000, () => []),
  nested: many(300, () => many(300, () => 1)),
  objects: many(20_000, (nth) => ({ a: nth, b: [] })),
  keys: Object.fromEntries(many(40_000, (nth) => [`k${nth}`, nth])),
  /** Objects that share what they hold, once the list is joined to itself. */
  heavy: [{ a: many(40_000, () => 1), b: "b".repeat(100_000) }],
  huge: 1e308,
  tiny: -5e-324,
  safe: 2 ** 53,
  nothing: null,
}
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  end: `${"a".repeat(CHARS / 3)}b`,
  middle: `${"a".repeat(40_000)}b${"a".repeat(40_000)}`,
  long: "a b".repeat(CHARS / 3),
  letter: "a",
  empty_text: "",
  days: "%A%B".repeat(60),
  format: "%E0%A4".repeat(40_000),
  list: many(90_000, (nth) => nth),
  many_lists: many(80_000, () => []),
  path: "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a",
  range: "(1..9999)",
  zone: "Europe/Berlin",
  one: 1,
  most: 1e308,
  none: -1e9,
}

const FORMS: ReadonlyArray<(filter: string, argument: string) => string> = [
  (filter, argument) => `| ${filter}: ${argument} `,
  (filter, argument) => `| ${filter}: ${argument}, ${argument} `,
  (filter, argument) => `| ${filter}: "a", ${argument} `,
  (filter) => `| ${filter}: "a", empty `,
  (filter) => `| ${filter} `,
]

const VARIABLES = { ...VALUES, ...ARGUMENTS }
const messageOf = (source: string, variables: object = VARIABLES): string => {
  const rendered = Liquid.render(Liquid.compile("text", source, {}), variables, WRITING, ENDLESS)
  return "text" in rendered ? "" : rendered.problem.message
}

const MADE = `makes more than ${Limits.MAX_MADE} characters and items`
/** As often as one piece may have it. */
const inOnePiece = (value: string, step: string): string =>
  `{{ ${value} ${step.repeat(Math.floor((Limits.MAX_PIECE_CHARS - 100) / step.length))} | size }}`
/** Filters that read no more of a list or a text than its length. */
const READ_NOTHING: ReadonlyArray<string> = ["default", "first", "last", "size"]
const TRIES = 2

describe("filters of the largest values", () => {
  const { pick } = dice(41)
  for (const filter of Engine.FILTER_NAMES)
    // threat: templates
    it(`take no longer in one piece than a stall may: ${filter}`, { timeout: 300_000 }, () => {
      const slow: Array<string> = []
      for (const value of Object.keys(VALUES))
        for (let nth = 0; nth < TRIES; nth++) {
          const source = inOnePiece(value, pick(FORMS)(filter, pick(Object.keys(ARGUMENTS))))
          const ms = leastProcessorMs(MAX_PROCESSOR_MS, () => messageOf(source))
          if (ms > MAX_PROCESSOR_MS) slow.push(`${Math.round(ms)} ms: ${source.slice(0, 120)}`)
        }
      assert.deepStrictEqual(slow, [])
    })

  // threat: templates
  for (const filter of Engine.FILTER_NAMES.filter((name) => !READ_NOTHING.includes(name) && name !== "raw"))
    it(`are counted: ${filter}`, () => {
      const argument = filter === "date" || filter === "money" ? '"EUR", many_lists' : "many_lists"
      assert.strictEqual(messageOf(inOnePiece("lists", `| ${filter}: ${argument} `)), MADE)
    })

  // threat: templates
  it.for([
    ["the last place of a text", "{{ near | remove_last: end | size }}"],
    ["the last place of a text, to replace it", '{{ near | replace_last: end, "x" | size }}'],
    ["a text with a hard middle", "{{ near | remove: middle | size }}"],
    ["a text with a hard middle, once", "{{ near | remove_first: middle | size }}"],
    ["a text with a hard middle, to replace it", '{{ near | replace: middle, "x" | size }}'],
    ["a text with a hard middle, to replace it once", '{{ near | replace_first: middle, "x" | size }}'],
    ["a text with a hard middle, to split at it", "{{ near | split: middle | size }}"],
    ["a text with a hard middle, in a condition", "{% if near contains middle %}{% endif %}"],
    ["the first of many numbers", '{{ numbers | find: "x" }}'],
    ["one of many numbers", '{{ numbers | has: "x" }}'],
    ["the others of many numbers", '{{ numbers | reject: "x", 1 | size }}'],
    ["lists that stand in order", `{% if ${Array(400).fill("list > list").join(" or ")} %}{% endif %}`],
    ["the size of an object", `{% if ${Array(280).fill("keys.size == 1").join(" or ")} %}{% endif %}`],
    ["an object that may be empty", `{% if ${Array(280).fill("keys == empty").join(" or ")} %}{% endif %}`],
    ["a list beside each of many", '{{ heavy | concat: heavy | map: "a" | where: "x", list | size }}'.repeat(40)],
    ["one object many times", `{% assign h = heavy %}${"{% assign h = h | concat: h %}".repeat(14)}{{ h }}`],
    ["one list many times", `{% assign h = heavy %}${"{% assign h = h | concat: h %}".repeat(14)}{{ h | sum: "a" }}`],
    ["long names in a path", `{% if ${Array(400).fill("keys[long]").join(" or ")} %}{% endif %}`.repeat(2)],
    ["a long range", "{% for i in (1..1000000) %}{% endfor %}{% for i in (1..1000000) %}{% endfor %}"],
  ] as const)("are counted: %s", ([, source]) => {
    const spent = leastProcessorMs(MAX_PROCESSOR_MS, () => assert.strictEqual(messageOf(source), MADE))
    assert.isBelow(spent, MAX_PROCESSOR_MS)
  })

  // threat: templates
  it("take no list as a name", () => {
    const source = `{% if ${Array(400).fill("keys[list]").join(" or ")} or [list] %}{% endif %}`
    const before = processorMs()
    assert.strictEqual(messageOf(source), "")
    assert.isBelow(processorMs() - before, MAX_PROCESSOR_MS)
  })

  // threat: templates
  it.for([
    ["{% for i in (safe..safe) %}{% endfor %}"],
    ["{{ (9007199254740993..9007199254740994) | size }}"],
    ['{% assign n = "9007199254740993" %}{% for i in (n..n) %}{% endfor %}'],
    ['{% cycle (safe..safe), "a" %}'],
    ['{{ "a" | append: (safe..safe) }}'],
  ] as const)("end a range of numbers that are the same as the next ones: %s", ([source]) => {
    assert.strictEqual(messageOf(source), "has a range of numbers that cannot be counted")
  })

  it("end in the middle of a piece when the time is over", () => {
    let ticks = 0
    const source = inOnePiece("texts", "| uniq | concat: texts | reverse ")
    const program = Liquid.compile("text", source, {})
    const rendered = Liquid.render(
      program,
      VARIABLES,
      WRITING,
      Deadline.within(0, () => ticks++),
    )
    assert.include(rendered, { isLate: true })
  })
})

describe("dates", () => {
  it("are written as the library does", () => {
    const FORMATS = [
      "%A|%a|%B|%b|%h|%%A",
      "%^A|%#a|%10A|%-10b|%010B|%_5h|%5h|%EA|%Ob|%é|%",
      "%c|%x|%X",
      "%Y-%m-%d %H:%M %Z %z",
    ]
    const library = new Library.Liquid({ locale: "en-US", timezoneOffset: 0 })
    for (const at of ["0", "'2026-02-28T23:30:00Z'", "'no date'", "'3 04'"])
      for (const format of [
        ...FORMATS.map((each) => `: '${each}'`),
        ...FORMATS.map((each) => `: '${each}', -60`),
        "",
      ]) {
        const source = `{{ ${at} | date${format} }}`
        const rendered = Liquid.render(Liquid.compile("text", source, {}), {}, WRITING, ENDLESS)
        assert.deepInclude(rendered, { text: library.parseAndRenderSync(source) as string }, source)
      }
  })

  // threat: templates
  it("are cheap, and bounded by their formats", () => {
    const before = processorMs()
    assert.strictEqual(messageOf("{{ 0 | date: days | size }}".repeat(100)), "")
    assert.isBelow(processorMs() - before, MAX_PROCESSOR_MS)
    assert.strictEqual(messageOf(`{{ 0 | date: days }}`.repeat(2_000)), MADE)
    const long = `date takes a format of at most ${Limits.MAX_DATE_FORMAT_CHARS} characters`
    assert.strictEqual(messageOf("{{ 0 | date: format }}"), long)
    assert.strictEqual(messageOf(`{{ 0 | date: "${"%A".repeat(2_000)}" | size }}`), long)
  })

  it("bound the formatters that one rendering makes", () => {
    const before = processorMs()
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    const codes = letters.flatMap((one) => letters.map((other) => `| money: "Q${one}${other}" `))
    assert.strictEqual(messageOf(codes.map((code) => `{{ 1 ${code} }}`).join("")), MADE)
    assert.isBelow(processorMs() - before, 2 * MAX_PROCESSOR_MS)
  })
})
