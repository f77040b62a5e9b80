import type * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import { Effect, Layer } from "effect"
import { urlInTestCell } from "../../../support/cells/testCell.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../../support/world/HttpWorld.ts"
import { MAX_PER_MINUTE } from "../../../../apps/server/src/inbound/Forwarding.ts"

const EVE = "eve@example.net" as Address.Address
const MAIL = { from: "Ana <ana@example.org>", to: "hi@shop.test", subject: "Order", text: "Hi" }
const TO_BO = { action: { type: "forward", to: ["bo@example.com"] } }

const replay = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(urlInTestCell(url))))

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true })("a forward", (it) => {
  it.effect("keeps its mail until it is delivered, and is rebuilt from the log", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    const sql = yield* Sql
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const { json: mail } = yield* call("POST", "/v1/test/inbound", MAIL)
    const [{ email_id, result }] = mail.routes
    assert.strictEqual(result, "pending")
    const large = { ...MAIL, text: "x".repeat(3 * InboundContent.PIECE_BYTES) }
    const { json: second } = yield* call("POST", "/v1/test/inbound", large)
    const kept = (id: string) => InboundContent.isKept(account, id)
    yield* sql`UPDATE inbound_content SET expires_at = now() - interval '1 day' WHERE account_id = ${account}`
    assert.strictEqual(yield* InboundContent.expire(), 0)
    assert.isTrue((yield* kept(mail.id)) && (yield* kept(second.id)))
    for (const name of ["inbound", "email_log"] as const) {
      const found = yield* Effect.provide(Rebuild.verify(name, { release: "test" }), replay)
      assert.strictEqual(found.differing_rows, 0, name)
    }
    yield* call("POST", `/v1/email/${email_id}/cancel`)
    yield* call("POST", `/v1/email/${second.routes[0].email_id}/cancel`)
    assert.strictEqual((yield* call("GET", `/v1/inbound/${mail.id}`)).json.routes[0].result, "canceled")
    assert.isAbove(yield* InboundContent.expire(), 3)
    const late = yield* call("POST", `/v1/inbound/${mail.id}/forward`, { to: "bo@example.com" })
    assert.deepStrictEqual(reasonOf(late), [404, "content_expired"])
  })

  it.effect("is applied again by a replay, once for an idempotency key", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const { json: mail } = yield* call("POST", "/v1/test/inbound", MAIL)
    assert.deepStrictEqual(mail.routes, [])
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const replay = Effect.map(
      call("POST", `/v1/inbound/${mail.id}/replay`, undefined, { "idempotency-key": "one" }),
      ({ json }) => json.routes[0].email_id,
    )
    const first = yield* replay
    assert.match(first, /^msg_/u)
    assert.strictEqual(yield* replay, first)
    assert.strictEqual((yield* call("GET", `/v1/inbound/${mail.id}`)).json.routes[0].email_id, first)
    const forward = { to: ["bo@example.com", "bo@example.com", "cy@example.com"] }
    const manual = () =>
      Effect.map(
        call("POST", `/v1/inbound/${mail.id}/forward`, forward, { "idempotency-key": "two" }),
        ({ json }) => json.id,
      )
    const second = yield* manual()
    assert.strictEqual(yield* manual(), second)
    const { json } = yield* call("GET", `/v1/email/logs/${second}`)
    assert.deepStrictEqual(json.to, ["bo@example.com", "cy@example.com"])
    // A copy of it would have no content.
    yield* call("POST", `/v1/email/${second}/cancel`)
    assert.deepStrictEqual(reasonOf(yield* call("POST", `/v1/email/${second}/resend`)), [422, "content_expired"])
  })

  it.effect("is masked with its mail by an erasure", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const { json: mail } = yield* call("POST", "/v1/test/inbound", { ...MAIL, from: EVE, subject: `From ${EVE}` })
    yield* call("POST", `/v1/email/${mail.routes[0].email_id}/cancel`)
    const replacement = Mask.replacement(new Uint8Array(8))
    const { remaining } = yield* Erase.erase(EVE, replacement)
    assert.deepStrictEqual(remaining, [])
    const { json } = yield* call("GET", `/v1/email/logs/${mail.routes[0].email_id}`)
    assert.deepInclude(json, { from: replacement, subject: `From ${replacement}` })
    assert.notInclude(JSON.stringify(json), EVE)
  })

  it.effect("waits when routes of the account forward too much in a minute", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    yield* RateWindows.takeOfMinute(`${account as Id.AccountId}/forward`, MAX_PER_MINUTE - 1, MAX_PER_MINUTE)
    assert.strictEqual((yield* call("POST", "/v1/test/inbound", MAIL)).status, 201)
    assert.deepStrictEqual(reasonOf(yield* call("POST", "/v1/test/inbound", MAIL)), [429, "forward_rate"])
  })

  it.effect("is recorded as refused beyond the volume of the plan", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"], plan: "free" })
    const sql = yield* Sql
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    yield* sql`
      INSERT INTO monthly_usage (account_id, month, accepted)
      VALUES (${account}, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), 3000)`
    const { json, status } = yield* call("POST", "/v1/test/inbound", MAIL)
    assert.strictEqual(status, 201)
    assert.deepInclude(json.routes[0], { result: "failed", email_id: null, reason: "monthly_quota" })
  })
})
