import { assert, layer } from "../../support/effectTest.ts"
import { nextMillisecond } from "../../support/WallClock.ts"
import { fieldOf, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a record as of a moment", (it) => {
  it.effect("equals the present record after the last event, and does not exist before the message", function* () {
    const { call, world } = yield* signUp({ domains: ["acme.test"] })
    const message = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "Hello" }
    const { json } = yield* call("POST", "/v1/email/send", message)
    yield* nextMillisecond
    yield* call("POST", `/v1/email/${json.id}/cancel`)
    const get = (query = "") => call("GET", `/v1/email/logs/${json.id}${query}`)
    const today = yield* get()
    assert.deepStrictEqual([today.json.status, today.json.content.text], ["canceled", "Hello"])
    assert.deepStrictEqual((yield* get("?as_of=9000-01-01T00:00:00Z")).json, today.json)
    assert.deepStrictEqual(reasonOf(yield* get("?as_of=2000-01-01T00:00:00%2B01:00")), [404, "email_not_found"])
    const born = yield* get(`?as_of=${json.created_at}`)
    assert.deepStrictEqual([born.status, born.json.status, born.json.version], [200, "queued", 1])
    assert.deepStrictEqual(fieldOf(yield* get("?as_of=yesterday")), [400, "as_of"])
    const stranger = yield* world.key(yield* world.account())
    const theirs = yield* world.request("GET", `/v1/email/logs/${json.id}?as_of=9000-01-01T00:00:00Z`, {
      key: stranger.secret,
    })
    assert.strictEqual(theirs.status, 404)
  })
})
