import * as Engine from "@waybill/templates/language/Engine"
import * as Liquid from "@waybill/templates/language/Liquid"
import { assert, describe, it } from "../../support/effectTest.ts"

const WRITING = { locale: "de", time_zone: "Europe/Berlin" }
/** Formatters of a language take long to make on a busy machine. */
const ENDLESS = { isOver: () => false }
const VARIABLES = {
  a: "<b>&\"'",
  n: 1234.5,
  none: null,
  list: ["x", "<y>", 3],
  rows: [
    { name: "One", price: 1, tags: ["p", "q"] },
    { name: "Two", price: 2.25, tags: [] },
  ],
  deep: { er: { est: "end", size: "own" } },
  at: "2026-01-31T12:00:00Z",
}

/** Outputs of each form: with and without filters, paths, indexes, literals, and inside of each tag. */
const SOURCES: ReadonlyArray<string> = [
  "{{ a }} {{ a | raw }} {{ none }} {{ missing }} {{ missing.x.y }} {{ n }}",
  "{{ list }} {{ list[1] }} {{ list.first }} {{ list.last }} {{ list.size }} {{ list[-1] }} {{ list['size'] }}",
  "{{ deep }} {{ deep.er.est }} {{ deep['er'].est }} {{ deep.er.size }} {{ deep[a] }} {{ rows[0].tags[1] }}",
  "{{ 'text' }} {{ 12 }} {{ true }} {{ nil }} {{ (1..3) }} {{ a == 'x' }}",
  "{{ a | upcase | append: '!' | prepend: a }} {{ n | plus: 1 | times: 2 }} {{ none | default: 'd' }}",
  "{{ n | money: 'EUR' }} {{ at | local_date: 'long' }} {{ 2 | plural: one: '# a', other: '# b' }}",
  "{{ rows | map: 'name' | join: ', ' }} {{ rows | where: 'price', 1 | map: 'name' }} {{ list | reverse | json }}",
  "{{ rows | sort: 'price' | last | json }} {{ list | size }} {{ a | size }} {{ a | escape }} {{ a | truncate: 3 }}",
  "{% for row in rows %}{{ forloop.index }}/{{ forloop.length }} {{ row.name }} {{ row.price | number: 2 }};{% endfor %}",
  "{% for i in (1..9) %}{% if i == 3 %}{% continue %}{% endif %}{% if i == 6 %}{% break %}{% endif %}{{ i }}{% endfor %}",
  "{% for x in none %}{{ x }}{% else %}none {{ a }}{% endfor %}",
  "{% if a %}{{ a }}{% elsif n %}{{ n }}{% else %}-{% endif %}{% unless none %}{{ n }}{% endunless %}",
  "{% case n %}{% when 1234.5 %}{{ n }}{% else %}{{ a }}{% endcase %}{% cycle 'a', 'b' %}{% increment k %}{{ k }}",
  "{% assign z = a | downcase %}{{ z }}{% capture c %}<i>{{ a }}</i>{% endcapture %}{{ c }}{{ c | upcase }}",
  "{% raw %}{{ a }}{% endraw %}{% comment %}{{ a }}{% endcomment %} {{- a -}} {%- if a -%} x {%- endif -%}",
  '<a href="{{ a }}" title="{{ a }}" style="color: {{ a }}">{{ a }}</a><textarea>{{ a }}</textarea>',
  '{% render "part", a: n %}{% render "part" for rows as row %}',
  "{{ constructor }} {{ a.constructor }} {{ list.constructor.name }} {{ deep.__proto__ }} {{ __proto__.x }}",
  "{{ n | divided_by: 0 }} {{ at | date: '%Y' }} {{ a | split: '' | first }} {{ n | money: 'nothing' }}",
]
const PARTS = { part: "[{{ a }}{{ row.name }}]" }

/** The library's own rendering of a source. */
const byLibrary = (form: Liquid.Form, source: string) => {
  const engine = Engine.make(form, PARTS)
  // A counter of a template counts among its variables.
  return textOf(
    Liquid.render({ engine, templates: engine.parse(source) }, structuredClone(VARIABLES), WRITING, ENDLESS),
  )
}

/** Returns what was written, or why not. Variables without a value are noted beside the library's own rendering. */
const textOf = (rendered: Liquid.Rendered) => ("text" in rendered ? rendered.text : rendered)

describe("outputs that are written at once", () => {
  for (const source of SOURCES)
    it(`are those of the library: ${source}`, () => {
      const text = Liquid.render(Liquid.compile("text", source, PARTS), structuredClone(VARIABLES), WRITING, ENDLESS)
      assert.deepStrictEqual(textOf(text), byLibrary("text", source))
      // In HTML what stands in attributes has a filter of its own, so only the others are compared.
      if (source.includes("<a ")) return
      const html = Liquid.render(Liquid.compile("html", source, PARTS), structuredClone(VARIABLES), WRITING, ENDLESS)
      assert.deepStrictEqual(textOf(html), byLibrary("html", source))
    })
})
