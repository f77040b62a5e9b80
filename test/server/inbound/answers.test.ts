import * as Email from "@waybill/domain/email/Email"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const raw = (...headers: ReadonlyArray<string>) =>
  Buffer.from([...headers, "", "Hi", ""].join("\r\n")).toString("base64")

layer(HttpWorld.layer(), { excludeTestServices: true })("a received mail", (it) => {
  it.effect("is answered in its thread, as any email", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    const receive = (...headers: ReadonlyArray<string>) =>
      Effect.map(
        call("POST", "/v1/test/inbound", { from: "ana@example.org", to: "support@shop.test", raw: raw(...headers) }),
        ({ json }) => json,
      )
    const mail = yield* receive("From: Ana <ana@example.org>", "Subject: Order", "Message-ID: <a@example.org>")
    const answer = {
      from: "Support <support@shop.test>",
      text: "It is on its way.",
      headers: { "In-Reply-To": "<x@y>" },
    }
    const reply = (key: string) => call("POST", `/v1/inbound/${mail.id}/reply`, answer, { "idempotency-key": key })
    const { json: sent, status } = yield* reply("one")
    assert.deepStrictEqual([status, sent.status], [200, "queued"], JSON.stringify(sent))
    assert.strictEqual((yield* reply("one")).json.id, sent.id)
    const { json: email } = yield* call("GET", `/v1/email/logs/${sent.id}`)
    assert.deepInclude(email, { to: ["Ana <ana@example.org>"], subject: "Re: Order" })
    const state = yield* (yield* EventStore).state(Email, { account_id: account, stream_id: sent.id })
    assert.deepStrictEqual(state._tag === "Message" ? state.accepted.headers : {}, {
      "In-Reply-To": "<a@example.org>",
      References: "<a@example.org>",
    })
    assert.deepStrictEqual((yield* call("GET", `/v1/inbound/${mail.id}`)).json.replies, [sent.id])

    // The reply to the answer joins the same thread.
    const again = yield* receive(
      "From: ana@example.org",
      `In-Reply-To: <${sent.id}@shop.test>`,
      `References: <a@example.org> <${sent.id}@shop.test>`,
    )
    assert.deepStrictEqual([again.thread_id, again.email_id], [mail.thread_id, sent.id])
    const { json: thread } = yield* call("GET", `/v1/threads/${mail.thread_id}`)
    assert.deepStrictEqual(
      thread.data.map((entry: { readonly id: string }) => entry.id),
      [mail.id, sent.id, again.id],
    )
  })

  it.effect("is not answered without an address, by another domain, or by a key that may only read", function* () {
    const { call, keyWith, world } = yield* signUp({ domains: ["shop.test"] })
    const bounce = { from: "ana@example.org", to: "support@shop.test", raw: raw("From: nobody", "Reply-To: no one") }
    const { json: mail } = yield* call("POST", "/v1/test/inbound", bounce)
    const path = `/v1/inbound/${mail.id}/reply`
    const message = { from: "support@shop.test", text: "Hi" }
    assert.deepStrictEqual(reasonOf(yield* call("POST", path, { ...message, from: "x@elsewhere.test" })), [
      422,
      "domain_not_verified",
    ])
    const reader = yield* keyWith({ scopes: ["inbound:read"] })
    const refused = yield* world.request("POST", path, { key: reader, body: message })
    assert.deepStrictEqual(reasonOf(refused), [403, "missing_scope"])
    yield* call("DELETE", `/v1/inbound/${mail.id}`)
    assert.strictEqual((yield* call("POST", path, message)).status, 404)
  })

  it.effect("passes the routes of now when it is replayed", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const { json: mail } = yield* call("POST", "/v1/test/inbound", { from: "ana@example.org", to: "hi@shop.test" })
    const { json: route } = yield* call("POST", "/v1/inbound/routes", { action: { type: "drop" } })
    const replay = Effect.map(call("POST", `/v1/inbound/${mail.id}/replay`), ({ json, status }) => {
      assert.strictEqual(status, 202, JSON.stringify(json))
      return [json.status, json.routes.length]
    })
    assert.deepStrictEqual(yield* replay, ["dropped", 1])
    const shown = Effect.map(call("GET", `/v1/inbound/${mail.id}`), ({ json }) => [json.status, json.routes.length])
    assert.deepStrictEqual(yield* shown, ["dropped", 1])
    yield* call("DELETE", `/v1/inbound/routes/${route.id}`)
    assert.deepStrictEqual(yield* replay, ["received", 0])
    assert.deepStrictEqual(yield* shown, ["received", 0])
  })
})
