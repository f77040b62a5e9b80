import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import * as ApiTypes from "../../scripts/generate/ApiTypes.ts"
import * as ClientTypes from "../../scripts/generate/clientTypes.ts"
import { languageTypes } from "../../scripts/generate/languageTypes.ts"
import * as Languages from "./Languages.ts"
import * as Operations from "./Operations.ts"

const HINT = "Add a method to the clients, or the operation and a reason to test/clients/Operations.ts"

/** Lists that take what another list takes. */
const SAME: Readonly<Record<string, string>> = {
  "/v1/domains/{domain}/tls": "/v1/domains/{domain}/dmarc",
  "/v1/events/stream": "/v1/events",
}

/** Returns the declarations in a source, of any language, that name a type. */
const declarationsOf = (source: string, name: string): string =>
  source
    .split(/\n(?: \*)?\n/u)
    .filter((part) => new RegExp(name.replace("Query", "_?Query"), "iu").test(part))
    .join("\n")

const declares = (declarations: string, name: string): boolean =>
  new RegExp(`^[ *]*(?:readonly )?\\??${name}\\??: |json:"${name},|\\{"${name}": `, "mu").test(declarations)

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
      assert.strictEqual(readFileSync(ApiTypes.fileOf(path), "utf8"), text, `${path}: npm run generate clients`)
  })

  it("the query of a list takes each parameter of the contract, in each client that reads the list", () => {
    const paths = Object.entries(Operations.queries)
    assert.isAbove(paths.length, 10)
    const names = new Map(
      Object.entries({ ...ApiTypes.QUERIES, ...ClientTypes.OWN_QUERIES }).map(([name, path]) => [path, name]),
    )
    const own = { "client/src/types.ts": ClientTypes.render() }
    for (const [path, parameters] of paths) {
      const name = names.get(SAME[path] ?? path) ?? assert.fail(`${path} has no query in scripts/generate`)
      const sources = `GET ${path}` in Operations.LEFT_OUT ? own : { ...own, ...languageTypes() }
      for (const [file, source] of Object.entries(sources))
        assert.deepStrictEqual(
          parameters.filter((parameter) => !declares(declarationsOf(source, name), parameter)),
          [],
          `${name} in ${file}`,
        )
    }
  })
})
