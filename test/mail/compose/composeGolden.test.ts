import * as Compose from "@waybill/mail/compose/Compose"
import { Result } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"
import { golden } from "./composeMessage.ts"

const fixtures = new URL("../../fixtures/compose/", import.meta.url)

describe("composed bytes of earlier releases", () => {
  for (const [name, value] of Object.entries(golden)) {
    it(`are unchanged: ${name}.eml`, () => {
      const result = Compose.compose(value)
      if (Result.isFailure(result)) return assert.fail(result.failure.message)
      assert.strictEqual(
        Buffer.from(result.success.bytes).toString(),
        readFileSync(new URL(`${name}.eml`, fixtures)).toString(),
      )
    })
  }

  it("are compared for every stored file", () => {
    assert.deepStrictEqual(
      readdirSync(fixtures).sort(),
      Object.keys(golden)
        .map((name) => `${name}.eml`)
        .sort(),
    )
  })
})
