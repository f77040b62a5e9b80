import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Erase from "@waybill/store/erasure/Erase"
import type * as Address from "@waybill/domain/values/Address"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { arrive } from "../../support/world/arrive.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const ANA = "ana@example.org" as Address.Address
const MAIL = { from: `Ana <${ANA}>`, to: "hi@shop.test", subject: `From ${ANA}`, text: "Hi" }

layer(HttpWorld.layer(), { excludeTestServices: true })("an erasure", (it) => {
  it.effect("masks received mail that names the address, and removes its content", function* () {
    const { call } = yield* signUp({ domains: ["shop.test"] })
    const made = (mail: object) => Effect.map(call("POST", "/v1/test/inbound", mail), ({ json }) => json.id as string)
    const named = yield* made(MAIL)
    // The address stands in the body alone, in base64.
    const raw = Buffer.from(
      [
        "From: bo@example.org",
        "Content-Transfer-Encoding: base64",
        "",
        Buffer.from(`Ask ${ANA}, please.`).toString("base64"),
        "",
      ].join("\r\n"),
    ).toString("base64")
    const mentioned = yield* made({ from: "bo@example.org", to: "hi@shop.test", raw })
    // The address stands where one piece of a large mail ends and the next one begins.
    const heading = "From: bo@example.org\r\n\r\n"
    const filler = "x".repeat(InboundContent.PIECE_BYTES - heading.length - 9)
    const large = yield* made({
      from: "bo@example.org",
      to: "hi@shop.test",
      raw: Buffer.from(`${heading}${filler} Ask ${ANA}, please.\r\n`).toString("base64"),
    })
    const other = yield* made({ ...MAIL, from: "bo@example.org", subject: "Mine" })
    const replacement = Mask.replacement(new Uint8Array(8))
    const { remaining } = yield* Erase.erase(ANA, replacement)
    assert.deepStrictEqual(remaining, [])
    const { json: masked } = yield* call("GET", `/v1/inbound/${named}`)
    assert.deepInclude(masked, {
      from: { address: replacement, name: null },
      subject: `From ${replacement}`,
      text: null,
    })
    assert.notInclude(JSON.stringify(masked), ANA)
    assert.strictEqual((yield* call("GET", `/v1/inbound/${named}/raw`)).status, 404)
    assert.strictEqual((yield* call("GET", `/v1/inbound/${mentioned}/raw`)).status, 404)
    assert.strictEqual((yield* call("GET", `/v1/inbound/${large}/raw`)).status, 404)
    assert.strictEqual((yield* call("GET", `/v1/inbound/${other}`)).json.text.trim(), "Hi")
  })

  it.effect(
    "leaves received mail whose forward is in progress, reports it, and removes it once it is final",
    function* () {
      const { account, call } = yield* signUp({ domains: ["kept.test"] })
      yield* call("POST", "/v1/inbound/routes", { action: { type: "forward", to: ["cy@example.com"] } })
      const to = "hi@kept.test"
      const from = yield* arrive(account, { ...MAIL, to, Subject: "Order" })
      const mentioned = yield* arrive(account, { from: "bo@example.org", to, text: `Ask ${ANA}, please.` })
      const ids = [from, mentioned]
      const erased = Effect.map(Erase.erase(ANA, Mask.replacement(new Uint8Array(8))), ({ remaining }) =>
        remaining.flatMap(({ stream, stream_id }) => (stream === "inbound" ? [stream_id] : [])),
      )
      assert.sameMembers(yield* erased, ids)
      for (const id of ids) {
        const { json } = yield* call("GET", `/v1/inbound/${id}`)
        assert.isNotNull(json.text, id)
        yield* call("POST", `/v1/email/${json.routes[0].email_id}/cancel`)
      }
      assert.deepStrictEqual(yield* erased, [])
      assert.notInclude((yield* call("GET", `/v1/inbound/${from}`)).text, ANA)
      for (const id of ids) assert.strictEqual((yield* call("GET", `/v1/inbound/${id}/raw`)).status, 404, id)
    },
  )
})
