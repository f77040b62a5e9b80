import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const NAME = "shop.example"
const HOST = "mx.waybill.example"
const zones = {
  [NAME]: { MX: [{ preference: 10, exchange: "aspmx.l.google.com" }] },
  "in.shop.example": { MX: [{ preference: 10, exchange: HOST }] },
}

layer(HttpWorld.layer({ transport: "relay", zones }), { excludeTestServices: true })("a domain that receives", (it) => {
  const receivingRecord = (records: ReadonlyArray<{ readonly purpose: string }>) =>
    records.find(({ purpose }) => purpose === "receiving") ?? {}

  it.effect("has an MX record to publish, which names other servers in its way", function* () {
    const { call } = yield* signUp({ domains: [NAME] })
    assert.deepStrictEqual({}, receivingRecord((yield* call("GET", `/v1/domains/${NAME}`)).json.records))
    const { json: changed } = yield* call("PATCH", `/v1/domains/${NAME}`, { receiving: true })
    assert.strictEqual(changed.receiving, true)
    assert.deepInclude(receivingRecord(changed.records), {
      purpose: "receiving",
      type: "MX",
      name: NAME,
      value: HOST,
      priority: 10,
      required: false,
      status: "not_checked",
    })
    const { json: checked } = yield* call("POST", `/v1/domains/${NAME}/verify`)
    const record = receivingRecord(checked.records) as { readonly status: string; readonly error: string } | undefined
    assert.strictEqual(record?.status, "conflict")
    assert.include(record?.error, "aspmx.l.google.com")
    // Turned off, the record is gone; the same again changes nothing.
    assert.deepStrictEqual(
      {},
      receivingRecord((yield* call("PATCH", `/v1/domains/${NAME}`, { receiving: false })).json.records),
    )
    assert.strictEqual((yield* call("PATCH", `/v1/domains/${NAME}`, { receiving: false })).status, 200)
  })

  it.effect("is verified for receiving at a subdomain beside another service", function* () {
    const { call } = yield* signUp({ domains: ["in.shop.example"] })
    yield* call("PATCH", "/v1/domains/in.shop.example", { receiving: true })
    const { json } = yield* call("POST", "/v1/domains/in.shop.example/verify")
    assert.deepInclude(receivingRecord(json.records), { status: "verified", found: [HOST], error: null })
  })
})
