import { Api } from "@waybill/api/Api"
import { OpenApi } from "effect/http-api"
import { assert, describe, test } from "vitest"
import type { Json } from "./compatibility.ts"

const served = JSON.parse(JSON.stringify(OpenApi.fromApi(Api))) as Json

const { schemas } = served["components"] as { readonly schemas: Readonly<Record<string, Json>> }

/** Calls `see` for every object of a document. */
const visit = (node: unknown, see: (node: Json) => void): void => {
  if (typeof node !== "object" || node === null) return
  if (!Array.isArray(node)) see(node as Json)
  for (const value of Object.values(node)) visit(value, see)
}

describe("the contract as code generators read it", () => {
  test("it names a server", () => {
    assert.deepStrictEqual(
      (served["servers"] as ReadonlyArray<{ url: string }>).map(({ url }) => url),
      ["/"],
    )
  })

  test("every pattern means the same to validators with and without the `u` flag", () => {
    const patterns = new Set<string>()
    visit(served, ({ pattern }) => typeof pattern === "string" && patterns.add(pattern))
    assert.isAbove(patterns.size, 10)
    const texts = ["ä", "💌", "\\", "-", "]", "\ud800", "a", "\u00a0"].flatMap((text) => [
      `a${text}@b.org`,
      `${text}${text}@b.org`,
      `<${text}>`,
      text,
    ])
    for (const pattern of patterns) {
      const [unicode, plain] = [new RegExp(pattern, "u"), new RegExp(pattern)]
      for (const text of texts) assert.strictEqual(unicode.test(text), plain.test(text), `${pattern}: ${text}`)
    }
  })

  test("a list of fixed values is one enum with a name, not a union", () => {
    visit(served, ({ anyOf }) => {
      const values = ((anyOf ?? []) as ReadonlyArray<Json>).map((each) => {
        const name = String(each["$ref"]).split("/").at(-1) ?? ""
        return schemas[name] ?? each
      })
      assert.isAtMost(values.filter((each) => each["enum"] !== undefined).length, 1, JSON.stringify(anyOf))
    })
    const named: Array<string> = []
    visit(schemas["WebhookReplayRange"], ({ $ref }) => typeof $ref === "string" && named.push($ref))
    assert.include(named, "#/components/schemas/WebhookSubscription")
  })

  test("a single value is no enum, which some generators name after its field, such as `object` or `v`", () => {
    visit(served, ({ enum: values }) => Array.isArray(values) && assert.isAbove(values.length, 1, String(values)))
  })

  test("requests take no unknown fields, responses may gain some", () => {
    const reached = (node: unknown, names = new Set<string>()): ReadonlySet<string> => {
      visit(node, ({ $ref }) => {
        const name = typeof $ref === "string" ? ($ref.split("/").at(-1) ?? "") : ""
        if (name === "" || names.has(name)) return
        names.add(name)
        reached(schemas[name], names)
      })
      return names
    }
    const bodies: Array<unknown> = []
    const responses: Array<unknown> = []
    for (const methods of Object.values(served["paths"] as Record<string, Record<string, Json>>))
      for (const operation of Object.values(methods)) {
        bodies.push(operation["requestBody"])
        responses.push(operation["responses"])
      }
    const isClosed = (node: Json) => node["additionalProperties"] === false
    const isObject = (node: Json) => node["type"] === "object" && node["properties"] !== undefined
    let closed = 0
    visit([bodies, [...reached(bodies)].map((name) => schemas[name])], (node) => {
      if (isObject(node)) assert.isTrue(isClosed(node), JSON.stringify(node).slice(0, 200))
      if (isClosed(node)) closed++
    })
    assert.isAbove(closed, 10)
    visit([responses, [...reached(responses)].map((name) => schemas[name])], (node) =>
      assert.isFalse(isClosed(node), JSON.stringify(node).slice(0, 200)),
    )
  })
})
