import { assert, describe, it } from "vitest"
import { Waybill, WaybillError } from "../../packages/client/src/Waybill.ts"
import { KEY, serverWith } from "./support.ts"

const EMAIL = { from: "hi@acme.test", to: "ana@example.org", subject: "Hi", text: "Hello" } as const
const ACK = { id: "msg_01kakz5xq8e4vb2m0r7c3d9h1t", status: "queued" as const, created_at: "2026-11-21T09:00:00.000Z" }
const ERROR = {
  code: "unprocessable",
  message: "The domain is not verified.",
  reason: "domain_not_verified",
  request_id: "req_1",
  details: [{ path: "from", message: "its domain is not verified" }],
}

describe("safe", () => {
  it("returns the answer as data", async () => {
    await using server = await serverWith([{ status: 200, body: ACK }])
    const waybill = new Waybill(KEY, server)
    assert.deepStrictEqual(await waybill.safe.emails.send(EMAIL, { idempotencyKey: "k" }), { data: ACK, error: null })
    assert.strictEqual(server.seen[0]?.headers["idempotency-key"], "k")
    assert.strictEqual(waybill.safe, waybill.safe)
  })

  it("returns a refusal as error, with its reason and request id", async () => {
    await using server = await serverWith([{ status: 422, body: { error: ERROR } }])
    const { data, error } = await new Waybill(KEY, server).safe.emails.send(EMAIL)
    assert.isNull(data)
    assert.instanceOf(error, WaybillError)
    assert.deepStrictEqual(
      [error.status, error.code, error.reason, error.requestId, error.message, error.details],
      [422, "unprocessable", "domain_not_verified", "req_1", ERROR.message, ERROR.details],
    )
  })

  it("returns what is found before the request, and an aborted call", async () => {
    await using server = await serverWith([{ status: 200, body: ACK, after_ms: 60_000 }])
    const { safe } = new Waybill(KEY, server)
    const invalid = await safe.emails.send({ ...EMAIL, scheduled_at: new Date(Number.NaN) })
    assert.deepStrictEqual([invalid.data, invalid.error?.code], [null, "invalid_request"])
    const signal = AbortSignal.abort(new Error("the user left"))
    const aborted = await safe.emails.send(EMAIL, { signal })
    assert.deepStrictEqual([aborted.error?.code, aborted.error?.message], ["unexpected", "the user left"])
    assert.strictEqual(aborted.error?.cause, signal.reason)
  })

  it("has every method that returns a promise", () => {
    const waybill = new Waybill(KEY)
    const { safe } = waybill
    const missing = Object.entries(waybill).flatMap(([name, group]) =>
      Object.keys(group as object).filter((method) => !(method in (Reflect.get(safe, name) as object))),
    )
    assert.deepStrictEqual(missing, [])
  })
})

describe("an answer that is not of the API", () => {
  it.each([
    ["an error of a proxy", 502, { error: "Bad gateway" }],
    ["null", 403, null],
    ["no JSON", 404, undefined],
  ])("is an error with its status: %s", async (_, status, body) => {
    await using server = await serverWith([{ status, ...(body === undefined ? { text: "<html>" } : { body }) }])
    const { error } = await new Waybill(KEY, { ...server, retries: 0 }).safe.account.get()
    assert.deepStrictEqual(
      [error?.code, error?.status, error?.message],
      ["bad_answer", status, `The service answered with HTTP ${status}.`],
    )
  })

  it("is an error that is not retried if a success is no JSON", async () => {
    await using server = await serverWith([{ status: 200, text: "<html>" }])
    const { error } = await new Waybill(KEY, server).safe.account.get()
    assert.deepStrictEqual([error?.code, error?.status, server.seen.length], ["bad_answer", 200, 1])
  })
})
