import { assert, describe, it } from "@effect/vitest"
import * as Compose from "@waybill/mail/compose/Compose"
import { Result } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { golden } from "./composeMessage.ts"

const fixtures = new URL("../../fixtures/compose/", import.meta.url)

describe("the bytes of a message that may be under way when a release is installed", () => {
  for (const [name, value] of Object.entries(golden)) {
    it(`are still those of ${name}.eml`, () => {
      const result = Compose.compose(value)
      if (Result.isFailure(result)) return assert.fail(result.failure.message)
      assert.strictEqual(
        Buffer.from(result.success.bytes).toString(),
        readFileSync(new URL(`${name}.eml`, fixtures)).toString(),
      )
    })
  }

  it("are all compared", () => {
    assert.deepStrictEqual(
      readdirSync(fixtures).sort(),
      Object.keys(golden)
        .map((name) => `${name}.eml`)
        .sort(),
    )
  })
})
