import { Api } from "@waybill/api/Api"
import * as BoundKeys from "@waybill/api/BoundKeys"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as Email from "@waybill/domain/email/Email"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import * as NewApiKeys from "../../../apps/server/src/operate/NewApiKeys.ts"
import { assert, describe, it as plain, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp, statusesOf } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"

const SECRETS = ["second.example.org", "gone@example.org", "Second subject", "other.test"]
const LATER = "2030-01-01T00:00:00Z"
const HOUR = "2026-11-01T10:00:00Z"

/** Creates an account with two domains, one resource of each kind for each, and an admin key bound to the first one. */
const setUp = Effect.gen(function* () {
  const { account, key: whole, keyWith, world } = yield* signUp()
  const { id: bound_id, secret: bound } = yield* world.key(account, { domain: "acme.test" })
  const { id: other_id, secret: other } = yield* world.key(account, { domain: "other.test" })
  const request = (key: string, method: string, path: string, body?: unknown, headers = {}) =>
    world.request(method, path, { key, headers, body })
  const domains = yield* Effect.forEach(["acme.test", "other.test"], (name) =>
    Effect.map(request(whole, "POST", "/v1/domains", { name }), ({ json }) => json.id as string),
  )
  const send = (from: string, subject: string, to: string) =>
    Effect.map(
      request(whole, "POST", "/v1/email/send", { from: `hi@${from}`, to, subject, scheduled_at: soon() }),
      ({ json }) => json.id as string,
    )
  const mail = yield* send("acme.test", "First subject", "ana@first.example.org")
  const others = yield* send("other.test", "Second subject", "bo@second.example.org")
  const receive = (to: string, subject: string) =>
    Effect.map(
      request(whole, "POST", "/v1/test/inbound", { from: "bo@second.example.org", to: `hi@${to}`, subject }),
      ({ json }) => json.id as string,
    )
  const received = yield* receive("acme.test", "First subject")
  const othersReceived = yield* receive("other.test", "Second subject")
  yield* request(whole, "POST", "/v1/suppressions", { email: "gone@example.org" })
  const webhook = (yield* request(whole, "POST", "/v1/webhooks", { url: "https://example.org/x", events: ["*"] })).json
    .id
  for (const [id, subject] of [
    [mail, "First subject"],
    [others, "Second subject"],
  ])
    yield* Effect.orDie(world.sql`
      INSERT INTO sandbox_messages (account_id, id, recipients, subject, mail_from, size_bytes, bytes, expires_at)
      VALUES (${account}, ${id}, '{}', ${subject}, '', 0, ''::bytea, now() + interval '1 day')`)
  for (const domain of ["acme.test", "other.test"])
    yield* Effect.orDie(world.sql`
      INSERT INTO email_stats (account_id, tag, hour, domain, measure, bucket, count)
      VALUES (${account}, '', ${HOUR}::timestamptz, ${domain}, 'accepted', 0, ${domain === "acme.test" ? 1 : 41})`)
  const keys = { whole, bound, bound_id, other, other_id, keyWith }
  return { world, account, ...keys, request, domains, mail, others, received, othersReceived, webhook }
})

const soon = () => new Date(Date.now() + 3_600_000).toISOString()

type SetUp = Effect.Success<typeof setUp>

/** Request that names a resource of the other domain; a case with only `path` is a GET of a list. */
interface Case {
  readonly path?: (at: SetUp) => string
  readonly body?: unknown
}

const ofMail = (suffix = "", body?: unknown): Case => ({ path: ({ others }) => `/v1/email/${others}${suffix}`, body })
const ofDomain = (suffix = "", body?: unknown): Case => ({ path: () => `/v1/domains/other.test${suffix}`, body })
const message = { from: "hi@other.test", to: "bo@second.example.org", subject: "x" }

const ofReceived = (suffix = "", body?: unknown): Case => ({
  path: ({ othersReceived }) => `/v1/inbound/${othersReceived}${suffix}`,
  body,
})

