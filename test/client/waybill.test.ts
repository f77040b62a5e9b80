import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { Waybill, WaybillError } from "../../packages/client/src/Waybill.ts"
import { serverWith, KEY } from "./support.ts"

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

const { paths: contractPaths } = JSON.parse(
  readFileSync(new URL("../contract/openapi.json", import.meta.url), "utf8"),
) as { readonly paths: Readonly<Record<string, object>> }

/** Reads an iterator until it fails. */
const stopped = (walk: AsyncGenerator<unknown>): Promise<unknown> =>
  walk.next().then(
    () => assert.fail("it went on"),
    () => undefined,
  )

describe("client", () => {
  it("a mistyped key is refused without a request", () => {
    const mistyped = `${KEY.slice(0, -1)}${KEY.endsWith("0") ? "1" : "0"}`
    for (const key of ["", "wb_short", mistyped]) assert.throws(() => new Waybill(key), WaybillError)
  })

  it("a send has the API key and a random idempotency key", async () => {
    await using server = await serverWith([{ status: 200, body: ACK }])
    const waybill = new Waybill(KEY, server)
    assert.deepStrictEqual(await waybill.emails.send(EMAIL), ACK)
    await waybill.emails.send(EMAIL)
    const [first, second] = server.seen
    assert.strictEqual(first?.url, "/v1/email/send")
    assert.strictEqual(first?.headers.authorization, `Bearer ${KEY}`)
    assert.deepStrictEqual(JSON.parse(first?.body ?? ""), EMAIL)
    assert.notStrictEqual(first?.headers["idempotency-key"], second?.headers["idempotency-key"])
  })

  it("a request is retried with the same idempotency key after a 500, a lost connection and a 429", async () => {
    await using server = await serverWith([
      refusal(500, "internal_error"),
      "drop",
      refusal(429, "request_rate", { "retry-after": "0" }),
      { status: 200, body: ACK },
    ])
    assert.deepStrictEqual(await new Waybill(KEY, server).emails.send(EMAIL), ACK)
    assert.strictEqual(server.seen.length, 4)
    assert.strictEqual(new Set(server.seen.map((each) => each.headers["idempotency-key"])).size, 1)
  })

  it("refusals and an exhausted quota are not retried", async () => {
    await using server = await serverWith([
      refusal(422, "domain_not_verified"),
      refusal(429, "monthly_quota", { "retry-after": "86400" }),
      refusal(429, "suppression_changes", { "retry-after": "86400" }),
    ])
    const waybill = new Waybill(KEY, server)
    const refused = await caught(waybill.emails.send(EMAIL))
    assert.deepStrictEqual([refused.status, refused.reason, refused.requestId], [422, "domain_not_verified", "req_1"])
    assert.strictEqual((await caught(waybill.emails.send(EMAIL))).retryAfter, 86_400)
    assert.strictEqual((await caught(waybill.suppressions.add({ email: "a@b.test" }))).reason, "suppression_changes")
    assert.strictEqual(server.seen.length, 3)
  })

  it("the last response is thrown when the retries are exhausted", async () => {
    await using server = await serverWith([refusal(500, "internal_error", { "retry-after": "0" })])
    const error = await caught(new Waybill(KEY, { ...server, retries: 2 }).logs.get("msg_1"))
    assert.deepStrictEqual([error.status, server.seen.length], [500, 3])
  })

  it("an unreachable service is a readable error", async () => {
    const error = await caught(new Waybill(KEY, { baseUrl: "http://127.0.0.1:9", retries: 0 }).account.get())
    assert.deepStrictEqual([error.code, error.status], ["connection_failed", 0])
  })

  it("logs.all reads all pages, each only when needed", async () => {
    const page = (ids: ReadonlyArray<string>, next: string | null) => ({
      status: 200,
      body: { object: "list", has_more: next !== null, next_cursor: next, data: ids.map((id) => ({ id })) },
    })
    await using server = await serverWith([page(["c", "b"], "b"), page(["a"], null)])
    const ids: Array<string> = []
    const logs = new Waybill(KEY, server).logs.all({ status: ["bounced", "failed"], tag: ["x", "y"] })
    assert.strictEqual(server.seen.length, 0)
    for await (const email of logs) ids.push(email.id)
    assert.deepStrictEqual(ids, ["c", "b", "a"])
    assert.deepStrictEqual(
      server.seen.map((each) => each.url),
      [
        "/v1/email/logs?status=bounced%2Cfailed&tag=x&tag=y&limit=100",
        "/v1/email/logs?status=bounced%2Cfailed&tag=x&tag=y&limit=100&after=b",
      ],
    )
  })

  it("iteration starts at a message towards newer ones, and at an event position", async () => {
    const page = (ids: ReadonlyArray<string>, next: object) => ({
      status: 200,
      body: { object: "list", data: ids.map((id) => ({ id })), ...next },
    })
    await using server = await serverWith([
      page(["c", "b"], { has_more: true, next_cursor: "c" }),
      page(["d"], { has_more: false, next_cursor: null }),
      page(["evt_1", "evt_2"], { has_more: true, next_position: "pos_7" }),
      page([], { has_more: false, next_position: "pos_9" }),
      page(["m"], { has_more: false, next_cursor: null }),
    ])
    const waybill = new Waybill(KEY, server)
    const ids = async (all: AsyncIterable<{ readonly id: string }>) => {
      const ids: Array<string> = []
      for await (const { id } of all) ids.push(id)
      return ids
    }
    assert.deepStrictEqual(await ids(waybill.logs.all({ before: "a", tag: "x" })), ["b", "c", "d"])
    assert.deepStrictEqual(await ids(waybill.events.all({ after_position: "pos_3", types: ["email.queued"] })), [
      "evt_1",
      "evt_2",
    ])
    assert.deepStrictEqual(await ids(waybill.sandbox.all({ to: "ana@example.org" })), ["m"])
    assert.deepStrictEqual(
      server.seen.map(({ url }) => url),
      [
        "/v1/email/logs?before=a&tag=x&limit=100",
        "/v1/email/logs?before=c&tag=x&limit=100",
        "/v1/events?after_position=pos_3&types=email.queued&limit=1000",
        "/v1/events?after_position=pos_7&types=email.queued&limit=1000",
        "/v1/sandbox/messages?to=ana%40example.org&limit=100",
      ],
    )
  })

  it("the timeout of a request with `wait` is extended by that time", async () => {
    const late = { status: 200, after_ms: 300, body: { object: "list", data: [], has_more: false, next_cursor: null } }
    await using server = await serverWith([late])
    const waybill = new Waybill(KEY, { ...server, timeoutMs: 100, retries: 0 })
    assert.isUndefined(await waybill.sandbox.waitFor("ana@example.org", 1))
    assert.deepStrictEqual((await waybill.events.list({ wait: "1s" })).data, [])
    assert.strictEqual((await caught(waybill.sandbox.list())).code, "connection_failed")
  })

  const block = (nth: number, type?: string) => {
    const position = `pos_${nth}`
    return `id: ${position}\n${type === undefined ? "event: ping\n" : ""}data: ${JSON.stringify({ position, type })}\n\n`
  }
  const stream = (text: string) => ({ status: 200, headers: { "content-type": "text/event-stream" }, text })

  it("an event stream ends when its signal is aborted, while events come and while none do", async () => {
    const events = block(4, "email.queued") + block(6, "email.sent")
    await using server = await serverWith([{ ...stream(events), isOpen: true }])
    const endOf = async (last: string) => {
      const control = new AbortController()
      const seen: Array<string> = []
      try {
        for await (const { position } of new Waybill(KEY, server).events.stream({ signal: control.signal })) {
          seen.push(position)
          if (position === last) control.abort(new Error("enough"))
        }
      } catch (error) {
        return [...seen, String(error)]
      }
      return seen
    }
    // Both have come at once; after the second one the stream waits.
    assert.deepStrictEqual(await endOf("pos_4"), ["pos_4", "Error: enough"])
    assert.deepStrictEqual(await endOf("pos_6"), ["pos_4", "pos_6", "Error: enough"])
    assert.lengthOf(server.seen, 2)
  })

  it("an event stream continues after a lost connection, and ends when the caller stops", async () => {
    await using server = await serverWith([
      stream(block(4) + block(6, "email.queued") + block(7, "email.sent").slice(0, -5)),
      stream(block(6) + block(7, "email.sent") + block(9, "email.delivered")),
    ])
    const seen: Array<string> = []
    for await (const { position } of new Waybill(KEY, server).events.stream({ types: ["email.queued"] })) {
      seen.push(position)
      if (position === "pos_9") break
    }
    assert.deepStrictEqual(seen, ["pos_6", "pos_7", "pos_9"])
    assert.deepStrictEqual(
      server.seen.map(({ url }) => url),
      ["/v1/events/stream?types=email.queued", "/v1/events/stream?after_position=pos_6&types=email.queued"],
    )
  })

  it("every endpoint of the contract has a method", async () => {
    await using server = await serverWith([{ status: 200, body: { data: [], has_more: false } }])
    const { account, apiKeys, audit, domains, emails, ...more } = new Waybill(KEY, server)
    const { events, inbound, logs, members, requests, sandbox, session, stats, suppressions } = more
    const { templates, testClocks, threads, webhooks } = more
    const calls: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
      "POST /v1/email/send": () => emails.send(EMAIL),
      "POST /v1/email/send/batch": () => emails.sendBatch([EMAIL]),
      "GET /v1/email/{id}": (id) => emails.get(id),
      "POST /v1/email/{id}/cancel": (id) => emails.cancel(id),
      "POST /v1/email/{id}/resend": (id) => emails.resend(id),
      "GET /v1/email/{id}/receipt": (id) => emails.receipt(id, { redact: "recipient" }),
      "PATCH /v1/email/{id}": (id) => emails.reschedule(id, "2026-12-01T00:00:00Z"),
      "GET /v1/email/logs": () => logs.list(),
      "GET /v1/email/logs/{id}": (id) => logs.get(id, { as_of: "2026-12-01T00:00:00Z" }),
      "GET /v1/email/logs/{id}/events": (id) => logs.events(id),
      "GET /v1/inbound": () => inbound.list(),
      "GET /v1/inbound/{id}": (id) => inbound.get(id),
      "GET /v1/inbound/{id}/raw": (id) => inbound.raw(id),
      "GET /v1/inbound/{id}/attachments/{attachment}": (id) => inbound.attachment(id, id),
      "GET /v1/inbound/{id}/receipt": (id) => inbound.receipt(id),
      "DELETE /v1/inbound/{id}": (id) => inbound.remove(id),
      "POST /v1/inbound/{id}/replay": (id) => inbound.replay(id),
      "POST /v1/inbound/{id}/forward": (id) => inbound.forward(id, "bo@example.org"),
      "POST /v1/inbound/{id}/reply": (id) => inbound.reply(id, { from: "hi@acme.test", text: "Hi" }),
      "GET /v1/threads/{id}": (id) => threads.get(id),
      "GET /v1/inbound/routes": () => inbound.routes.list(),
      "POST /v1/inbound/routes": () => inbound.routes.create({ action: { type: "store" } }),
      "GET /v1/inbound/routes/{id}": (id) => inbound.routes.get(id),
      "PATCH /v1/inbound/routes/{id}": (id) => inbound.routes.update(id, { enabled: false }),
      "DELETE /v1/inbound/routes/{id}": (id) => inbound.routes.remove(id),
      "POST /v1/inbound/routes/test": () => inbound.routes.test({ to: "hi@acme.test", from: "ana@example.org" }),
      "POST /v1/test/inbound": () => inbound.test({ from: "ana@example.org", to: "hi@acme.test" }),
      "GET /v1/templates": () => templates.list(),
      "POST /v1/templates": () => templates.create({ name: "Receipt" }),
      "GET /v1/templates/{template}": (id) => templates.get(id),
      "PATCH /v1/templates/{template}": (id) => templates.update(id, { html: null }),
      "DELETE /v1/templates/{template}": (id) => templates.archive(id),
      "POST /v1/templates/{template}/publish": (id) => templates.publish(id),
      "GET /v1/templates/{template}/versions": (id) => templates.versions(id),
      "GET /v1/templates/{template}/versions/{number}": (id) => templates.version(id, id as never),
      "POST /v1/templates/{template}/rollback": (id) => templates.rollback(id, 1),
      "POST /v1/templates/{template}/duplicate": (id) => templates.duplicate(id),
      "POST /v1/templates/{template}/render": (id) => templates.render(id),
      "POST /v1/templates/push": () => templates.push({ templates: [{ alias: "receipt", name: "Receipt" }] }),
      "POST /v1/templates/validate": () => templates.validate({ html: "<p>Hi</p>" }),
      "GET /v1/domains": () => domains.list(),
      "POST /v1/domains": () => domains.add("acme.test"),
      "GET /v1/domains/{domain}": (id) => domains.get(id),
      "PATCH /v1/domains/{domain}": (id) => domains.update(id, { open_tracking: true }),
      "DELETE /v1/domains/{domain}": (id) => domains.remove(id),
      "POST /v1/domains/{domain}/verify": (id) => domains.verify(id),
      "POST /v1/domains/{domain}/dkim/rotate": (id) => domains.rotateDkim(id),
      "POST /v1/domains/{domain}/dkim/ed25519": (id) => domains.addEd25519(id),
      "POST /v1/domains/{domain}/dkim/ed25519/rotate": (id) => domains.rotateEd25519(id),
      "DELETE /v1/domains/{domain}/dkim/ed25519": (id) => domains.removeEd25519(id),
      "GET /v1/domains/{domain}/dmarc": (id) => domains.dmarc(id),
      "GET /v1/domains/{domain}/tls": (id) => domains.tls(id),
      "GET /v1/api-keys": () => apiKeys.list(),
      "POST /v1/api-keys": () => apiKeys.create({ name: "x", scopes: ["admin"] }),
      "GET /v1/api-keys/{key_id}": (id) => apiKeys.get(id),
      "DELETE /v1/api-keys/{key_id}": (id) => apiKeys.revoke(id),
      "GET /v1/webhooks": () => webhooks.list(),
      "POST /v1/webhooks": () => webhooks.create({ url: "https://example.org/", events: ["*"] }),
      "GET /v1/webhooks/{id}": (id) => webhooks.get(id),
      "PATCH /v1/webhooks/{id}": (id) => webhooks.update(id, {}),
      "DELETE /v1/webhooks/{id}": (id) => webhooks.remove(id),
      "POST /v1/webhooks/{id}/test": (id) => webhooks.test(id),
      "POST /v1/webhooks/{id}/rotate-secret": (id) => webhooks.rotateSecret(id),
      "GET /v1/webhooks/{id}/deliveries": (id) => webhooks.deliveries(id),
      "GET /v1/webhooks/{id}/deliveries/{delivery_id}": (id) => webhooks.delivery(id, id),
      "POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay": (id) => webhooks.replayDelivery(id, id),
      "POST /v1/webhooks/{id}/replay": (id) => webhooks.replay(id, { created_after: "", created_before: "" }),
      "GET /v1/suppressions": () => suppressions.list(),
      "POST /v1/suppressions/batch": () => suppressions.batch({ remove: ["a@b.test"] }),
      "POST /v1/suppressions": () => suppressions.add({ email: "ana@example.org" }),
      "GET /v1/suppressions/{email}": (id) => suppressions.get(id),
      "DELETE /v1/suppressions/{email}": (id) => suppressions.remove(id),
      "GET /v1/account": () => account.get(),
      "GET /v1/session": () => session.get(),
      "GET /v1/members": () => members.list(),
      "POST /v1/members": () => members.invite({ email: "ana@example.org", role: "viewer" }),
      "PATCH /v1/members/{id}": (id) => members.changeRole(id, "viewer"),
      "POST /v1/members/{id}/link": (id) => members.makeLink(id),
      "DELETE /v1/members/{id}": (id) => members.remove(id),
      "GET /v1/stats": () => stats.get({ group_by: ["day", "tag"] }),
      "GET /v1/events": () => events.list(),
      "GET /v1/events/stream": () => stopped(events.stream({ signal: AbortSignal.timeout(100) })),
      "GET /v1/audit": () => audit.list(),
      "GET /v1/requests": () => requests.list(),
      "GET /v1/requests/{id}": (id) => requests.get(id),
      "GET /v1/test/clocks": () => testClocks.list(),
      "POST /v1/test/clocks": () => testClocks.create(),
      "GET /v1/test/clocks/{id}": (id) => testClocks.get(id),
      "POST /v1/test/clocks/{id}/advance": (id) => testClocks.advance(id, { by: "P3D" }),
      "DELETE /v1/test/clocks/{id}": (id) => testClocks.remove(id),
      "GET /v1/sandbox/messages": () => sandbox.list(),
      "DELETE /v1/sandbox/messages": () => sandbox.clear(),
      "GET /v1/sandbox/messages/{id}": (id) => sandbox.get(id),
      "DELETE /v1/sandbox/messages/{id}": (id) => sandbox.remove(id),
    }
    for (const [operation, call] of Object.entries(calls)) {
      await call("one")
      const { method, url } = server.seen.at(-1) ?? assert.fail(operation)
      assert.strictEqual(`${method} ${url.split("?", 1)[0]}`, operation.replaceAll(/\{\w+\}/gu, "one"))
    }
    const contract = Object.entries(contractPaths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    assert.sameMembers(
      Object.keys(calls),
      contract.filter((operation) => operation.includes(" /v1/")),
    )
  })

  it("reads send the positions of concurrent writes, in whatever order the responses arrive", async () => {
    const at = (position: string, after_ms = 0) => ({
      status: 200,
      headers: { "x-waybill-position": position },
      body: ACK,
      after_ms,
    })
    const list = { status: 200, body: { object: "list", has_more: false, next_cursor: null, data: [] } }
    await using server = await serverWith([
      list,
      at("pos_a"),
      list,
      at("pos_b"),
      at("pos_c", 100),
      at("pos_d"),
      list,
      { ...refusal(422, "domain_not_verified"), headers: { "x-waybill-position": "pos_e" } },
      list,
    ])
    const waybill = new Waybill(KEY, server)
    await waybill.logs.list()
    await waybill.emails.send(EMAIL)
    await waybill.logs.list()
    await waybill.emails.send(EMAIL)
    const slow = waybill.emails.send(EMAIL)
    while (server.seen.length < 5) await new Promise((resolve) => setTimeout(resolve, 1))
    await waybill.emails.send(EMAIL)
    await slow
    await waybill.logs.list()
    await caught(waybill.emails.send(EMAIL))
    await waybill.logs.list()
    // Another client does not know the position.
    await new Waybill(KEY, server).logs.list()
    const positions = server.seen.map(({ headers, method }) => [method, headers["x-waybill-position"]])
    assert.deepStrictEqual(positions, [
      ["GET", undefined],
      ["POST", undefined],
      ["GET", "pos_a"],
      ["POST", "pos_a"],
      ["POST", "pos_b"],
      ["POST", "pos_b"],
      ["GET", "pos_d,pos_c"],
      ["POST", "pos_d,pos_c"],
      ["GET", "pos_e"],
      ["GET", undefined],
    ])
  })

  it("no position is sent to a service that returns none", async () => {
    await using server = await serverWith([{ status: 200, body: ACK }])
    const waybill = new Waybill(KEY, server)
    await waybill.emails.send(EMAIL)
    await waybill.logs.get("msg_1")
    assert.isUndefined(server.seen[1]?.headers["x-waybill-position"])
  })
})
