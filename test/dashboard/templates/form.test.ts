import { assert, describe, it } from "vitest"
import * as Form from "../../../apps/dashboard/src/templates/content/Form.ts"

const written = '{"properties":{"name":{"type":"string","examples":["Ana","Bo"]}},"required":["name"]}'
/** As the service returns it, which does not keep the order of names. */
const stored = '{"required":["name"],"properties":{"name":{"examples":["Ana","Bo"],"type":"string"}}}'

describe("the texts of a template", () => {
  it("do not differ by spaces and the order of names in the schema of the variables", () => {
    const before = { html: "<p>One</p>", variables: JSON.stringify(JSON.parse(stored), null, 2) }
    assert.deepStrictEqual(Form.changes(before, { html: "<p>Two</p>", variables: written }), ["html"])
    assert.strictEqual(Form.normalized("variables", stored), Form.normalized("variables", written))
    assert.strictEqual(Form.normalized("html", stored), stored)
  })

  it("differ by the order of a list, and by a text that is no JSON", () => {
    for (const other of [written.replace('"Ana","Bo"', '"Bo","Ana"'), "{"])
      assert.deepStrictEqual(Form.changes({ variables: stored }, { variables: other }), ["variables"])
  })

  it("are in no conflict with the same in another order", () => {
    const mine = written.replace("Ana", "Cy")
    const { conflicts, form } = Form.merge({ variables: written }, { variables: mine }, { variables: stored })
    assert.deepStrictEqual([conflicts, form["variables"]], [[], mine])
  })
})
