import { assert, describe, it } from "../../support/effectTest.ts"
import * as Layout from "../layout.ts"

describe("a name follows its file", () => {
  it("a test with the name of a package's file is in the folder of that file", () => {
    assert.deepStrictEqual(Layout.testsElsewhere(), [])
    const files = ["packages/a/src/b/Cde.ts", "test/a/b/cde.test.ts", "test/a/f/cde.test.ts", "test/a/f/other.test.ts"]
    assert.deepStrictEqual(Layout.testsElsewhere(files), ["test/a/f/cde.test.ts belongs in test/a/b"])
  })

  it("the key of a service is the path of its file, with its name if the file has another", () => {
    assert.deepStrictEqual(Layout.wrongKeys(), [])
    const text = 'export class B extends Context.Service<B, A<C>>()("@waybill/a/B") {}\n'
    const other = 'export const C: D = Context.Reference<\n  E\n>("@waybill/a/C", {})\n'
    assert.deepStrictEqual(Layout.wrongKeys([{ path: "packages/a/src/B.ts", text: text + other }]), [
      "packages/a/src/B.ts: C has the key @waybill/a/C",
    ])
  })
})