/** Endpoints that name a resource. A bound key gets a 403 for a resource of another domain. */
const NAMED: Readonly<Record<string, Case>> = {
  "emails.send": { path: () => "/v1/email/send", body: message },
  "emails.sendBatch": { path: () => "/v1/email/send/batch", body: { emails: [message] } },
  "emails.get": { path: ({ others }) => `/v1/email/${others}` },
  "emails.cancel": ofMail("/cancel"),
  "emails.reschedule": ofMail("", { scheduled_at: LATER }),
  "emails.resend": ofMail("/resend"),
  "emails.receipt": ofMail("/receipt"),
  "logs.get": { path: ({ others }) => `/v1/email/logs/${others}` },
  "logs.events": { path: ({ others }) => `/v1/email/logs/${others}/events` },
  "inbound.get": ofReceived(),
  "inbound.raw": ofReceived("/raw"),
  "inbound.receipt": ofReceived("/receipt"),
  "inbound.attachment": ofReceived("/attachments/att_1"),
  "inbound.remove": ofReceived(),
  "inbound.replay": ofReceived("/replay"),
  "inbound.forward": ofReceived("/forward", { to: "bo@example.org" }),
  "inbound.reply": ofReceived("/reply", { from: "hi@acme.test", text: "x" }),
  "inbound.test": { path: () => "/v1/test/inbound", body: { from: "a@b.test", to: "hi@other.test" } },
  "domains.get": ofDomain(),
  "domains.dmarc": ofDomain("/dmarc"),
  "domains.tls": ofDomain("/tls"),
  "domains.add": { path: () => "/v1/domains", body: { name: "third.test" } },
  "domains.verify": ofDomain("/verify"),
  "domains.rotateDkim": ofDomain("/dkim/rotate"),
  "domains.addEd25519": ofDomain("/dkim/ed25519"),
  "domains.rotateEd25519": ofDomain("/dkim/ed25519/rotate"),
  "domains.removeEd25519": ofDomain("/dkim/ed25519"),
  "domains.update": ofDomain("", { open_tracking: false }),
  "domains.remove": ofDomain(),
  "apiKeys.get": { path: ({ other_id }) => `/v1/api-keys/${other_id}` },
  "apiKeys.create": { path: () => "/v1/api-keys", body: { name: "x", scopes: ["admin"], domain: "other.test" } },
  "apiKeys.revoke": { path: ({ other_id }) => `/v1/api-keys/${other_id}` },
}

/** Endpoints that name no resource. They show or change only what belongs to the domain of the key. */
const FILTERED: ReadonlyArray<string> = [
  "logs.list",
  "inbound.list",
  "domains.list",
  "apiKeys.list",
  "sandbox.list",
  "sandbox.get",
  "sandbox.remove",
  "sandbox.clear",
  "stats.get",
]

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
}

const operations: ReadonlyArray<Operation> = Object.entries(OpenApi.fromApi(Api).paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, { readonly operationId: string }>).map(([method, { operationId }]) => ({
    id: operationId,
    method: method.toUpperCase(),
    path,
  })),
)
const underV1 = operations.filter(({ path }) => path.startsWith("/v1/"))
const ruleOf = ({ id }: Operation) => BoundKeys.ruleOf(...(id.split(".") as [string, string]))

