import * as Email from "@waybill/domain/email/Email"
import * as Livemode from "@waybill/domain/account/Livemode"
import type * as Id from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import { arrive } from "../../../support/world/arrive.ts"
import { HttpWorld, reasonOf, signUp } from "../../../support/world/HttpWorld.ts"
import * as ReplyAddresses from "../../../../apps/server/src/links/ReplyAddresses.ts"

const DOMAIN = "in.waybill.example"

layer(HttpWorld.layer(), { excludeTestServices: true })("an email whose answers are tracked", (it) => {
  const addressOf = (account: string, id: string) =>
    Effect.map(ReplyAddresses.addressesAt(DOMAIN), (of) => of(account, id as Id.EmailId))

  it.effect("is found by the address that the answer came to, whatever its header says", function* () {
    const { account, call, send } = yield* signUp({ domains: ["acme.test"] })
    const sent = yield* send({ reply_tracking: true, reply_to: "desk@acme.test" })
    const other = yield* send({ reply_tracking: false })
    const shown = (yield* call("GET", `/v1/email/logs/${sent}`)).json
    assert.deepInclude(shown, { reply_to: ["desk@acme.test"], reply_tracking: { forward: false } })
    assert.strictEqual((yield* call("GET", `/v1/email/logs/${other}`)).json.reply_tracking, null)

    const to = yield* addressOf(account, sent)
    assert.match(to, /^r-[0-9a-z]{26}-[0-9a-z]{16}@[0-9a-z]{26}\.in\.waybill\.example$/u)
    const receive = (mail: object) =>
      Effect.map(call("POST", "/v1/test/inbound", { from: "ana@example.org", text: "Hi", ...mail }), ({ json }) => json)
    const lost = yield* receive({ to: to.toUpperCase() })
    assert.deepInclude(lost, { email_id: sent, thread_id: sent.replace("msg_", "thr_"), forwards: [] })
    // The header names a nearer mail.
    assert.strictEqual((yield* receive({ to, in_reply_to: `<${other}@acme.test>` })).email_id, other)
    assert.strictEqual((yield* receive({ to, in_reply_to: "<x@example.org>" })).email_id, sent)

    // Forged, of another email, of another account, at another address.
    const [local = "", domain = ""] = to.split("@")
    const forged = local.replace(/.$/u, (last) => (last === "0" ? "1" : "0"))
    const foreign = yield* signUp({ domains: ["other.test"] })
    const moved = local.replace(sent.slice("msg_".length), other.slice("msg_".length))
    for (const address of [`${forged}@${domain}`, `${moved}@${domain}`, `${local}@acme.test`])
      assert.strictEqual((yield* receive({ to: address })).email_id, null, address)
    const theirs = `${local}@${foreign.account.slice("acc_".length)}.${DOMAIN}`
    const { json } = yield* foreign.call("POST", "/v1/test/inbound", { from: "a@b.test", to: theirs, text: "x" })
    assert.strictEqual(json.email_id, null)
  })

  it.effect("has its answers sent on to reply_to, or else to from, if that was asked", function* () {
    const { account, call, send } = yield* signUp({ domains: ["acme.test"] })
    let nth = 0
    const answer = Effect.fnUntraced(function* (sent: string, headers = {}) {
      const mail = { from: "ana@example.org", to: yield* addressOf(account, sent), text: `Hi ${nth++}`, ...headers }
      return (yield* call("GET", `/v1/inbound/${yield* arrive(account, mail)}`)).json
    })
    const tracked = yield* send({ reply_tracking: { forward: true }, reply_to: ["desk@acme.com", "bo@acme.com"] })
    const mail = yield* answer(tracked)
    assert.lengthOf(mail.forwards, 1, JSON.stringify(mail))
    const [{ email_id }] = mail.forwards
    const forward = (yield* call("GET", `/v1/email/logs/${email_id}`)).json
    assert.deepInclude(forward, {
      to: ["desk@acme.com", "bo@acme.com"],
      from: "ana@example.org",
      domain: "acme.test",
      forward_of: mail.id,
    })
    const plain = yield* send({ from: "Acme <hi@acme.test>", reply_tracking: { forward: true } })
    const second = (yield* answer(plain)).forwards
    assert.deepInclude((yield* call("GET", `/v1/email/logs/${second[0].email_id}`)).json, { to: ["hi@acme.test"] })
    assert.deepStrictEqual((yield* answer(yield* send({ reply_tracking: true }))).forwards, [])
    // An auto-reply of the address that answers go to would come back for ever.
    const circle = yield* send({ reply_tracking: { forward: true }, reply_to: "desk@example.org" })
    const automatic = yield* answer(circle, { "Auto-Submitted": "auto-replied" })
    assert.deepStrictEqual(automatic.forwards, [{ result: "failed", email_id: null, reason: "automatic" }])
    // A copy of the email is tracked as well.
    const state = yield* (yield* EventStore).state(Email, { account_id: account, stream_id: tracked })
    if (state._tag !== "Message") throw new Error("not there")
    assert.deepStrictEqual(Email.resendCommand(state).reply_tracking, { forward: true })
    // A route that drops or refuses the answer has the last word.
    yield* call("POST", "/v1/inbound/routes", { action: { type: "drop" } })
    assert.deepInclude(yield* answer(tracked), { status: "dropped", forwards: [], email_id: tracked })
  })

  it.effect("is tracked in test mode too", function* () {
    const { account, keyWith, world } = yield* signUp({ domains: ["acme.test"] })
    const key = yield* keyWith({ scopes: ["admin"], mode: "test" })
    const post = (path: string, body: object) => world.request("POST", path, { key, body })
    const email = { from: "hi@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" }
    const { json: sent } = yield* post("/v1/email/send", { ...email, reply_tracking: { forward: true } })
    const to = yield* addressOf(Livemode.testAccountOf(account), sent.id)
    const { json: mail } = yield* post("/v1/test/inbound", { from: "ana@example.org", to, text: "Hi" })
    assert.deepInclude(mail, { email_id: sent.id, livemode: false }, JSON.stringify(mail))
    const { json } = yield* world.request("GET", `/v1/email/logs/${mail.forwards[0].email_id}`, { key })
    assert.deepInclude(json, { livemode: false, to: ["hi@acme.test"] })
  })

  it.effect("has no Reply-To of its own beside", function* () {
    const { call } = yield* signUp({ domains: ["acme.test"] })
    const refused = yield* call("POST", "/v1/email/send", {
      from: "hi@acme.test",
      to: "ana@example.org",
      subject: "Hi",
      reply_tracking: {},
      headers: { "Reply-To": "desk@acme.test" },
    })
    assert.deepStrictEqual(reasonOf(refused), [400, "validation_failed"])
    assert.include(refused.json.error.message, "reply_tracking")
  })
})
