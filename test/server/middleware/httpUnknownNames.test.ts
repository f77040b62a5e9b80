import { Api } from "@waybill/api/Api"
import * as UnknownNames from "@waybill/api/errors/UnknownNames"
import * as Violations from "@waybill/api/errors/Violations"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const MESSAGE = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" }
const WEBHOOK = { url: "https://example.org/hook", events: ["*"] }
const SCHEDULED = "2026-11-21T10:00:00Z"

/** An id of each kind that matches nothing. */
const IDS: Readonly<Record<string, string>> = {
  "/email/": "msg",
  "/sandbox/": "msg",
  "/inbound/routes/": "rte",
  "/inbound/": "inb",
  "/threads/": "thr",
  "/templates/": "tpl",
  "/webhooks/": "whk",
  "/api-keys/": "key",
  "/members/": "usr",
  "/requests/": "req",
  "/clocks/": "clk",
}
const idIn = (path: string): string =>
  `${Object.entries(IDS).find(([part]) => path.includes(part))?.[1] ?? "x"}_${"0".repeat(26)}`
const filled = (path: string): string =>
  path
    .replace("{domain}", "acme.test")
    .replace("{email}", "ana@example.org")
    .replace("{delivery_id}", `whd_${"0".repeat(26)}`)
    .replace("{number}", "1")
    .replaceAll(/\{\w+\}/gu, idIn(path))

const operations = Object.entries(OpenApi.fromApi(Api).paths)
  .filter(([path]) => path.startsWith("/v1/"))
  .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const))

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  const { secret: test } = yield* world.key(account, { mode: "test" })
  yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
  const refusal = (method: string, path: string, body?: unknown) =>
    Effect.map(
      world.request(method, path, { key: path.startsWith("/v1/test/") ? test : key, body }),
      ({ json, status }) => {
        assert.deepStrictEqual(
          [status, json.error?.code, json.error?.reason],
          [400, "invalid_request", "unknown_field"],
          `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}`,
        )
        return json.error as { message: string; details: ReadonlyArray<{ path: string; message: string }> }
      },
    )
  return { world, key, refusal }
})

type Case = readonly [method: string, path: string, body: unknown, at: string, nearest: string]

const FIELDS: ReadonlyArray<Case> = [
  ["POST", "/v1/email/send", { ...MESSAGE, scheduledAt: SCHEDULED }, "scheduledAt", "scheduled_at"],
  ["POST", "/v1/email/send", { ...MESSAGE, replyTo: "a@b.org" }, "replyTo", "reply_to"],
  ["POST", "/v1/email/send", { ...MESSAGE, Bcc: "a@b.org" }, "Bcc", "bcc"],
  ["POST", "/v1/email/send", { ...MESSAGE, tag: "x" }, "tag", "tags"],
  ["POST", "/v1/email/send", { ...MESSAGE, tracking: { open: true } }, "tracking.open", "opens"],
  [
    "POST",
    "/v1/email/send",
    {
      ...MESSAGE,
      attachments: [
        { filename: "a", content: "" },
        { filename: "b", content: "", contentType: "a/b" },
      ],
    },
    "attachments[1].contentType",
    "content_type",
  ],
  ["POST", "/v1/email/send/batch", { emails: [MESSAGE], Mode: "permissive" }, "Mode", "mode"],
  [
    "POST",
    "/v1/email/send/batch",
    { emails: [MESSAGE, { ...MESSAGE, scheduledAt: SCHEDULED }] },
    "emails[1].scheduledAt",
    "scheduled_at",
  ],
  ["PATCH", "/v1/domains/acme.test", { open_track: true }, "open_track", "open_tracking"],
  ["POST", "/v1/domains", { name: "b.test", tracking: true }, "tracking", ""],
  ["POST", "/v1/api-keys", { name: "n", scopes: ["admin"], expiresAt: SCHEDULED }, "expiresAt", "expires_at"],
  ["POST", "/v1/api-keys", { name: "n", scopes: ["admin"], ips: ["10.0.0.1"] }, "ips", ""],
  ["POST", "/v1/webhooks", { ...WEBHOOK, event: "x" }, "event", "events"],
  ["POST", "/v1/webhooks", { ...WEBHOOK, secret: "whsec_x" }, "secret", ""],
  ["POST", "/v1/suppressions", { email: "a@b.org", cause: "manual" }, "cause", ""],
  ["POST", "/v1/members", { email: "a@b.org", role: "viewer", Name: "A" }, "Name", "name"],
]

