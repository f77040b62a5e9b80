import { assert, describe, it } from "vitest"
import * as Completions from "../../../apps/dashboard/src/templates/editor/code/Completions.ts"
import * as Engine from "../../../packages/templates/src/language/Engine.ts"

const SCHEMA: Completions.VariableNode = {
  properties: {
    name: { type: "string", description: "First name" },
    order: {
      type: "object",
      properties: {
        number: { type: "string" },
        items: { type: "array", items: { type: "object", properties: { name: {}, price: { type: "number" } } } },
      },
    },
  },
}

/** Returns what is offered at the bar in a text, and what of it is typed already. */
const offered = (text: string, schema = SCHEMA): readonly [typed: string, labels: ReadonlyArray<string>] => {
  const at = text.indexOf("^")
  const found = Completions.complete(schema, text.slice(0, at), false)
  return found === null ? ["", []] : [text.slice(found.from, at), found.options.map(({ label }) => label)]
}

describe("what the editor of templates offers", () => {
  it.each([
    ["the variables of an output", "<p>{{ ^</p>", "", ["name", "order"]],
    ["a variable that is typed", "<p>{{na^</p>", "na", ["name", "order"]],
    ["the fields of an object", "{{ order.nu^ }}", "nu", ["number", "items"]],
    ["the fields of an item of a list", "{{ order.items[0].^", "", ["name", "price"]],
    ["the fields of the variable of a loop", "{% for item in order.items %}<p>{{ item.^</p>", "", ["name", "price"]],
    ["what is assigned before", "{% assign total = 1 %}{{ t^", "t", ["name", "order", "total"]],
    ["the variable of a loop", "{% for item in order.items %}{{ i^", "i", ["name", "order", "item"]],
    ["what a loop says", "{{ forloop.ind^", "ind", ["first", "index", "index0", "last", "length", "rindex", "rindex0"]],
    [
      "the words of a condition",
      "{% if na^ %}",
      "na",
      ["name", "order", "and", "contains", "empty", "forloop", "in", "or"],
    ],
  ])("%s", (_, text, typed, labels) => {
    assert.deepStrictEqual(offered(text), [typed, labels])
  })

  it.each(["<p>na^</p>", "{{ name }} na^", '{{ "na^" }}', "{{ name ^", "{{ unknown.^", "{% ^", "{{ name.^"])(
    "nothing in %s",
    (text) => assert.deepStrictEqual(offered(text), ["", []]),
  )

  it("the tags and filters that templates have, and no others", () => {
    const [, tags] = offered("{% f^")
    const [, filters] = offered("{{ name | u^")
    const isInner = (tag: string) => tag.startsWith("end") || ["else", "elsif", "when"].includes(tag)
    assert.sameMembers(
      tags.filter((tag) => !isInner(tag)),
      Engine.TAG_NAMES.filter((tag) => tag !== "#"),
    )
    assert.sameMembers([...filters], Engine.FILTER_NAMES)
  })

  it("what a template uses if it has no schema, and the content of a layout", () => {
    const used = { properties: { greeting: {} } }
    assert.deepStrictEqual(offered("{{ ^", Completions.variablesOf(undefined, used, false))[1], ["greeting"])
    assert.deepStrictEqual(offered("{{ ^", Completions.variablesOf(undefined, used, true))[1], ["content", "greeting"])
    assert.deepStrictEqual(offered("{{ ^", Completions.variablesOf(SCHEMA as {}, used, false))[1], ["name", "order"])
  })
})
