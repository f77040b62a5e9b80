import { readFileSync } from "node:fs"
import { assert, layer } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"

const CALL = /^curl -X POST \$WAYBILL_URL(\S+) [^']*-d '([^']*)'$/gmu
const CALLS = [...readFileSync("docs/templates.md", "utf8").replaceAll("\\\n", " ").matchAll(CALL)]

layer(HttpWorld.layer(), { excludeTestServices: true })("samples of templates in the documents", (it) => {
  it.effect("docs/templates.md: the calls are accepted in their order, and send what they say", function* () {
    const world = yield* HttpWorld
    const { secret: key } = yield* world.key(yield* world.account())
    yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
    assert.deepStrictEqual(
      CALLS.map(([, path]) => path),
      ["/v1/templates", "/v1/templates/receipt/publish", "/v1/email/send"],
    )
    let id = ""
    for (const [, path = "", body = ""] of CALLS) {
      const { json, status, text } = yield* world.request("POST", path, { key, body: JSON.parse(body) as unknown })
      assert.include([200, 201], status, `${path}: ${text}`)
      id = (json as { readonly id: string }).id
    }
    const { json } = yield* world.request("GET", `/v1/email/logs/${id}`, { key })
    assert.deepInclude(json, { subject: "Bestellung 7041" })
  })
})
