import { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as ExpiredKeys from "@waybill/store/idempotency/ExpiredKeys"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as WallClock from "../../support/WallClock.ts"
import { EMAIL, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

/** Margin for slow machines between a request and the check of its time. */
const MARGIN_MS = 60_000

layer(HttpWorld.layer({ allowedNetworks: ["127.0.0.0/8"] }), { excludeTestServices: true, timeout: "90 seconds" })(
  "an idempotency key",
  (it) => {
    const setUp = Effect.map(signUp({ domains: ["acme.test"] }), (customer) => ({
      ...customer,
      post: (path: string, idempotency: string, body?: unknown) =>
        customer.call("POST", path, body, { "idempotency-key": idempotency }),
      logged: Effect.map(customer.call("GET", "/v1/email/logs?limit=100"), ({ json }) => json.data.length as number),
    }))

    it.effect("repeats the first answer byte for byte, with a header that says so", function* () {
      const { logged, post } = yield* setUp
      const first = yield* post("/v1/email/send", "a", EMAIL)
      const again = yield* post("/v1/email/send", "a", EMAIL)
      assert.strictEqual(first.headers.get("idempotent-replayed"), null)
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(yield* logged, 1)
    })

    it.effect("must be 1 to 255 printable characters; other violations are reported with it", function* () {
      const { post } = yield* setUp
      for (const key of ["!", `${"~ ".repeat(127)}~`]) {
        const first = yield* post("/v1/email/send", key, EMAIL)
        assert.strictEqual(first.status, 200)
        assert.strictEqual((yield* post("/v1/email/send", key, EMAIL)).text, first.text)
      }
      const bad: ReadonlyArray<readonly [path: string, body: unknown, details: ReadonlyArray<string>]> = [
        ["/v1/email/send", { from: "hi@acme.test", to: "x" }, ["to", "subject"]],
        ["/v1/email/send/batch", { emails: [] }, ["emails"]],
        ["/v1/domains", { name: 7 }, ["name"]],
        ["/v1/email/send", undefined, [""]],
        ["/v1/email/msg_01k9zzzzzzzzzzzzzzzzzzzzzz/cancel", undefined, []],
      ]
      for (const [path, body, details] of bad) {
        const { json, status } = yield* post(path, "k".repeat(256), body)
        assert.deepStrictEqual(reasonOf({ json, status }), [400, "validation_failed"], path)
        assert.deepStrictEqual(
          json.error.details.map((each: { path: string }) => each.path),
          ["Idempotency-Key", ...details],
          path,
        )
      }
    })

    it.effect("compares requests by their values, not their spelling", function* () {
      const { key, world, post } = yield* setUp
      const first = yield* post("/v1/email/send", "b", EMAIL)
      const raw = `{ "text": "Hi",\n "subject": "Hello", "to": ["ana@example.org"], "from": "Acme <hi@acme.test>", "html": null }`
      const again = yield* world.request("POST", "/v1/email/send", { key, raw, headers: { "idempotency-key": "b" } })
      assert.strictEqual(again.text, first.text)
    })

    it.effect("is refused with another body", function* () {
      const { logged, post } = yield* setUp
      yield* post("/v1/email/send", "c", EMAIL)
      const refused = yield* post("/v1/email/send", "c", { ...EMAIL, subject: "Other" })
      assert.deepStrictEqual(reasonOf(refused), [422, "idempotency_key_reused"])
      assert.strictEqual(yield* logged, 1)
    })

    it.effect("is refused with another batch, also where the differing messages are malformed alike", function* () {
      const { post } = yield* setUp
      const batch = (bad: object) =>
        post("/v1/email/send/batch", "j", { mode: "permissive", emails: [EMAIL, { ...EMAIL, ...bad }] })
      const first = yield* batch({ to: "x" })
      assert.strictEqual(first.status, 200)
      assert.strictEqual((yield* batch({ to: "x" })).text, first.text)
      for (const other of [{ to: "y" }, { to: "x", text: "Other" }])
        assert.strictEqual((yield* batch(other)).json.error?.reason, "idempotency_key_reused")
    })

    it.effect("is separate per route", function* () {
      const { logged, post } = yield* setUp
      assert.strictEqual((yield* post("/v1/email/send", "d", EMAIL)).status, 200)
      assert.strictEqual((yield* post("/v1/email/send/batch", "d", { emails: [EMAIL] })).status, 200)
      assert.strictEqual(yield* logged, 2)
    })

    it.effect("stores only successful answers", function* () {
      const { post } = yield* setUp
      const bad = { ...EMAIL, from: "hi@later.test" }
      assert.strictEqual((yield* post("/v1/email/send", "e", bad)).status, 422)
      assert.strictEqual((yield* post("/v1/domains", "e", { name: "later.test" })).status, 201)
      const { headers, status } = yield* post("/v1/email/send", "e", bad)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("idempotent-replayed"), null)
    })

    it.effect("commits one of many concurrent duplicates and answers all alike", function* () {
      const { logged, post } = yield* setUp
      const answers = yield* Effect.forEach(Array.from({ length: 20 }), () => post("/v1/email/send", "f", EMAIL), {
        concurrency: "unbounded",
      })
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      assert.strictEqual(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null).length, 1)
      assert.strictEqual(yield* logged, 1)
    })

    it.effect("works on every POST, also for answers with secrets", function* () {
      const { call, post } = yield* setUp
      const soon = new Date(Date.now() + 3_600_000).toISOString()
      const email = (yield* post("/v1/email/send", "g", { ...EMAIL, scheduled_at: soon })).json.id
      const webhook = (yield* post("/v1/webhooks", "g", { url: "https://example.org/", events: ["email.queued"] })).json
        .id
      yield* post("/v1/email/send", "h", EMAIL)
      const delivery = (yield* call("GET", `/v1/webhooks/${webhook}/deliveries`)).json.data[0].id
      const calls: ReadonlyArray<readonly [path: string, body: unknown, status: number]> = [
        ["/v1/email/send/batch", { emails: [EMAIL, EMAIL] }, 200],
        [`/v1/email/${email}/cancel`, undefined, 200],
        [`/v1/email/${email}/resend`, undefined, 200],
        ["/v1/domains", { name: "more.test" }, 201],
        ["/v1/domains/more.test/verify", undefined, 200],
        ["/v1/domains/more.test/dkim/rotate", undefined, 200],
        ["/v1/domains/more.test/dkim/ed25519", undefined, 200],
        ["/v1/domains/more.test/dkim/ed25519/rotate", undefined, 200],
        ["/v1/api-keys", { name: "k", scopes: ["email:send"] }, 201],
        ["/v1/webhooks", { url: "https://example.org/2", events: ["*"] }, 201],
        [`/v1/webhooks/${webhook}/rotate-secret`, undefined, 200],
        [`/v1/webhooks/${webhook}/test`, undefined, 202],
        [
          `/v1/webhooks/${webhook}/replay`,
          { created_after: "2020-01-01T00:00:00Z", created_before: "2040-01-01T00:00:00Z" },
          202,
        ],
        [`/v1/webhooks/${webhook}/deliveries/${delivery}/replay`, undefined, 202],
        ["/v1/suppressions", { email: "gone@example.org" }, 201],
      ]
      for (const [path, body, status] of calls) {
        const first = yield* post(path, "once", body)
        const again = yield* post(path, "once", body)
        assert.strictEqual(first.status, status, `${path}: ${first.text}`)
        assert.strictEqual(again.status, status, path)
        assert.strictEqual(again.text, first.text, path)
        assert.strictEqual(first.headers.get("idempotent-replayed"), null, path)
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true", path)
      }
    })

    it.effect("repeats its answer after the resource changed or was removed, without side effects", function* () {
      const { account, call, post, world } = yield* setUp
      const queued = (yield* call("POST", "/v1/email/send", EMAIL)).json.id
      const webhook = { url: "https://example.org/", events: ["email.queued"] }
      const [called, gone] = [
        (yield* call("POST", "/v1/webhooks", webhook)).json.id,
        (yield* call("POST", "/v1/webhooks", webhook)).json.id,
      ]
      yield* call("POST", "/v1/email/send", EMAIL)
      const delivery = (yield* call("GET", `/v1/webhooks/${called}/deliveries`)).json.data[0].id
      // Only mail that is no longer sent to its recipients is resent.
      yield* call("POST", `/v1/email/${queued}/cancel`)
      // Not a reserved name, so that every check is recorded.
      yield* call("POST", "/v1/domains", { name: "old.dev" })
      const ever = { created_after: "2020-01-01T00:00:00Z", created_before: "2040-01-01T00:00:00Z" }
      const calls: ReadonlyArray<readonly [path: string, body: unknown, anew: number]> = [
        [`/v1/email/${queued}/resend`, undefined, 422],
        [`/v1/webhooks/${called}/test`, undefined, 422],
        [`/v1/webhooks/${called}/deliveries/${delivery}/replay`, undefined, 422],
        [`/v1/webhooks/${called}/replay`, ever, 422],
        [`/v1/webhooks/${gone}/rotate-secret`, undefined, 404],
        ["/v1/webhooks", { ...webhook, description: "another" }, 201],
        ["/v1/domains/old.dev/verify", undefined, 404],
        ["/v1/domains/old.dev/dkim/rotate", undefined, 404],
        ["/v1/domains/old.dev/dkim/ed25519", undefined, 404],
        ["/v1/domains/old.dev/dkim/ed25519/rotate", undefined, 404],
        ["/v1/domains", { name: "new.dev" }, 201],
      ]
      const first = yield* Effect.forEach(calls, ([path, body]) => post(path, "once", body))
      for (const { status, text } of first) assert.isBelow(status, 300, text)

      yield* world.sql`DELETE FROM content WHERE account_id = ${account}`
      yield* call("PATCH", `/v1/webhooks/${called}`, { enabled: false })
      for (const path of [`webhooks/${gone}`, "domains/old.dev", "domains/new.dev"])
        assert.strictEqual((yield* call("DELETE", `/v1/${path}`)).status, 200, path)
      for (const [path, body, anew] of calls) assert.strictEqual((yield* post(path, "anew", body)).status, anew, path)

      // Sealed secrets and queued work are shown to nobody.
      const traces = world.sql`
          SELECT (SELECT count(*) FROM events WHERE account_id = ${account})::int AS events,
            (SELECT count(*) FROM secrets WHERE account_id = ${account})::int AS secrets,
            (SELECT count(*) FROM outbox WHERE account_id = ${account})::int AS work`
      const before = yield* traces
      for (const [nth, [path, body]] of calls.entries()) {
        const again = yield* post(path, "once", body)
        assert.strictEqual(again.text, first[nth]?.text, path)
        assert.strictEqual(again.status, first[nth]?.status, path)
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true", path)
      }
      assert.deepStrictEqual(yield* traces, before)
      const other = yield* post(`/v1/webhooks/${called}/replay`, "once", { ...ever, events: ["email.sent"] })
      assert.strictEqual(other.json.error.reason, "idempotency_key_reused")
    })

    it.effect("expires after 24 hours", function* () {
      const { key, post, world } = yield* setUp
      const first = yield* post("/v1/email/send", "l", EMAIL)
      const nodeAt = (ahead_ms: number) => WallClock.withWallClockShifted(ahead_ms)(world.another)
      const [before, after] = [yield* nodeAt(Timestamp.DAY - MARGIN_MS), yield* nodeAt(Timestamp.DAY + MARGIN_MS)]
      const request = (node: string, subject: string) =>
        world.request("POST", "/v1/email/send", {
          key,
          node,
          body: { ...EMAIL, subject },
          headers: { "idempotency-key": "l" },
        })
      assert.strictEqual((yield* request(before, EMAIL.subject)).text, first.text)
      assert.strictEqual((yield* request(before, "Other")).json.error.reason, "idempotency_key_reused")
      const anew = yield* request(after, "Other")
      assert.deepStrictEqual([anew.status, anew.headers.get("idempotent-replayed")], [200, null])
      assert.notStrictEqual(anew.json.id, first.json.id)
      assert.strictEqual((yield* request(after, "Other")).text, anew.text)
    })

    it.effect("is deleted from the database after it expired", function* () {
      const { account, key, post, world } = yield* setUp
      const node = yield* WallClock.withWallClockShifted(-3 * Timestamp.DAY)(world.another)
      for (const each of ["m", "n"])
        yield* world.request("POST", "/v1/email/send", {
          key,
          node,
          body: EMAIL,
          headers: { "idempotency-key": each },
        })
      const queued = yield* post("/v1/email/send", "o", EMAIL)
      // Nobody is shown the keys that are stored.
      const keys = world.sql`SELECT key FROM idempotency_keys WHERE account_id = ${account} ORDER BY key`
      assert.strictEqual((yield* keys).length, 3)
      yield* Effect.provideService(ExpiredKeys.expire(), PgClient.PgClient, world.sql.driver)
      assert.deepStrictEqual(yield* keys, [{ key: "o" }])
      assert.strictEqual((yield* post("/v1/email/send", "o", EMAIL)).text, queued.text)
    })

    // threat: shown-secrets
    it.effect("leaves no secret readable in the database", function* () {
      const { post } = yield* setUp
      const { sql } = yield* HttpWorld
      const key = (yield* post("/v1/api-keys", "i", { name: "k", scopes: ["admin"] })).json.key as string
      const { secret } = (yield* post("/v1/webhooks", "i", { url: "https://example.org/", events: ["*"] })).json
      const rows = yield* sql`
        SELECT (SELECT string_agg(encode(answer, 'escape'), '') FROM idempotency_keys)
          || (SELECT string_agg(encode(ciphertext, 'escape'), '') FROM secrets)
          || (SELECT string_agg(coalesce(packed, data::text), '') FROM events) AS everything`
      const everything = String(rows[0]?.["everything"])
      assert.notInclude(everything, key)
      assert.notInclude(everything, secret)
    })
  },
)