const QUERIES: ReadonlyArray<readonly [path: string, name: string, nearest: string]> = [
  ["/v1/email/logs?recipients=ana@example.org", "recipients", "recipient"],
  ["/v1/email/logs?page=2", "page", ""],
  ["/v1/email/logs?Status=queued", "Status", "status"],
  ["/v1/email/logs?createdAfter=2026-11-21T10:00:00Z", "createdAfter", "created_after"],
  ["/v1/email/logs?tag[]=a", "tag[]", "tag"],
  ["/v1/email/logs;page=2", "page", ""],
  ["/v1/email/logs?__proto__=1", "__proto__", ""],
  ["/v1/domains?limit=100", "limit", ""],
  ["/v1/events?after=0", "after", "after_position"],
  ["/v1/events/stream?type=email.queued", "type", "types"],
  ["/v1/stats?groupBy=day", "groupBy", "group_by"],
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })(
  "unknown fields and parameters",
  (it) => {
    it.effect("are refused by every endpoint", function* () {
      let { refusal } = yield* setUp
      assert.isAbove(operations.length, 40)
      for (const [nth, [method, path]] of operations.entries()) {
        // Another account before the request rate of one is used up.
        if (nth % 40 === 39) refusal = (yield* setUp).refusal
        const target = filled(path)
        const inQuery = yield* refusal(method, `${target}?zz=1`)
        assert.include(
          inQuery.details.map((detail) => detail.path),
          "zz",
          `${method} ${path}`,
        )
        if (method === "GET") continue
        const inBody = yield* refusal(method, target, { zz: 1 })
        assert.include(
          inBody.details.map((detail) => detail.path),
          "zz",
          `${method} ${path}`,
        )
      }
    })

    it.effect("are refused with the nearest known name, or all known ones", function* () {
      const { refusal } = yield* setUp
      for (const [method, path, body, at, nearest] of FIELDS) {
        const { details, message } = yield* refusal(method, path, body)
        const advice = nearest === "" ? "known are " : `did you mean \`${nearest}\`?`
        assert.deepStrictEqual(
          details.map((detail) => detail.path),
          [at],
        )
        assert.isTrue(details[0]?.message.startsWith(`is an unknown field; ${advice}`), details[0]?.message)
        const name = at.slice(at.lastIndexOf(".") + 1)
        assert.include(message, `unknown field \`${name}\`; ${advice}`)
      }
      for (const [path, name, nearest] of QUERIES) {
        const { details, message } = yield* refusal("GET", path)
        const advice = nearest === "" ? /(?:known are |takes none)/u : `did you mean \`${nearest}\`?`
        assert.deepStrictEqual(
          details.map((detail) => detail.path),
          [name],
        )
        assert.include(message, `The query has an unknown parameter \`${name}\`; `)
        if (typeof advice === "string") assert.include(message, advice)
        else assert.match(message, advice)
      }
    })

    it.effect("are said as the contract says it", function* () {
      const { refusal } = yield* setUp
      const sent = yield* refusal("POST", "/v1/email/send", { ...MESSAGE, scheduledAt: SCHEDULED })
      assert.strictEqual(sent.message, "The body has an unknown field `scheduledAt`; did you mean `scheduled_at`?")
      const listed = yield* refusal("POST", "/v1/email/send", { ...MESSAGE, webinar: "t" })
      assert.strictEqual(
        listed.message,
        "The body has an unknown field `webinar`; known are from, to, subject, html, text, cc, bcc, reply_to, headers, tags, scheduled_at, attachments, list_unsubscribe, metadata, accept_suppressed, reply_tracking, tracking, template.",
      )
      const nested = yield* refusal("POST", "/v1/email/send", {
        ...MESSAGE,
        attachments: [{ filename: "a", content: "", contentId: "b" }],
      })
      assert.strictEqual(
        nested.message,
        "`attachments[0]` has an unknown field `contentId`; did you mean `content_id`?",
      )
    })

    it.effect("are listed with all other violations of headers, query and body", function* () {
      const { key, world } = yield* setUp
      const { json } = yield* world.request("POST", "/v1/email/send?dry_run=1&=x", {
        key,
        headers: { "idempotency-key": "x".repeat(300) },
        body: { ...MESSAGE, subject: 7, replyTo: "a@b.org", Html: "x" },
      })
      assert.strictEqual(json.error.reason, "unknown_field")
      assert.sameMembers(
        json.error.details.map(({ path }: { path: string }) => path),
        ["dry_run", "", "Idempotency-Key", "replyTo", "Html", "subject"],
      )
    })

    it.effect("are refused before an unknown object, and after a path that matches nothing", function* () {
      const { key, world, refusal } = yield* setUp
      yield* refusal("GET", `/v1/email/logs/msg_${"0".repeat(26)}?at=1`)
      assert.strictEqual((yield* world.request("GET", "/v1/email/logs/none?at=1", { key })).status, 404)
    })

    it.effect("are shown shortened, printable and without keys, in limited number", function* () {
      const { key, refusal } = yield* setUp
      const names = ["x".repeat(5_000), "a\r\nb`c", key, ...Array.from({ length: 900 }, (_, nth) => `n${nth}`)]
      const { details } = yield* refusal("POST", "/v1/email/send", {
        ...MESSAGE,
        ...Object.fromEntries(names.map((name) => [name, 1])),
      })
      assert.strictEqual(details.length, Violations.MAX_DETAILS)
      assert.deepStrictEqual(
        details.slice(0, 3).map(({ path }) => path),
        ["x".repeat(UnknownNames.MAX_SHOWN_NAME_CHARS), "a??b?c", "wb_…"],
      )
    })

    it.effect("cost a permissive batch only the message that has them", function* () {
      const { key, world } = yield* setUp
      const body = { mode: "permissive", emails: [MESSAGE, { ...MESSAGE, replyTo: "a@b.org" }] }
      const { json, status } = yield* world.request("POST", "/v1/email/send/batch", { key, body })
      assert.strictEqual(status, 200)
      assert.isNull(json.data[0].error)
      assert.deepStrictEqual([json.data[1].error.reason, json.data[1].id], ["unknown_field", null])
    })
  },
)

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the query", (it) => {
  it.effect("names a parameter that is given twice, and takes a list where one is meant", function* () {
    const { key, world } = yield* setUp
    const twice = yield* world.request("GET", "/v1/email/logs?limit=1&limit=2&status=nonsense", { key })
    assert.deepStrictEqual([twice.status, twice.json.error.reason], [400, "validation_failed"])
    assert.deepStrictEqual(twice.json.error.details[0], { path: "limit", message: "is given 2 times; give it once" })
    assert.strictEqual(twice.json.error.details[1].path, "status")
    assert.strictEqual((yield* world.request("GET", "/v1/email/logs?tag=a&tag=b", { key })).status, 200)
    const nameless = yield* world.request("GET", "/v1/email/logs?=1", { key })
    assert.strictEqual(nameless.json.error.message, "The query has a parameter without a name.")
    for (const path of ["/v1/email/logs?", "/v1/email/logs?&&", "/v1/domains?#x"])
      assert.strictEqual((yield* world.request("GET", path, { key })).status, 200, path)
  })

  it.effect("an endpoint without a body takes an empty one", function* () {
    const { key, world } = yield* setUp
    for (const raw of ["", "{}", " {} ", "null"])
      assert.strictEqual((yield* world.request("POST", "/v1/domains/acme.test/verify", { key, raw })).status, 200, raw)
    for (const [raw, reason] of [
      ["[]", "validation_failed"],
      ["7", "validation_failed"],
      ["{", "malformed_json"],
      ['{"force":true}', "unknown_field"],
    ] as const) {
      const { json, status } = yield* world.request("POST", "/v1/domains/acme.test/verify", { key, raw })
      assert.deepStrictEqual([status, json.error?.reason], [400, reason], raw)
    }
  })
})
