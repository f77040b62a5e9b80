import { readFileSync } from "node:fs"
import { canonicalJson, parseJson } from "../../packages/verify/src/JsonValue.ts"
import { assert, describe, it } from "../support/effectTest.ts"

/** Vectors of github.com/cyberphone/json-canonicalization, to which RFC 8785 refers. */
const VECTORS = JSON.parse(
  readFileSync(new URL("../fixtures/verify/canonicalJson.json", import.meta.url), "utf8"),
) as Readonly<Record<string, { readonly input: string; readonly output: string }>>

/** Appendix B of RFC 8785. */
const NUMBERS: ReadonlyArray<readonly [ieee: string, json: string]> = [
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
]

describe("canonical JSON", () => {
  it("is that of the vectors of RFC 8785", () => {
    for (const [name, { input, output }] of Object.entries(VECTORS))
      assert.strictEqual(canonicalJson(JSON.parse(input)), output.trimEnd(), name)
    for (const [ieee, json] of NUMBERS)
      assert.strictEqual(canonicalJson(Buffer.from(ieee, "hex").readDoubleBE()), json, ieee)
  })

  it("has no form for what JSON does not have", () => {
    for (const value of [NaN, Infinity, -Infinity, undefined, 1n, Symbol("a"), () => 1, "\ud800", { "\udc00": 1 }])
      assert.throws(() => canonicalJson(value))
    assert.throws(() => canonicalJson(JSON.parse(`${"[".repeat(66)}${"]".repeat(66)}`)), "nested deeper")
  })

  it("is read only from objects whose names are all different", () => {
    for (const text of ['{"a":1,"a":2}', '[{"b":{"c":0,"d":1,"c":0}}]', String.raw`{"a":1,"\u0061":2}`, '{"":1,"":1}'])
      assert.throws(() => parseJson(text), "appears twice", text)
    for (const text of ['{"a":{"a":{"a":"a"}},"b":["a","a"]}', '[{"a":1},{"a":1}]', String.raw`{"\"a":1,"a":"\\"}`])
      assert.deepStrictEqual(parseJson(text), JSON.parse(text))
    // A long text takes no stack.
    assert.throws(() => parseJson(`{"a":"${"x".repeat(10_000_000)}","a":1}`), "appears twice")
    for (const text of ["", "{", "{'a':1}", "[1,]", "{}{}"]) assert.throws(() => parseJson(text))
  })
})
