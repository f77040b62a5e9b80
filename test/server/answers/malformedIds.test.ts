import { Api } from "@waybill/api/Api"
import { OpenApi } from "effect/http-api"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const PARAMETER = /\{(\w+)\}/gu

/** An object of a path that is not named by an id alone, and a form that it cannot have. */
const OTHERS: Readonly<Record<string, string>> = { domain: "nodots", email: "no-at", template: "nobody!" }

const operations = Object.entries(OpenApi.fromApi(Api).paths)
  .filter(([path]) => path.startsWith("/v1/") && path.includes("{"))
  .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const))

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("a malformed id", (it) => {
  it.effect("is refused by every endpoint with an id, which says what an id looks like", function* () {
    const world = yield* HttpWorld
    const account = yield* world.account()
    const { secret: live } = yield* world.key(account)
    const { secret: test } = yield* world.key(account, { mode: "test" })
    assert.isAbove(operations.length, 30)
    for (const [method, path] of operations) {
      const [name = ""] = [...path.matchAll(PARAMETER)].map(([, each]) => each ?? "")
      const filled = path.replaceAll(PARAMETER, (_, each: string) => OTHERS[each] ?? "msg_123")
      const key = path.startsWith("/v1/test/") ? test : live
      const { json, status } = yield* world.request(method, filled, { key })
      const { code, details, message, reason } = json.error
      assert.deepStrictEqual([status, code, reason], [404, "not_found", "malformed_id"], `${method} ${filled}`)
      assert.strictEqual(details[0].path, name, filled)
      assert.strictEqual(message, `In the path, \`${name}\` ${details[0].message}.`)
      const form =
        name === "domain"
          ? /^must be the name of a domain, such as mail\.example\.org, or its id: dom_ followed by 26 characters$/u
          : name === "email"
            ? /^is not an address: it has no @$/u
            : name === "template"
              ? /^must be the id or alias of a template, not its name: /u
              : /^must be an id: [a-z]{3}_ followed by 26 characters$/u
      assert.match(details[0].message, form, filled)
    }
  })

  it.effect("of two is named, and a key in its place is not repeated", function* () {
    const world = yield* HttpWorld
    const account = yield* world.account()
    const { secret: key } = yield* world.key(account)
    const webhook = `whk_${"0".repeat(26)}`
    const { json } = yield* world.request("GET", `/v1/webhooks/${webhook}/deliveries/${key}`, { key })
    assert.deepStrictEqual(json.error.details, [
      { path: "delivery_id", message: "must be an id: whd_ followed by 26 characters" },
    ])
    assert.notInclude(json.error.message, key)
  })
})
