import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("an internal failure", (it) => {
  const setUp = signUp()

  for (const [where, table] of [
    ["behind a handler", "accounts"],
    ["at the gate", "api_keys"],
  ] as const)
    it.effect(`${where} is a 500 with an id, all headers, and no word about its cause`, function* () {
      const { call, world } = yield* setUp
      yield* world.sql`ALTER TABLE ${world.sql(table)} RENAME TO elsewhere`
      const answer = yield* call("GET", "/v1/account")
      yield* world.sql`ALTER TABLE elsewhere RENAME TO ${world.sql(table)}`
      assert.strictEqual(answer.status, 500)
      assert.deepStrictEqual(answer.json, {
        error: {
          code: "internal_error",
          message: "Internal error. The cause is logged under this request's id.",
          reason: "internal_error",
          docs: "/docs/errors/internal_error",
          request_id: answer.headers.get("x-request-id"),
          details: [],
        },
      })
      for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
        assert.isNotNull(answer.headers.get(name))
      assert.strictEqual((yield* call("GET", "/v1/account")).status, 200)
    })

  it.effect("does not stop the redirect of a tracked link", function* () {
    const { account, world } = yield* setUp
    const [key = new Uint8Array()] = yield* TrackedLinks.trackingKeys
    const mail = { account_id: account, email_id: id("EmailId") }
    const url = "https://shop.test/order?id=7"
    yield* world.sql`ALTER TABLE events RENAME TO elsewhere`
    const clicked = yield* world.request("GET", TrackingToken.CLICK_PATH + TrackingToken.ofClick(key, { ...mail, url }))
    const opened = yield* world.request("GET", TrackingToken.OPEN_PATH + TrackingToken.ofOpen(key, mail))
    yield* world.sql`ALTER TABLE elsewhere RENAME TO events`
    assert.deepStrictEqual([clicked.status, clicked.headers.get("location"), opened.status], [302, url, 200])
  })

  it.effect("is a 500 where a row does not fit the contract", function* () {
    const { account, call, world } = yield* setUp
    yield* world.sql`UPDATE accounts SET record = record - 'name' WHERE account_id = ${account}`
    assert.strictEqual((yield* call("GET", "/v1/account")).status, 500)
  })
})
