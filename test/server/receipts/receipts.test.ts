import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog, problemOf } from "../../support/world/logTree.ts"

const PRIVATE = { to: "ana@example.org", cc: "Bo <bo@example.org>", subject: "Your ticket 7041" }

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("GET /email/{id}/receipt", (it) => {
  const setUp = Effect.map(signUp({ domains: ["acme.test"] }), (customer) => ({
    ...customer,
    receipt: (id: string, query = "") => customer.call("GET", `/v1/email/${id}/receipt${query}`),
    /** Sends an email that is canceled, so that its history is final. */
    sendFinal: (change: object = {}) =>
      Effect.gen(function* () {
        const id = yield* customer.send({ ...PRIVATE, scheduled_at: "2030-01-01T00:00:00Z", ...change })
        return id
      }),
  }))

  it.effect("proves each event, and shows its fields", function* () {
    const { call, receipt, send } = yield* setUp
    const id = yield* send({ ...PRIVATE, scheduled_at: new Date(Date.now() + 3_600_000).toISOString() })
    yield* call("POST", `/v1/email/${id}/cancel`)
    yield* buildLog
    const { json, status } = yield* receipt(id)
    assert.strictEqual(status, 200, JSON.stringify(json))
    assert.isUndefined(problemOf(json))
    assert.deepStrictEqual(
      json.events.map(({ entry }: { readonly entry: { readonly version: number; readonly type: string } }) => [
        entry.version,
        entry.type,
      ]),
      [
        [1, "email.queued"],
        [2, "email.canceled"],
      ],
    )
    assert.strictEqual(json.events[0].fields.email_id.value, id)
    assert.strictEqual(json.events[0].fields.subject.value, PRIVATE.subject)
    assert.deepStrictEqual([json.object, json.email.id, json.origin], ["receipt", id, "waybill.example/log"])
    assert.deepStrictEqual(reasonOf(yield* receipt("msg_01kakz5xq8e4vb2m0r7c3d9h1t")), [404, "email_not_found"])
  })
})
