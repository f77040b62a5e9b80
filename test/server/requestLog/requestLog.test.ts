import type { Address } from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Erase from "@waybill/store/erasure/Erase"
import * as Mask from "@waybill/store/erasure/Mask"
import * as RequestLogWriter from "@waybill/store/requests/RequestLogWriter"
import { Effect } from "effect"
import * as http from "node:http"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { blockedBackend, otherClient } from "../../support/postgres/otherClient.ts"
import { EMAIL, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

/** First key of the advisory lock of an account. */
const ACCOUNT_LOCK = 0x5742_4143

const flush = Effect.flatMap(
  RequestLogWriter.RequestLogWriter,
  (writer) => writer?.flush ?? Effect.die("requests are not logged"),
)

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "the request log",
  (it) => {
    const setUp = Effect.gen(function* () {
      const at = yield* signUp({ domains: ["acme.test"] })
      const list = (query = "", key = at.key) =>
        Effect.andThen(
          flush,
          Effect.map(at.world.request("GET", `/v1/requests${query}`, { key }), ({ json }) => json),
        )
      const summaries = (query = "", key = at.key) =>
        Effect.map(list(query, key), ({ data }) =>
          data.map(({ method, path, reason, status }: Record<string, unknown>) =>
            [method, path, status, reason].join(" "),
          ),
        )
      return { ...at, list, summaries }
    })

    it.effect("has accepted and refused calls of every door, linked with the mail that they made", function* () {
      const { call, key_id, list, summaries, world, key } = yield* setUp
      const sent = yield* call("POST", "/v1/email/send", EMAIL)
      const requestId = sent.headers.get("x-request-id") ?? ""
      yield* call("POST", "/v1/email/send/batch", { emails: [EMAIL, EMAIL] })
      yield* call("POST", "/v1/email/send", { ...EMAIL, from: "hi@other.test" })
      yield* call("POST", "/v1/email/send", { ...EMAIL, to: 7 })
      const resend = { from: EMAIL.from, to: EMAIL.to, subject: "x", text: "x" }
      yield* call("POST", "/compat/resend/emails", resend)
      yield* call("POST", "/compat/resend/emails", { ...resend, to: "nobody" })
      yield* call("GET", "/v1/nowhere?to=ana@example.org&password=hunter2")
      assert.deepStrictEqual(yield* summaries("?limit=8"), [
        "GET /v1/nowhere 404 route_not_found",
        "POST /compat/resend/emails 400 validation_failed",
        "POST /compat/resend/emails 200 ",
        "POST /v1/email/send 400 validation_failed",
        "POST /v1/email/send 422 domain_not_verified",
        "POST /v1/email/send/batch 200 ",
        "POST /v1/email/send 200 ",
        "POST /v1/domains 201 ",
      ])
      assert.deepInclude((yield* list("?path=/v1/nowhere")).data[0], {
        object: "request",
        api_key_id: key_id,
        user_id: null,
        address: "127.0.0.1",
        query: "to=ana@example.org&password=[masked]",
        body_bytes: 0,
      })

      const { json } = yield* call("GET", `/v1/requests/${requestId}`)
      assert.deepStrictEqual([json.id, json.email_ids, json.status], [requestId, [sent.json.id], 200])
      assert.deepStrictEqual(JSON.parse(json.body), { ...EMAIL, text: "[masked, 2 bytes]" })
      assert.strictEqual(json.body_bytes, JSON.stringify(EMAIL).length)
      assert.deepStrictEqual(JSON.parse(json.answer), sent.json)
      const answerTo = Effect.fnUntraced(function* (query: string) {
        const [found] = (yield* list(query)).data
        return (yield* call("GET", `/v1/requests/${found.id}`)).json.answer
      })
      const refused = JSON.parse(yield* answerTo("?status=422"))
      assert.deepInclude(refused.error, { code: "unprocessable", reason: "domain_not_verified" })
      assert.include(refused.error.message, "domain")
      // A secret that was made, and what was read, are not kept.
      const madeKey = yield* call("POST", "/v1/api-keys", { name: "New", scopes: ["email:send"] })
      const made = yield* answerTo("?path=/v1/api-keys")
      assert.include(made, madeKey.json.id)
      assert.notInclude(made, madeKey.json.key)
      assert.isNull(yield* answerTo("?path=/v1/requests"))
      const events = yield* call("GET", `/v1/email/logs/${sent.json.id}/events`)
      assert.strictEqual(events.json.data[0].request_id, requestId)
      const [batch] = (yield* list("?path=/v1/email/send/batch")).data
      assert.lengthOf((yield* call("GET", `/v1/requests/${batch.id}`)).json.email_ids, 2)
      assert.deepStrictEqual(reasonOf(yield* call("GET", `/v1/requests/${Id.lowest("RequestId", 1)}`)), [
        404,
        "request_not_found",
      ])
      assert.strictEqual((yield* world.request("GET", "/v1/requests?status=9xx", { key })).status, 400)
    })

    it.effect("is searched by status, key, path, method, id and time, page by page", function* () {
      const { call, key_id, keyWith, list, summaries, world } = yield* setUp
      const other = yield* keyWith({ scopes: ["domains:read"] })
      yield* world.request("GET", "/v1/domains", { key: other })
      yield* world.request("GET", "/v1/email/logs", { key: other })
      yield* call("GET", "/v1/domains/none.test")
      const domains = "GET /v1/domains 200 "
      const missing = "GET /v1/domains/none.test 404 domain_not_found"
      const scope = "GET /v1/email/logs 403 missing_scope"
      const added = "POST /v1/domains 201 "
      const cases: ReadonlyArray<readonly [query: string, found: ReadonlyArray<string>]> = [
        ["?status=403", [scope]],
        ["?status=4xx", [missing, scope]],
        ["?status=2xx,403&path=/v1/domains", [domains, added]],
        ["?status=5xx", []],
        ["?path=/v1/domains", [missing, domains, added]],
        ["?path=/v1/domains/", [missing]],
        [`?api_key_id=${key_id}&path=/v1/domains`, [missing, added]],
        ["?method=POST", [added]],
        [`?created_before=2020-01-01T00:00:00Z`, []],
        [`?created_after=2020-01-01T00:00:00Z&method=POST`, [added]],
      ]
      for (const [query, found] of cases) assert.deepStrictEqual(yield* summaries(query), found, query)
      const [first] = (yield* list("?path=/v1/domains")).data
      assert.deepStrictEqual(yield* summaries(`?request_id=${first.id}`), [missing])
      const page = yield* list("?path=/v1/domains&limit=2")
      assert.deepStrictEqual([page.has_more, page.next_cursor], [true, page.data[1].id])
      assert.deepStrictEqual(yield* summaries(`?path=/v1/domains&limit=2&after=${page.next_cursor}`), [added])
    })

    it.effect("has the calls of a revoked key, and of an exceeded limit, but of no unknown key", function* () {
      const { call, list, summaries, world, account } = yield* setUp
      const { id, secret } = yield* world.key(account)
      yield* call("DELETE", `/v1/api-keys/${id}`)
      yield* world.request("POST", "/v1/email/send", { key: secret, body: EMAIL })
      yield* world.request("POST", "/v1/email/send", { key: `${secret.slice(0, -3)}000`, body: EMAIL })
      yield* world.request("GET", "/v1/domains")
      assert.deepStrictEqual(yield* summaries(`?api_key_id=${id}`), ["POST /v1/email/send 401 api_key_invalid"])
      assert.deepStrictEqual(yield* summaries("?status=401"), ["POST /v1/email/send 401 api_key_invalid"])
      const answers = yield* Effect.all(
        Array.from({ length: 121 }, () => call("GET", "/v1/email/logs?limit=1")),
        { concurrency: 16 },
      )
      const refused = answers.filter(({ status }) => status === 429).length
      assert.isAbove(refused, 0)
      assert.lengthOf((yield* list("?status=429&limit=100")).data, Math.min(100, refused))
    })

    // threat: request-log
    it.effect("shows an account its own calls, and a bound key those of the key", function* () {
      const { call, keyWith, summaries, world, account, list } = yield* setUp
      const { id, secret: bound } = yield* world.key(account, { domain: "acme.test" })
      yield* call("POST", "/v1/email/send", EMAIL)
      const [own] = (yield* list("?method=POST&limit=1")).data
      yield* world.request("POST", "/v1/email/send", { key: bound, body: { ...EMAIL, subject: "bound" } })
      const stranger = yield* setUp
      assert.deepStrictEqual(yield* stranger.summaries("?path=/v1/email"), [])
      assert.strictEqual((yield* stranger.call("GET", `/v1/requests/${own.id}`)).status, 404)
      assert.deepStrictEqual(yield* summaries("?path=/v1/email", bound), ["POST /v1/email/send 200 "])
      const missing = yield* world.request("GET", `/v1/requests/${own.id}`, { key: bound })
      assert.deepStrictEqual(reasonOf(missing), [404, "request_not_found"])
      assert.deepStrictEqual(yield* summaries(`?api_key_id=${own.api_key_id}`, bound), [])
      assert.lengthOf((yield* list(`?api_key_id=${id}&path=/v1/email`)).data, 1)
      const sender = yield* keyWith({ scopes: ["email:send"] })
      assert.strictEqual((yield* world.request("GET", "/v1/requests", { key: sender })).status, 403)
    })

    it.effect("keeps calls of test keys apart", function* () {
      const { call, keyWith, list, summaries } = yield* setUp
      const test = yield* keyWith({ mode: "test" })
      yield* (yield* HttpWorld).request("POST", "/v1/email/send", { key: test, body: EMAIL })
      yield* call("POST", "/v1/email/send", EMAIL)
      const [sent, ...others] = (yield* list("?method=POST", test)).data
      assert.deepStrictEqual([sent.path, sent.livemode, others], ["/v1/email/send", false, []])
      assert.deepStrictEqual(yield* summaries("?path=/v1/email"), ["POST /v1/email/send 200 "])
      assert.strictEqual((yield* call("GET", `/v1/requests/${sent.id}`)).status, 404)
      assert.deepStrictEqual(reasonOf(yield* call("GET", "/v1/requests?livemode=false")), [403, "other_mode"])
    })

    it.effect("forgets a person who is erased", function* () {
      const { call, list } = yield* setUp
      yield* call("POST", "/v1/email/send", { ...EMAIL, to: "Eve Doe <eve@example.org>" })
      yield* call("GET", "/v1/suppressions/eve@example.org?limit=eve@example.org")
      yield* call("POST", "/v1/email/send", EMAIL)
      yield* flush
      yield* Effect.orDie(Erase.erase("eve@example.org" as Address, Mask.replacement(Uint8Array.of(7))))
      const { data } = yield* list("?limit=3")
      assert.include(data[1].path, "erased.invalid")
      assert.isNull(data[1].query)
      const bodies = yield* Effect.forEach([data[0], data[2]], ({ id }) => call("GET", `/v1/requests/${id}`))
      assert.deepStrictEqual(
        bodies.map(({ json }) => json.body === null),
        [false, true],
      )
    })

    it.effect(
      "finds refused calls by their recipients, for their account and key, until a person is erased",
      function* () {
        const { account, call, list, summaries, world } = yield* setUp
        const gone = "Gone <gone@example.org>"
        const elsewhere = { ...EMAIL, from: "hi@other.test" }
        yield* call("POST", "/v1/suppressions", { email: "gone@example.org" })
        yield* call("POST", "/v1/email/send", { ...EMAIL, to: gone })
        yield* call("POST", "/v1/email/send", { ...EMAIL, to: [gone, "ana@example.org"] })
        const large = { attachments: [{ filename: "a.txt", content: "A".repeat(20_000) }] }
        yield* call("POST", "/v1/email/send", { ...large, ...elsewhere, cc: ["Bo <bo@example.org>", gone] })
        yield* call("POST", "/compat/resend/emails", { ...elsewhere, to: "bo@example.org, GONE@example.org" })
        const many = Array.from({ length: 60 }, (_, nth) => ({ ...elsewhere, to: `many${nth}@example.org` }))
        yield* call("POST", "/v1/email/send/batch", { emails: many })
        const { secret: bound } = yield* world.key(account, { domain: "acme.test" })
        yield* world.request("POST", "/v1/email/send", { key: bound, body: { ...EMAIL, to: gone } })
        const [send, resend] = ["POST /v1/email/send 422", "POST /compat/resend/emails 400 validation_failed"]
        const [suppressed, unverified] = [`${send} all_recipients_suppressed`, `${send} domain_not_verified`]
        const query = "?recipient=Gone@Example.org"
        assert.deepStrictEqual(yield* summaries(query), [suppressed, resend, unverified, suppressed])
        assert.deepStrictEqual(yield* summaries(`${query}&status=422&path=/v1`), [suppressed, unverified, suppressed])
        const page = yield* list(`${query}&limit=3`)
        assert.deepStrictEqual(yield* summaries(`${query}&after=${page.next_cursor}`), [suppressed])
        assert.deepStrictEqual(yield* summaries(query, bound), [suppressed])
        assert.deepStrictEqual(yield* (yield* setUp).summaries(query), [])
        for (const [name, found] of Object.entries({ ana: 1, bo: 2, many0: 1, many49: 1, many50: 0 }))
          assert.lengthOf(yield* summaries(`?recipient=${name}@example.org`), found, name)
        yield* Effect.orDie(Erase.erase("gone@example.org" as Address, Mask.replacement(Uint8Array.of(8))))
        assert.deepStrictEqual(yield* summaries(query), [])
        assert.lengthOf(yield* summaries("?recipient=bo@example.org"), 2)
      },
    )

    it.effect("has a call whose client left before the answer, without a status", function* () {
      const { account, key, list, world } = yield* setUp
      const other = yield* otherClient((yield* Database.Fresh).url)
      yield* other.query("BEGIN")
      yield* other.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [ACCOUNT_LOCK, account])
      const body = JSON.stringify(EMAIL)
      const client = http.request(`${world.url}/v1/email/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      })
      client.on("error", () => {})
      client.end(body)
      yield* blockedBackend(other)
      client.destroy()
      const calls = list("?method=POST&path=/v1/email/send")
      const [left] = (yield* Effect.repeat(calls, { until: ({ data }) => data.length > 0 })).data
      yield* other.query("COMMIT")
      assert.deepInclude(left, { status: null, reason: null, body_bytes: body.length })
    })
  },
)
