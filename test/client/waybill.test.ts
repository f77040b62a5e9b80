import { assert, describe, it } from "vitest"
import { Waybill, WaybillError } from "../../packages/client/src/Waybill.ts"
import { answering, KEY } from "./support.ts"

const ACK = { id: "msg_01kakz5xq8e4vb2m0r7c3d9h1t", status: "queued", created_at: "2026-11-21T09:00:00.000Z" }
const EMAIL = { from: "hi@acme.test", to: "ana@example.org", subject: "Hi", text: "Hello" } as const
const refusal = (status: number, reason: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { "x-request-id": "req_1", ...headers },
  body: { error: { code: "unprocessable", message: "no", reason, request_id: "req_1", details: [] } },
})
const caught = (promise: Promise<unknown>): Promise<WaybillError> =>
  promise.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => (error instanceof WaybillError ? error : assert.fail(String(error))),
  )

describe("the client", () => {
  it("refuses a mistyped key before it costs a request", () => {
    const mistyped = `${KEY.slice(0, -1)}${KEY.endsWith("0") ? "1" : "0"}`
    for (const key of ["", "wb_short", mistyped]) assert.throws(() => new Waybill(key), WaybillError)
  })

  it("sends with the key and a fresh idempotency key", async () => {
    await using server = await answering([{ status: 200, body: ACK }])
    const waybill = new Waybill(KEY, server)
    assert.deepStrictEqual(await waybill.emails.send(EMAIL), ACK)
    await waybill.emails.send(EMAIL)
    const [first, second] = server.seen
    assert.strictEqual(first?.url, "/v1/email/send")
    assert.strictEqual(first?.headers.authorization, `Bearer ${KEY}`)
    assert.deepStrictEqual(JSON.parse(first?.body ?? ""), EMAIL)
    assert.notStrictEqual(first?.headers["idempotency-key"], second?.headers["idempotency-key"])
  })

  it("asks again under the same idempotency key after a 500, a lost connection and a 429", async () => {
    await using server = await answering([
      refusal(500, "internal_error"),
      "drop",
      refusal(429, "request_rate", { "retry-after": "0" }),
      { status: 200, body: ACK },
    ])
    assert.deepStrictEqual(await new Waybill(KEY, server).emails.send(EMAIL), ACK)
    assert.strictEqual(server.seen.length, 4)
    assert.strictEqual(new Set(server.seen.map((each) => each.headers["idempotency-key"])).size, 1)
  })

  it("does not ask again for a refusal, nor for a used-up month", async () => {
    await using server = await answering([
      refusal(422, "domain_not_verified"),
      refusal(429, "monthly_quota", { "retry-after": "86400" }),
    ])
    const waybill = new Waybill(KEY, server)
    const refused = await caught(waybill.emails.send(EMAIL))
    assert.deepStrictEqual([refused.status, refused.reason, refused.requestId], [422, "domain_not_verified", "req_1"])
    assert.strictEqual((await caught(waybill.emails.send(EMAIL))).retryAfter, 86_400)
    assert.strictEqual(server.seen.length, 2)
  })

  it("gives up after its retries, with the last answer", async () => {
    await using server = await answering([refusal(500, "internal_error", { "retry-after": "0" })])
    const error = await caught(new Waybill(KEY, { ...server, retries: 2 }).logs.get("msg_1"))
    assert.deepStrictEqual([error.status, server.seen.length], [500, 3])
  })

  it("says in words when there is no service", async () => {
    const error = await caught(new Waybill(KEY, { baseUrl: "http://127.0.0.1:9", retries: 0 }).account.get())
    assert.deepStrictEqual([error.code, error.status], ["connection_failed", 0])
  })

  it("walks all pages of the logs, reading none before it is asked for", async () => {
    const page = (ids: ReadonlyArray<string>, next: string | null) => ({
      status: 200,
      body: { object: "list", has_more: next !== null, next_cursor: next, data: ids.map((id) => ({ id })) },
    })
    await using server = await answering([page(["c", "b"], "b"), page(["a"], null)])
    const ids: Array<string> = []
    const logs = new Waybill(KEY, server).logs.all({ status: ["bounced", "failed"], tag: ["x", "y"] })
    assert.strictEqual(server.seen.length, 0)
    for await (const email of logs) ids.push(email.id)
    assert.deepStrictEqual(ids, ["c", "b", "a"])
    assert.deepStrictEqual(
      server.seen.map((each) => each.url),
      [
        "/v1/email/logs?limit=100&status=bounced%2Cfailed&tag=x&tag=y",
        "/v1/email/logs?limit=100&after=b&status=bounced%2Cfailed&tag=x&tag=y",
      ],
    )
  })

  it("reads from where its writes lie, the farthest of them, however their answers overtake each other", async () => {
    const at = (position: string) => ({ status: 200, headers: { "x-waybill-position": position }, body: ACK })
    const list = { status: 200, body: { object: "list", has_more: false, next_cursor: null, data: [] } }
    await using server = await answering([
      list,
      at("0/FFFFFFFF"),
      list,
      at("0/9000000"),
      list,
      at("1/0"),
      { ...refusal(422, "domain_not_verified"), headers: { "x-waybill-position": "1/A0" } },
      list,
    ])
    const waybill = new Waybill(KEY, server)
    await waybill.logs.list()
    await waybill.emails.send(EMAIL)
    await waybill.logs.list()
    await waybill.emails.send(EMAIL)
    await waybill.logs.list()
    await waybill.emails.cancel("msg_1")
    await caught(waybill.emails.send(EMAIL))
    await waybill.logs.list()
    // Another client knows nothing of it.
    await new Waybill(KEY, server).logs.list()
    const told = server.seen.map(({ headers, method }) => [method, headers["x-waybill-position"]])
    assert.deepStrictEqual(told, [
      ["GET", undefined],
      ["POST", undefined],
      ["GET", "0/FFFFFFFF"],
      ["POST", undefined],
      ["GET", "0/FFFFFFFF"],
      ["POST", undefined],
      ["POST", undefined],
      ["GET", "1/A0"],
      ["GET", undefined],
    ])
  })

  it("says nothing of positions to a service that says nothing of them", async () => {
    await using server = await answering([{ status: 200, body: ACK }])
    const waybill = new Waybill(KEY, server)
    await waybill.emails.send(EMAIL)
    await waybill.logs.get("msg_1")
    assert.isUndefined(server.seen[1]?.headers["x-waybill-position"])
  })
})
