import * as Forward from "@waybill/domain/inbound/Forward"
import type * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import { Effect, Exit, Layer, Tracer } from "effect"
import { replayUrls } from "../../../support/cells/testCell.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { arrive } from "../../../support/world/arrive.ts"
import { HttpWorld, reasonOf, signUp } from "../../../support/world/HttpWorld.ts"
import { MAX_PERCENT_PER_DAY } from "../../../../apps/server/src/inbound/ForwardVolume.ts"
import { MAX_PER_MINUTE } from "../../../../apps/server/src/inbound/Forwarding.ts"

const EVE = "eve@example.net" as Address.Address
const MAIL = { from: "Ana <ana@example.org>", to: "hi@shop.test", subject: "Order", text: "Hi" }
const TO_BO = { action: { type: "forward", to: ["bo@example.com"] } }

const replay = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url))))

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true })("a forward", (it) => {
  it.effect("keeps its mail until it is delivered, and is rebuilt from the log", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    const sql = yield* Sql
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const { json: mail } = yield* call("GET", `/v1/inbound/${yield* arrive(account, MAIL)}`)
    const [{ email_id, result }] = mail.routes
    assert.strictEqual(result, "pending")
    const large = { ...MAIL, text: "x".repeat(3 * InboundContent.PIECE_BYTES) }
    const { json: second } = yield* call("GET", `/v1/inbound/${yield* arrive(account, large)}`)
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
    const again = yield* call("POST", `/v1/inbound/${mail.id}/replay`)
    assert.deepInclude(again.json.routes[0], { result: "failed", email_id: null, reason: "content_expired" })
    assert.lengthOf((yield* call("GET", "/v1/email/logs")).json.data, 2)
  })

  it.effect("keeps its mail if it is accepted while others expire", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    const sql = yield* Sql
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const { json: mail } = yield* call("GET", `/v1/inbound/${yield* arrive(account, MAIL)}`)
    yield* sql`
      UPDATE inbound_content SET expires_at = now() - interval '1 day' WHERE account_id = ${account} AND id = ${mail.id}`
    // The delivery is there only when the first batch is gone.
    yield* sql`
      INSERT INTO inbound_content (account_id, id, size_bytes, bytes, expires_at)
      SELECT ${account}, 'inb_' || nth, 1, ''::bytea, now() - interval '2 days'
      FROM generate_series(1, ${InboundContent.EXPIRY_BATCH}::int) AS nth`
    yield* sql`CREATE TABLE held AS SELECT * FROM outbox WHERE account_id = ${account}`
    yield* sql`DELETE FROM outbox WHERE account_id = ${account}`
    yield* sql`
      CREATE FUNCTION accept_held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO outbox SELECT * FROM held ON CONFLICT DO NOTHING; RETURN NULL; END $$`
    yield* sql`
      CREATE TRIGGER accept_held AFTER DELETE ON inbound_content FOR EACH STATEMENT EXECUTE FUNCTION accept_held()`
    assert.strictEqual(yield* InboundContent.expire(), InboundContent.EXPIRY_BATCH)
    assert.isTrue(yield* InboundContent.isKept(account, mail.id))
    yield* sql`DROP TRIGGER accept_held ON inbound_content`
  })

  it.effect("is applied again by a replay, once for an idempotency key", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    const { json: mail } = yield* call("GET", `/v1/inbound/${yield* arrive(account, MAIL)}`)
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
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const id = yield* arrive(account, { ...MAIL, from: EVE, subject: `From ${EVE}` })
    const { json: mail } = yield* call("GET", `/v1/inbound/${id}`)
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
    yield* arrive(account, MAIL)
    const { reason } = yield* Effect.flip(arrive(account, { ...MAIL, text: "Again" })).pipe(
      Effect.filterOrFail((error) => error._tag === "TooManyInboundForwards"),
    )
    assert.strictEqual(reason, "forward_rate")
  })

  it.effect("asks little however many routes there are, and nothing beyond its minute", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    const to = Array.from({ length: Forward.MAX_TARGETS }, (_, nth) => `t${nth}@example.com`)
    for (let nth = 0; nth < 10; nth++)
      yield* call("POST", "/v1/inbound/routes", {
        action: { type: "forward", to: to.map((address) => (nth % 2 === 0 ? address : `${nth}${address}`)) },
      })
    const asked = Effect.fnUntraced(function* () {
      const names: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          if (["InboundAddresses.find", "Forwarding.senderOf"].includes(options.name)) names.push(options.name)
          return new Tracer.NativeSpan(options)
        },
      })
      const exit = yield* Effect.exit(Effect.withTracer(arrive(account, MAIL), tracer))
      return { isReceived: Exit.isSuccess(exit), names }
    })
    assert.deepStrictEqual(yield* asked(), {
      isReceived: true,
      names: ["InboundAddresses.find", "Forwarding.senderOf"],
    })
    yield* RateWindows.takeOfMinute(`${account as Id.AccountId}/forward`, MAX_PER_MINUTE, MAX_PER_MINUTE)
    assert.deepStrictEqual(yield* asked(), { isReceived: false, names: [] })
  })

  it.effect("is not made of mail that a key has made up, except in test mode", function* () {
    const { call, keyWith, world } = yield* signUp({ domains: ["shop.test"] })
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const forged = { ...MAIL, from: "ceo@bank.example" }
    const { json: live } = yield* call("POST", "/v1/test/inbound", forged)
    assert.deepInclude(live.routes[0], { result: "failed", email_id: null, reason: "made_up" })
    const { json: again } = yield* call("POST", `/v1/inbound/${live.id}/replay`)
    assert.deepInclude(again.routes[0], { result: "failed", email_id: null, reason: "made_up" })
    const asked = yield* call("POST", `/v1/inbound/${live.id}/forward`, { to: "bo@example.com" })
    assert.deepStrictEqual(reasonOf(asked), [422, "made_up"])

    const key = yield* keyWith({ scopes: ["admin"], mode: "test" })
    const post = (path: string, body: object) => world.request("POST", path, { key, body })
    yield* post("/v1/inbound/routes", TO_BO)
    const { json: test } = yield* post("/v1/test/inbound", forged)
    assert.deepInclude(test.routes[0], { result: "pending", reason: null })
    assert.strictEqual((yield* post(`/v1/inbound/${test.id}/forward`, { to: "bo@example.com" })).status, 200)
  })

  it.effect("is not made beyond a share of the volume in a day, except on demand", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"], plan: "free" })
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    const share = (3_000 * MAX_PERCENT_PER_DAY) / 100
    yield* RateWindows.takeOfDay(`${account as Id.AccountId}/forwards`, share - 1, share)
    const found = Effect.fnUntraced(function* (text: string) {
      const id = yield* arrive(account, { ...MAIL, text })
      return (yield* call("GET", `/v1/inbound/${id}`)).json
    })
    assert.deepInclude((yield* found("last")).routes[0], { result: "pending", reason: null })
    const beyond = yield* found("beyond")
    assert.deepInclude(beyond.routes[0], { result: "failed", email_id: null, reason: "forward_volume" })
    const again = yield* call("POST", `/v1/inbound/${beyond.id}/replay`)
    assert.deepInclude(again.json.routes[0], { result: "pending", reason: null })
  })

  it.effect("is recorded as refused beyond the volume of the plan", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"], plan: "free" })
    const sql = yield* Sql
    yield* call("POST", "/v1/inbound/routes", TO_BO)
    yield* sql`
      INSERT INTO monthly_usage (account_id, month, accepted)
      VALUES (${account}, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), 3000)`
    const { json } = yield* call("GET", `/v1/inbound/${yield* arrive(account, MAIL)}`)
    assert.deepInclude(json.routes[0], { result: "failed", email_id: null, reason: "monthly_quota" })
  })
})
