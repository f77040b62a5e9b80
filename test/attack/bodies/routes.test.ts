import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Routes from "./Routes.ts"
import { SHAPES } from "./shapes.ts"

const SERVER = "apps/server/src"

/** Routes of files other than the handlers of the API: each is in `Routes.ts`, because only reads have no body. */
const ADDED: Readonly<Record<string, number>> = {
  "http/dashboard/OperatorRoutes.ts": 5,
  "http/dashboard/SavedViewRoutes.ts": 2,
  "http/pages/UnsubscribePage.ts": 1,
  "providers/HookRoutes.ts": 2,
  "signIn/AuthRoutes.ts": 1,
}

/** A process of its own, whose one route is sent a large request by `server/witness/command.test.ts`. */
const WITNESS = "witness/WitnessServer.ts"

/** Counts the routes for other methods than GET that a source adds to the router. */
const routesIn = (file: string): number =>
  [...fs.readFileSync(path.join(SERVER, file), "utf8").matchAll(/(?:router|HttpRouter)\.add\(\s*"(?!GET")/gu)].length

const sizes = { chars: 1_000 }

describe("the largest requests", () => {
  const routes = Routes.all()

  // threat: bombs
  it("are sent to every route that the service adds to its router", () => {
    const files = fs.readdirSync(SERVER, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const added = files
      .map((file) => [file, routesIn(file)] as const)
      .filter(([file, count]) => count > 0 && file !== WITNESS)
    assert.deepStrictEqual(
      Object.fromEntries(added.toSorted()),
      ADDED,
      "name the route in test/attack/bodies/Routes.ts",
    )
  })

  it("are sent to every endpoint of the contract and every route of a door", () => {
    for (const { prefix, routes: own = [] } of Routes.doors) {
      const found = routes.filter((route) => route.path.startsWith(`${prefix}/`))
      assert.lengthOf(found, own.length, prefix)
    }
    const { paths } = JSON.parse(fs.readFileSync("test/contract/openapi.json", "utf8")) as {
      readonly paths: Readonly<Record<string, object>>
    }
    const operations = Object.values(paths).flatMap((each) => Object.keys(each))
    assert.lengthOf(
      routes.filter(({ source }) => source === "contract"),
      operations.length,
    )
  })

  it("have every shape for each route with a body, and differ by route", () => {
    for (const route of routes.filter(({ body }) => body !== undefined))
      for (const shape of SHAPES) {
        const request = shape.requestTo(route, sizes)
        assert.isDefined(request, `${shape.name} of ${route.method} ${route.path}`)
        if (Object.keys(route.body?.schema.properties ?? {}).length > 0) assert.notInclude(["{}", "null"], request?.raw)
      }
  })
})
