import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import * as ApiTypes from "../../scripts/generate/ApiTypes.ts"
import { languageTypes } from "../../scripts/generate/languageTypes.ts"
import * as Languages from "./Languages.ts"
import * as Operations from "./Operations.ts"

const HINT = "Add a method to the clients, or the operation and a reason to test/clients/Operations.ts"

describe("the clients in other languages", () => {
  it.each(Languages.LANGUAGES)(
    "$name: each operation is in the OpenAPI document, and only what is left out is missing",
    (language) => {
      const offered = Languages.operationsIn(language)
      assert.deepStrictEqual(
        offered.filter((operation) => !Operations.documented.includes(operation)),
        [],
      )
      assert.sameMembers([...offered, ...Object.keys(Operations.LEFT_OUT)], [...Operations.documented], HINT)
    },
  )

  it("their types are current with the contract", () => {
    for (const [path, text] of Object.entries(languageTypes()))
      assert.strictEqual(
        readFileSync(ApiTypes.fileOf(path), "utf8"),
        text,
        `${path}: node bin/run.mjs scripts/client-types.ts`,
      )
  })
})
