import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { EMAIL, fieldOf, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("GET /email/logs", (it) => {
  const setUp = Effect.map(signUp({ domains: ["acme.test", "shop.test"] }), (customer) => {
    const list = (query: string) => customer.call("GET", `/v1/email/logs?${query}`)
    const ids = (query: string) =>
      Effect.map(list(query), ({ json }) => json.data.map(({ id }: { id: string }) => id) as ReadonlyArray<string>)
    return { ...customer, list, ids }
  })

  it.effect("returns records with exactly the contract's fields", function* () {
    const { list, send } = yield* setUp
    yield* send()
    const { json } = yield* list("")
    assert.deepStrictEqual(Object.keys(json).sort(), ["data", "has_more", "next_cursor", "object", "total"])
    assert.deepStrictEqual(Object.keys(json.data[0]).sort(), [
      "api_key_id",
      "attempts",
      "bcc",
      "cc",
      "clicks",
      "created_at",
      "delivered_at",
      "domain",
      "error",
      "from",
      "id",
      "livemode",
      "message_id",
      "metadata",
      "next_attempt_at",
      "object",
      "opens",
      "recipient_counts",
      "recipients",
      "reply_to",
      "scheduled_at",
      "size_bytes",
      "status",
      "subject",
      "tags",
      "template",
      "test_clock",
      "to",
      "tracking",
      "updated_at",
      "version",
    ])
  })

  it.effect("pages newest first, forwards and backwards", function* () {
    const { ids, list, send } = yield* setUp
    const sent = (yield* Effect.forEach([1, 2, 3, 4, 5], () => send())).toReversed()
    const first = (yield* list("limit=2")).json
    assert.deepStrictEqual(
      [first.data.map(({ id }: { id: string }) => id), first.has_more, first.next_cursor],
      [sent.slice(0, 2), true, sent[1]],
    )
    assert.deepStrictEqual(yield* ids(`limit=2&after=${sent[1]}`), sent.slice(2, 4))
    const last = (yield* list(`limit=2&after=${sent[3]}`)).json
    assert.deepStrictEqual([last.data.length, last.has_more, last.next_cursor], [1, false, null])
    assert.deepStrictEqual(yield* ids(`limit=2&before=${sent[3]}`), sent.slice(1, 3))
  })

  it.effect("filters by every field and by all together", function* () {
    const { call, ids, key_id, send } = yield* setUp
    const plain = yield* send()
    const other = yield* send({
      from: "shop@shop.test",
      to: ["bo@example.org", "ana@example.org"],
      subject: "Your Invoice 50%",
      tags: ["invoice", "eu"],
      metadata: { order: "7041", "a=b": "c&d", ["x".repeat(64)]: "y".repeat(500), note: "" },
    })
    const canceled = yield* send({
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
      tags: ["invoice"],
      metadata: { order: "7041" },
    })
    yield* call("POST", `/v1/email/${canceled}/cancel`)
    const FILTERS: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<string>]> = [
      ["", [canceled, other, plain]],
      ["status=queued", [other, plain]],
      ["status=canceled,queued", [canceled, other, plain]],
      ["status=delivered", []],
      ["to=bo@example.org", [other]],
      ["to=ANA@example.org", [canceled, other, plain]],
      ["from=shop@shop.test", [other]],
      ["subject=invoice", [other]],
      ["subject=50%25", [other]],
      ["tag=invoice", [canceled, other]],
      ["tag=invoice&tag=eu", [other]],
      ["metadata.order=7041", [canceled, other]],
      ["metadata[order]=7041", [canceled, other]],
      ["metadata.order=7041&metadata.note=", [other]],
      ["metadata.order=704", []],
      ["metadata.Order=7041", []],
      ["metadata.a%3Db=c%26d&tag=eu", [other]],
      [`metadata.${"x".repeat(64)}=${"y".repeat(500)}`, [other]],
      ["metadata.__proto__=7041", []],
      ["domain=acme.test", [canceled, plain]],
      ["q=invoice", [canceled, other]],
      ["q=BO@exam", [other]],
      ["q=bo@%20invoice", [other]],
      ["q=%22your%20invoice%22", [other]],
      ["q=%22invoice%20your%22", []],
      ["q=eu%20nobody", []],
      ["q=SHOP@shop", [other]],
      ["q=shop.test", [other]],
      ["q=acme.test", [canceled, plain]],
      ["q=acme.test%20invoice", [canceled]],
      [`q=${plain}`, [plain]],
      [`q=${other.slice(0, -5)}`, [other]],
      [`q=${other.slice(0, -5)}%20acme.test`, []],
      [`q=${other.slice(0, "msg_".length + 6)}`, [canceled, other, plain]],
      [`q=${other.slice(0, "msg_".length + 5)}`, []],
      ["recipient=bo@", [other]],
      ["recipient=example.ORG", [canceled, other, plain]],
      ["recipient=invoice", []],
      [`message_id=${other}`, [other]],
      [`message_id=%3C${other}@shop.test%3E`, [other]],
      [`api_key_id=${key_id}`, [canceled, other, plain]],
      ["api_key_id=key_00000000000000000000000000", []],
      [`created_after=${new Date(Date.now() + 60_000).toISOString()}`, []],
      [`created_before=${new Date(Date.now() + 60_000).toISOString()}`, [canceled, other, plain]],
      // The zero time that some client libraries send for an unset one.
      ["created_after=0001-01-01T00:00:00Z", [canceled, other, plain]],
      ["created_before=0001-01-01T00:00:00Z", []],
      ["status=queued&tag=eu&to=bo@example.org&from=shop@shop.test&domain=shop.test&subject=Your", [other]],
    ]
    for (const [query, expected] of FILTERS) assert.deepStrictEqual(yield* ids(query), expected, query)
  })

  it.effect("searches with the words of the dashboard, and counts what it finds", function* () {
    const { call, ids, json, key_id, list, send } = yield* Effect.map(setUp, (customer) => ({
      ...customer,
      json: (query: string) => Effect.map(customer.list(query), ({ json }) => json),
    }))
    const plain = yield* send()
    const other = yield* send({
      from: "shop@shop.test",
      to: ["bo@example.org"],
      tags: ["eu"],
      metadata: { order: "7" },
    })
    const canceled = yield* send({ scheduled_at: new Date(Date.now() + 3_600_000).toISOString() })
    yield* call("POST", `/v1/email/${canceled}/cancel`)
    const admin = yield* call("POST", "/v1/api-keys", { name: "Shop, production", scopes: ["email:send"] })
    const FOUND: ReadonlyArray<readonly [typed: string, expected: ReadonlyArray<string>]> = [
      ["to:bo", [other]],
      ["to:bo@example.org from:shop.test", [other]],
      ["is:canceled", [canceled]],
      ["status:canceled,queued domain:acme.test", [canceled, plain]],
      ["tag:eu since:1h", [other]],
      ["since:1h until:1m", []],
      ["since:today since:yesterday".slice(0, 11), [canceled, other, plain]],
      ["metadata:order=7", [other]],
      [`key:${key_id}`, [canceled, other, plain]],
      ['key:"Shop, production"', []],
      [`id:${plain}`, [plain]],
      ["bo@ shop.test anyone:queued", [other]],
    ]
    for (const [typed, expected] of FOUND)
      assert.deepStrictEqual(yield* ids(`q=${encodeURIComponent(typed)}`), expected, typed)
    assert.strictEqual(admin.status, 201)
    const PROBLEMS: ReadonlyArray<readonly [typed: string, message: RegExp]> = [
      ["form:shop.test", /There is no filter “form:”. Did you mean “from:”\?/u],
      ["is:lost", /There is no status “lost”/u],
      ["key:nobody", /No API key is named “nobody”/u],
      ["template:nobody", /No template has the alias “nobody”/u],
      ["since:soon", /Use a date such as/u],
      ["to:", /Type an address/u],
      ["to:a@b.test to:c@d.test", /Only one of these/u],
      [`to:${"x".repeat(150)}@exam.test`, /filter `to`/u],
    ]
    for (const [typed, message] of PROBLEMS) {
      const answer = yield* list(`q=${encodeURIComponent(typed)}`)
      assert.deepStrictEqual(fieldOf(answer), [400, "q"], typed)
      assert.match(answer.json.error.message, message)
    }
    assert.deepStrictEqual(fieldOf(yield* list("q=to:bo&recipient=bo")), [400, "recipient"])
    assert.deepStrictEqual((yield* json("limit=1&count=true&q=shop")).total, { count: 1, is_exact: true })
    assert.deepStrictEqual((yield* json("limit=1&count=true")).total, { count: 3, is_exact: true })
    assert.isNull((yield* json("limit=1")).total)
  })

  it.effect("names keys only to those who may list them", function* () {
    const { call, list, world } = yield* setUp
    const made = yield* call("POST", "/v1/api-keys", { name: "Reader", scopes: ["email:logs:read"] })
    const reader = yield* list("q=key:reader")
    assert.strictEqual(reader.status, 200)
    const answer = yield* world.request("GET", "/v1/email/logs?q=key:reader", { key: made.json.key })
    assert.match(answer.json.error.message, /names of API keys are not shown to you/u)
  })

  it.effect("refuses a filter of metadata that no message can have, or that is no pair", function* () {
    const { list } = yield* setUp
    for (const [query, path, message] of [
      ["metadata=order", "metadata", "must be given as `metadata.<name>=<value>`"],
      ["metadata.order=1&metadata.order=2", "metadata.order", "is given 2 times; give it once"],
      [
        Array.from({ length: 6 }, (_, nth) => `metadata.n${nth}=v`).join("&"),
        "metadata",
        "takes 1 to 5 pairs; 6 were given",
      ],
      [`metadata.${"x".repeat(65)}=1`, "metadata", "is a name of 65 characters; at most 64 are allowed"],
      [`metadata.order=${"x".repeat(501)}`, "metadata", "is 501 characters; at most 500 are allowed"],
    ] as const) {
      const { json, status } = yield* list(query)
      assert.deepStrictEqual([status, json.error.details], [400, [{ path, message }]], query)
    }
    assert.strictEqual((yield* list("metadata.=1")).json.error.reason, "unknown_field")
  })

  it.effect("finds mail by the status of any recipient, and scheduled mail", function* () {
    const { account: account_id, ids, key, world, send } = yield* setUp
    const store = yield* EventStore
    const smtp = { code: 250, enhanced_code: null, response: null, mx: null, tls: null, duration_ms: 1, attempt: 1 }
    const words = { ...smtp, category: null }
    const happens = (stream_id: string, outcomes: Readonly<Record<string, "Delivered" | "Bounced">>) =>
      store.commit(
        Email,
        { account_id, stream_id },
        EmailReport.record(
          Timestamp.fromMillis(Date.now()),
          Object.entries(outcomes).map(([name, _tag]) => ({
            _tag,
            recipient: `${name}@example.org` as Address,
            words,
          })),
        ),
      )
    const partly = yield* send({ to: ["a", "b", "c", "d", "e"].map((name) => `${name}@example.org`) })
    yield* happens(partly, { a: "Delivered", b: "Delivered", c: "Bounced", d: "Delivered", e: "Delivered" })
    const bounced = yield* send({ to: "gone@example.org", tags: ["spring"] })
    yield* happens(bounced, { gone: "Bounced" })
    const delivered = yield* send({ to: "ana@example.org" })
    yield* happens(delivered, { ana: "Delivered" })
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const past = yield* send({ scheduled_at: new Date(Date.now() - 30_000).toISOString() })
    const later = yield* send({ scheduled_at: inAnHour, from: "shop@shop.test" })
    const canceled = yield* send({ scheduled_at: inAnHour })
    yield* world.request("POST", `/v1/email/${canceled}/cancel`, { key })
    const rescheduled = yield* send()
    yield* world.request("PATCH", `/v1/email/${rescheduled}`, { key, body: { scheduled_at: inAnHour } })
    const FOUND: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<string>]> = [
      ["status=bounced", [bounced]],
      ["recipient_status=bounced", [bounced, partly]],
      ["recipient_status=delivered", [delivered, partly]],
      ["recipient_status=bounced,canceled", [canceled, bounced, partly]],
      ["recipient_status=bounced&status=delivered", [partly]],
      ["recipient_status=bounced&tag=spring", [bounced]],
      ["recipient_status=bounced&domain=acme.test", [bounced, partly]],
      [`recipient_status=bounced&after=${bounced}`, [partly]],
      [`recipient_status=bounced&before=${partly}`, [bounced]],
      ["recipient_status=complained", []],
      ["status=scheduled", [rescheduled, later]],
      ["status=scheduled,bounced", [rescheduled, later, bounced]],
      ["status=queued", [rescheduled, later, past]],
      ["status=scheduled&from=shop@shop.test", [later]],
      ["status=scheduled&domain=shop.test", [later]],
      ["status=scheduled&recipient_status=queued", [rescheduled, later]],
    ]
    for (const [query, expected] of FOUND) assert.deepStrictEqual(yield* ids(query), expected, query)
  })

  it.effect("finds mail by the reply codes with which servers refused it, counted exactly", function* () {
    const { account: account_id, ids, list, send, world } = yield* setUp
    const store = yield* EventStore
    const now = Timestamp.fromMillis(Date.now())
    const happens = Effect.fnUntraced(function* (
      stream_id: string,
      outcomes: Readonly<Record<string, readonly ["Delivered" | "Bounced" | "Failed" | "Deferred", number]>>,
    ) {
      const results = Object.entries(outcomes).map(([name, [_tag, code]]) => ({
        _tag,
        next_attempt_at: now,
        recipient: `${name}@example.org` as Address,
        words: { ...DeliveryOutcome.NO_RESPONSE, code },
      }))
      yield* store.commit(Email, { account_id, stream_id }, EmailReport.record(now, results))
    })
    const full = yield* send({ to: "ana@example.org", tags: ["spring"] })
    yield* happens(full, { ana: ["Bounced", 552] })
    const later = yield* send({ to: "ana@example.org" })
    yield* happens(later, { ana: ["Deferred", 451] })
    const mixed = yield* send({ to: ["a", "b", "c"].map((name) => `${name}@example.org`) })
    yield* happens(mixed, { a: ["Bounced", 550], b: ["Failed", 421], c: ["Delivered", 250] })
    const gone = yield* send({ to: ["a", "b"].map((name) => `${name}@example.org`) })
    yield* happens(gone, { a: ["Bounced", 550], b: ["Bounced", 550] })
    const arrived = yield* send({ to: "ana@example.org" })
    yield* happens(arrived, { ana: ["Delivered", 250] })
    const FOUND: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<string>]> = [
      ["code=550", [gone, mixed]],
      ["code=552", [full]],
      ["code=421", [mixed]],
      ["code=451,552", [later, full]],
      ["code=5xx", [gone, mixed, full]],
      ["code=4xx", [mixed, later]],
      ["code=553", []],
      ["code=5xx&tag=spring", [full]],
      ["code=5xx&to=a@example.org&limit=1", [gone]],
      ["q=code:550%20code:451", [gone, mixed, later]],
      ["q=code:5XX%20since:1h%20b@", [gone, mixed]],
    ]
    for (const [query, expected] of FOUND) {
      assert.deepStrictEqual(yield* ids(query), expected, query)
      if (query.includes("limit")) continue
      const { json } = yield* list(`${query}&count=true`)
      assert.deepStrictEqual(json.total, { count: expected.length, is_exact: true }, query)
    }
    yield* happens(later, { ana: ["Delivered", 250] })
    assert.deepStrictEqual(yield* ids("code=4xx"), [mixed])
    const other = yield* world.key(yield* world.account())
    const { json } = yield* world.request("GET", "/v1/email/logs?code=5xx", { key: other.secret })
    assert.deepStrictEqual(json.data, [])
  })

  it.effect("compares times with created_at exactly, also among concurrent messages", function* () {
    const { call, ids, send } = yield* setUp
    const original = yield* send()
    // Only mail that is no longer sent to its recipients is resent.
    yield* call("POST", `/v1/email/${original}/cancel`)
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const post = (path: string, body?: unknown) => call("POST", path, body)
    const ways = [
      post("/v1/email/send", EMAIL),
      post("/v1/email/send", { ...EMAIL, scheduled_at: inAnHour }),
      post("/v1/email/send/batch", { emails: [EMAIL, EMAIL] }),
      post(`/v1/email/${original}/resend`),
    ]
    const answers = yield* Effect.all([...ways, ...ways, ...ways], { concurrency: "unbounded" })
    const sent = answers.flatMap(({ json }) => json.data ?? [json]) as ReadonlyArray<{
      readonly id: string
      readonly created_at: string
    }>
    assert.strictEqual(sent.length, 15)
    for (const { created_at } of new Map(sent.map((each) => [each.created_at, each])).values()) {
      const since = sent.filter((each) => each.created_at >= created_at).map(({ id }) => id)
      const before = sent.filter((each) => each.created_at < created_at).map(({ id }) => id)
      assert.sameMembers([...(yield* ids(`limit=100&created_after=${created_at}`))], since)
      assert.sameMembers([...(yield* ids(`limit=100&created_before=${created_at}`))], [original, ...before])
    }
  })

  it.effect("refuses invalid parameter values", function* () {
    const { list, send } = yield* setUp
    const id = yield* send()
    const BAD: ReadonlyArray<readonly [query: string, path: string]> = [
      ["limit=0", "limit"],
      ["limit=101", "limit"],
      ["limit=-1", "limit"],
      ["limit=1.5", "limit"],
      ["limit=ten", "limit"],
      ["limit=", "limit"],
      ["status=lost", "status"],
      ["status=queued,lost", "status"],
      ["status=", "status"],
      ["recipient_status=lost", "recipient_status"],
      ["recipient_status=bounced,scheduled", "recipient_status"],
      ["recipient_status=", "recipient_status"],
      ["code=250", "code"],
      ["provider=other", "provider"],
      ["scheduled_after=tomorrow", "scheduled_after"],
      ["code=5.1.1", "code"],
      [`code=${Array.from({ length: 11 }, (_, nth) => 550 + nth).join(",")}`, "code"],
      ["after=nothing", "after"],
      ["before=dom_00000000000000000000000000", "before"],
      [`after=${id}&before=${id}`, "before"],
      ["to=x", "to"],
      ["from=x", "from"],
      ["domain=x", "domain"],
      ["created_after=yesterday", "created_after"],
      ["created_before=2026-01-01", "created_before"],
      ["subject=", "subject"],
      [`subject=${"x".repeat(201)}`, "subject"],
      ["limit=1&limit=2", "limit"],
      ["q=", "q"],
      ["q=%20%22%22", "q"],
      ["q=a%20b%20c%20d%20e%20f", "q"],
      [`q=${"x".repeat(201)}`, "q"],
      ["recipient=", "recipient"],
      ["message_id=%3Cabc@mail.example%3E", "message_id"],
      ["api_key_id=msg_00000000000000000000000000", "api_key_id"],
    ]
    for (const [query, path] of BAD) {
      assert.deepStrictEqual(fieldOf(yield* list(query)), [400, path], query)
    }
    for (const limit of [1, 100]) assert.strictEqual((yield* list(`limit=${limit}`)).status, 200)
  })
})