describe("bound keys", () => {
  // threat: bound-keys
  plain("every endpoint has a rule for bound keys and a test of the rule", () => {
    for (const { id } of underV1) assert.property(BoundKeys.RULES, id.split(".", 1)[0] ?? "")
    assert.sameMembers(
      underV1.filter((each) => ruleOf(each) === "own domain").map(({ id }) => id),
      [...Object.keys(NAMED), ...FILTERED],
    )
    assert.strictEqual(BoundKeys.ruleOf("letters", "burn"), "whole account")
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a key bound to a domain", (it) => {
  // threat: bound-keys
  it.effect(
    "gets a 403 at every endpoint that names a resource of another domain, which stays unchanged",
    function* () {
      const at = yield* setUp
      for (const operation of underV1) {
        const testCase = NAMED[operation.id]
        if (testCase === undefined) continue
        const path = testCase.path?.(at) ?? operation.path
        const { json, status, text } = yield* at.request(at.bound, operation.method, path, testCase.body)
        const reasons = operation.id === "apiKeys.create" ? "more_than_the_key" : "domain_not_allowed"
        assert.deepStrictEqual([operation.id, status, json?.error?.reason], [operation.id, 403, reasons])
        for (const secret of ["second.example.org", "Second subject"]) assert.notInclude(text, secret, operation.id)
      }
      const record = (yield* at.request(at.whole, "GET", `/v1/email/logs/${at.others}`)).json
      assert.deepStrictEqual([record.status, record.version], ["queued", 1])
      assert.strictEqual((yield* at.request(at.whole, "GET", "/v1/domains/other.test")).status, 200)
      assert.strictEqual((yield* at.request(at.other, "GET", "/v1/session")).status, 200)
    },
  )

  // threat: bound-keys
  it.effect("gets a 403 at every endpoint that belongs to the whole account", function* () {
    const at = yield* setUp
    const whole = underV1.filter((each) => ruleOf(each) === "whole account")
    assert.isAbove(whole.length, 20)
    for (const { id, method, path } of whole) {
      const filled = path
        .replace("{delivery_id}", "whd_00000000000000000000000000")
        .replace("{email}", "gone@example.org")
        .replace("{template}", "receipt")
        .replace("{id}", path.includes("/webhooks/") ? at.webhook : "usr_00000000000000000000000000")
      const { json, status, text } = yield* at.request(at.bound, method, filled, method === "POST" ? {} : undefined)
      assert.deepStrictEqual([id, status, json?.error?.reason], [id, 403, "domain_not_allowed"])
      for (const secret of SECRETS) assert.notInclude(text, secret, id)
    }
  })

  // threat: bound-keys
  it.effect("lists, counts and deletes only what belongs to its domain", function* () {
    const at = yield* setUp
    const get = (path: string) => at.request(at.bound, "GET", path)
    const ids = (path: string) =>
      Effect.map(get(path), ({ json }) => json.data.map(({ id }: { readonly id: string }) => id))
    assert.deepStrictEqual(yield* ids("/v1/email/logs"), [at.mail])
    assert.deepStrictEqual(yield* ids("/v1/email/logs?status=queued&domain=acme.test"), [at.mail])
    assert.deepStrictEqual(yield* ids("/v1/email/logs?from=hi@other.test"), [])
    assert.deepStrictEqual(yield* ids("/v1/email/logs?to=bo@second.example.org"), [])
    assert.deepStrictEqual(yield* ids("/v1/email/logs?subject=subject"), [at.mail])
    assert.strictEqual((yield* get("/v1/email/logs?domain=other.test")).json.error.reason, "domain_not_allowed")
    assert.deepStrictEqual(yield* ids("/v1/inbound"), [at.received])
    assert.strictEqual((yield* get("/v1/inbound?domain=other.test")).json.error.reason, "domain_not_allowed")
    assert.deepStrictEqual(yield* ids("/v1/domains"), [at.domains[0]])
    assert.deepStrictEqual(yield* ids("/v1/api-keys"), [at.bound_id])
    assert.deepStrictEqual(yield* ids("/v1/sandbox/messages"), [at.mail])
    const stretch = "from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z"
    for (const group of ["", "&group_by=domain"]) {
      const { data } = (yield* get(`/v1/stats?${stretch}${group}`)).json
      assert.deepStrictEqual(
        data.map(({ accepted }: { readonly accepted: number }) => accepted),
        [1],
      )
    }
    assert.strictEqual((yield* get(`/v1/stats?${stretch}&domain=other.test`)).status, 403)
    assert.strictEqual((yield* get(`/v1/sandbox/messages/${at.others}`)).status, 404)
    const remove = (path: string) => at.request(at.bound, "DELETE", path)
    assert.strictEqual((yield* remove(`/v1/sandbox/messages/${at.others}`)).status, 404)
    assert.strictEqual((yield* remove("/v1/sandbox/messages")).json.deleted, 1)
    const remaining = (yield* at.request(at.whole, "GET", "/v1/sandbox/messages")).json.data
    assert.deepStrictEqual(
      remaining.map(({ id }: { readonly id: string }) => id),
      [at.others],
    )
  })

  it.effect("may do everything with its own domain that its scopes allow", function* () {
    const at = yield* setUp
    const request = (method: string, path: string, body?: unknown) => at.request(at.bound, method, path, body)
    const ownAnswers = [
      yield* request("POST", "/v1/email/send", { ...message, from: "hi@acme.test" }),
      yield* request("PATCH", `/v1/email/${at.mail}`, { scheduled_at: soon() }),
      yield* request("POST", `/v1/email/${at.mail}/cancel`),
      yield* request("POST", `/v1/email/${at.mail}/resend`),
      yield* request("GET", `/v1/email/logs/${at.mail}`),
      yield* request("GET", `/v1/email/logs/${at.mail}/events`),
      yield* request("GET", `/v1/domains/${at.domains[0]}`),
      yield* request("POST", "/v1/domains/acme.test/dkim/rotate"),
      yield* request("GET", `/v1/api-keys/${at.bound_id}`),
      yield* request("GET", "/v1/account"),
      yield* request("GET", "/v1/session"),
      yield* request("DELETE", `/v1/api-keys/${at.bound_id}`),
    ]
    assert.deepStrictEqual(
      statusesOf(ownAnswers),
      ownAnswers.map(() => 200),
    )
  })

  // threat: key-limits
  it.effect("creates only keys with the same binding, no later expiry and no wider addresses", function* () {
    const { account, request, world } = yield* setUp
    const { secret: limited } = yield* world.key(account, {
      domain: "acme.test",
      allowed_ips: ["127.0.0.0/8"],
      expires_at: "2999-01-01T00:00:00.000Z",
    })
    const make = (body: object) => request(limited, "POST", "/v1/api-keys", { name: "x", scopes: ["admin"], ...body })
    const { json } = yield* make({})
    assert.deepInclude(json, {
      domain: "acme.test",
      allowed_ips: ["127.0.0.0/8"],
      expires_at: "2999-01-01T00:00:00.000Z",
    })
    assert.strictEqual((yield* request(json.key, "GET", "/v1/session")).json.domain, "acme.test")
    const narrower = { allowed_ips: ["127.0.0.1"], expires_at: "2998-01-01T00:00:00.000Z" }
    assert.deepInclude((yield* make(narrower)).json, narrower)
    for (const [path, more] of [
      ["domain", { domain: "other.test" }],
      ["allowed_ips", { allowed_ips: ["127.0.0.1", "0.0.0.0/0"] }],
      ["allowed_ips", { allowed_ips: ["126.0.0.0/7"] }],
      ["expires_at", { expires_at: "2999-01-01T00:00:00.001Z" }],
    ] as const) {
      const refused = yield* make(more)
      assert.deepStrictEqual(
        [refused.status, refused.json.error.reason, refused.json.error.details[0].path],
        [403, "more_than_the_key", path],
      )
    }
  })

  it.effect("cannot create a sign-in for a member, nor can a key with other limits", function* () {
    const { account, bound, keyWith, request, world } = yield* setUp
    const invite = (key: string) =>
      request(key, "POST", "/v1/members", { email: `m-${account}@example.org`, role: "member" })
    assert.strictEqual((yield* invite(bound)).json.error.reason, "domain_not_allowed")
    for (const limits of [{ allowed_ips: ["127.0.0.0/8"] }, { expires_at: "2999-01-01T00:00:00.000Z" }])
      assert.strictEqual(
        (yield* invite((yield* world.key(account, limits)).secret)).json.error.reason,
        "key_is_restricted",
      )
    const { json, status } = yield* invite((yield* world.key(account)).secret)
    assert.strictEqual(status, 201)
    const limited = yield* keyWith({ allowed_ips: ["127.0.0.0/8"] })
    const link = yield* request(limited, "POST", `/v1/members/${json.member.id}/link`)
    assert.strictEqual(link.json.error.reason, "key_is_restricted")
  })

  // threat: bound-keys
  it.effect("never gets the answer to a key with another binding under the same idempotency key", function* () {
    const at = yield* setUp
    const once = (key: string, path: string, body?: unknown) =>
      at.request(key, "POST", path, body, { "idempotency-key": "order-1" })
    const cancel = `/v1/email/${at.others}/cancel`
    assert.strictEqual((yield* once(at.whole, cancel)).status, 200)
    assert.strictEqual((yield* once(at.bound, cancel)).json.error.reason, "domain_not_allowed")
    for (const [path, body] of [
      ["/v1/email/send", message],
      ["/v1/email/send/batch", { emails: [message], mode: "permissive" }],
      ["/v1/domains", { name: "third.test" }],
      ["/v1/domains/other.test/verify", undefined],
      ["/v1/api-keys", { name: "x", scopes: ["admin"] }],
    ] as const) {
      const first = yield* once(at.whole, path, body)
      assert.isBelow(first.status, 300, path)
      assert.strictEqual((yield* once(at.whole, path, body)).text, first.text)
      const second = yield* once(at.bound, path, body)
      assert.strictEqual(second.json.error.reason, "idempotency_key_reused", path)
    }
    // The repeated request returns the secret only to the key that made it.
    const repeated = yield* once((yield* at.world.key(at.account)).secret, "/v1/api-keys", {
      name: "x",
      scopes: ["admin"],
    })
    assert.strictEqual(repeated.json.error.reason, "idempotency_key_reused")
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("a key that may only send", (it) => {
  // threat: bound-keys
  it.effect("gets the status of a mail from cancel and reschedule, but neither content nor recipients", function* () {
    const at = yield* setUp
    const { secret: sender } = yield* at.world.key(at.account, { scopes: ["email:send"] })
    const { secret: reader } = yield* at.world.key(at.account, { scopes: ["email:send", "email:logs:read"] })
    const rescheduled = yield* at.request(sender, "PATCH", `/v1/email/${at.others}`, { scheduled_at: soon() })
    const canceled = yield* at.request(sender, "POST", `/v1/email/${at.others}/cancel`, undefined, {
      "idempotency-key": "c",
    })
    assert.deepInclude(rescheduled.json, { id: at.others, status: "queued" })
    assert.deepInclude(canceled.json, { id: at.others, status: "canceled" })
    const full = yield* at.request(reader, "POST", `/v1/email/${at.others}/cancel`, undefined, {
      "idempotency-key": "c",
    })
    assert.deepInclude(full.json, { subject: "Second subject", to: ["bo@second.example.org"] })
    const replayed = yield* at.request(sender, "POST", `/v1/email/${at.others}/cancel`, undefined, {
      "idempotency-key": "c",
    })
    assert.strictEqual(replayed.headers.get("idempotent-replayed"), "true")
    for (const { text } of [rescheduled, canceled, replayed])
      for (const secret of ["second.example.org", "Second subject", "hi@"]) assert.notInclude(text, secret)
    const { json } = yield* at.request(sender, "POST", `/v1/email/${at.others}/resend`)
    assert.notExists(json.subject)
    const store = yield* EventStore
    const state = yield* store.state(Email, { account_id: at.account, stream_id: at.others as never })
    assert.strictEqual(state._tag === "Message" ? state.accepted.subject : "", "Second subject")
  })
})

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("a bound key over SMTP", (it) => {
  // threat: bound-keys
  it.effect(
    "never learns of a message that a key with another binding submitted under the same idempotency key",
    function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const { secret: bound } = yield* Effect.orDie(
        NewApiKeys.createApiKey(acme.account_id, null, {
          name: "bound",
          scopes: ["email:send"],
          domain: "other.test" as DomainName.DomainName,
          allowed_ips: [],
          expires_at: null,
        }),
      )
      const submit = (secret: string) =>
        Smtp.send(port, secret, {
          from: `hi@${acme.domain}`,
          to: "ana@example.org",
          subject: "x",
          text: "x",
          headers: { "X-Idempotency-Key": "order-1" },
        })
      assert.match(yield* submit(acme.secret), /^250 /u)
      assert.match(yield* submit(acme.secret), /\(idempotent replay\)$/u)
      assert.match(yield* submit(bound), /^554 5\.5\.4 idempotency_key_reused: /u)
    },
  )
})
