import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { type Answer, EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const DAY = 24 * 60 * 60 * 1000
const inFuture = (ms: number): string => new Date(Date.now() + ms).toISOString()
/** Computed at the request, because a busy machine may run it long after this file was loaded. */
const scheduled = (ms: number) => ({
  get scheduled_at() {
    return inFuture(ms)
  },
})
const many = (count: number, at = "example.org"): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, nth) => `r${nth}@${at}`)
const files = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ filename: `${nth}.txt`, content: "aGk=" }))
const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`X-${nth}`, "v"]))

const pairs = (count: number, value = "v") =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`name${nth}`, value]))

/** Names that other objects have by themselves, or that events keep to themselves. */
const METADATA: Readonly<Record<string, string>> = JSON.parse(
  '{"order":"7041","__proto__":"own","constructor":"c","hash":"h","Größe":"L\\n🎉"}',
)

const OPTIONAL = ["html", "cc", "bcc", "reply_to", "headers", "tags", "scheduled_at", "attachments"]

/** Expected is 200, 400 with the path of the violation, or another reason with its path: of a 422, or `unknown_field`. */
type Row = readonly [rule: string, change: Record<string, unknown>, expected: 200 | 400 | string, path?: string]

/** The rules of a message in the order of their refusals. `undefined` omits a field. */
const RULES: ReadonlyArray<Row> = [
  // Every address may be `a@b.c` or `Name <a@b.c>`.
  ["a bare address", { from: "hi@acme.test" }, 200],
  ["an address with a name", { to: "Ana <ana@example.org>" }, 200],
  ["an address with a quoted name", { to: '"Ana, PhD" <ana@example.org>' }, 200],
  ["a name with a comma outside quotes", { to: "Ana, PhD <ana@example.org>" }, 400, "to"],
  // Internationalized domains and UTF-8 local parts are accepted.
  ["an internationalised domain", { to: "ana@bücher.example" }, 200],
  ["a UTF-8 local part", { to: "jürgen@example.org" }, 200],
  // `to`, `cc`, `bcc` and `reply_to` accept a string or an array.
  ["to as an array", { to: ["ana@example.org"] }, 200],
  ["cc as a string", { cc: "bo@example.org" }, 200],
  ["bcc as a string", { bcc: "bo@example.org" }, 200],
  ["reply_to as an array", { reply_to: ["bo@example.org", "cy@example.org"] }, 200],
  // 400: not an object, or a wrong type.
  ["to as a number", { to: 7 }, 400, "to"],
  ["to with a number inside", { to: ["ana@example.org", 7] }, 400, "to[1]"],
  ["subject as a number", { subject: 7 }, 400, "subject"],
  ["html as an object", { html: {} }, 400, "html"],
  ["text as an array", { text: [] }, 400, "text"],
  ["headers as a string", { headers: "X: y" }, 400, "headers"],
  ["headers as an array", { headers: [] }, 400, "headers"],
  ["a header value as a number", { headers: { "X-A": 1 } }, 400, "headers.X-A"],
  ["tags as a string", { tags: "receipt" }, 400, "tags"],
  ["scheduled_at as a number", { scheduled_at: 1 }, 400, "scheduled_at"],
  // Missing `from`, `to`, `subject`.
  ["no from", { from: undefined }, 400, "from"],
  ["no to", { to: undefined }, 400, "to"],
  ["no subject", { subject: undefined }, 400, "subject"],
  ["from is null", { from: null }, 400, "from"],
  ["an empty to", { to: [] }, 400, "to"],
  ["an empty subject", { subject: "" }, 200],
  ["optional fields that are null", Object.fromEntries(OPTIONAL.map((field) => [field, null])), 200],
  ["an unknown field", { shade: "blue" }, "unknown_field", "shade"],
  // Bad address.
  ["an address without @", { to: "ana" }, 400, "to"],
  ["an address without a local part", { to: "@example.org" }, 400, "to"],
  ["an address with two dots", { to: "a..b@example.org" }, 400, "to"],
  ["an address with a space", { to: "a b@example.org" }, 400, "to"],
  ["an address of one label", { to: "ana@example" }, 400, "to"],
  ["an address literal", { to: "ana@[127.0.0.1]" }, 400, "to"],
  ["a local part of 64 octets", { to: `${"a".repeat(64)}@example.org` }, 200],
  ["a local part of 65 octets", { to: `${"a".repeat(65)}@example.org` }, 400, "to"],
  ["two addresses in one string", { to: "ana@example.org, bo@example.org" }, 400, "to"],
  // CR, LF or NUL in a header name, header value, subject or address.
  ["LF in the subject", { subject: "a\nBcc: x@example.org" }, 400, "subject"],
  ["CR in the subject", { subject: "a\rb" }, 400, "subject"],
  ["NUL in the subject", { subject: "a\u0000b" }, 400, "subject"],
  ["a tab in the subject", { subject: "a\tb" }, 200],
  ["LF in a header value", { headers: { "X-A": "a\nb" } }, 400, "headers.X-A"],
  ["CR in a header value", { headers: { "X-A": "a\rb" } }, 400, "headers.X-A"],
  ["NUL in a header value", { headers: { "X-A": "a\u0000b" } }, 400, "headers.X-A"],
  ["LF in a header name", { headers: { "X\nA": "b" } }, 400, "headers.X?A"],
  ["a colon in a header name", { headers: { "X:A": "b" } }, 400, "headers.X?A"],
  ["a space in a header name", { headers: { "X A": "b" } }, 400, "headers.X?A"],
  ["an empty header name", { headers: { "": "b" } }, 400],
  ["LF in an address", { to: "ana@example.org\nBcc: x@example.org" }, 400, "to"],
  ["LF in a name", { to: "Ana\n <ana@example.org>" }, 400, "to"],
  ["half a surrogate pair in the subject", { subject: "a\ud800" }, 400, "subject"],
  // Headers that the service sets itself.
  ...`From To Cc Bcc Subject Date Message-ID DKIM-Signature Return-Path Received
    Content-Type content-anything MIME-Version bCC`
    .split(/\s+/u)
    .map((name): Row => [`the header ${name}`, { headers: { [name]: "x" } }, 400, `headers.${name}`]),
  ["a header of one's own", { headers: { "X-Order": "7041", "List-Id": "a.acme.test" } }, 200],
  ["the header __proto__", { headers: JSON.parse('{"__proto__":"x"}') }, 200],
  ["a Reply-To among the headers", { headers: { "Reply-To": "bo@example.org" } }, 200],
  ["beside reply_to", { headers: { "Reply-TO": "x" }, reply_to: "a@b.co" }, 400, "headers.Reply-TO"],
  // More than 50 custom headers.
  ["50 headers", { headers: headers(50) }, 200],
  ["51 headers", { headers: headers(51) }, 400, "headers"],
  // Headers that cannot be folded into lines of mail.
  ["a header name of 76 characters", { headers: { ["X".repeat(76)]: "v" } }, 200],
  ["one of 77", { headers: { ["X".repeat(77)]: "v" } }, 400, `headers.${"X".repeat(76)}`],
  ["a header value of 4,000 characters", { headers: { "X-A": "x ".repeat(2_000) } }, 200],
  ["one of 4,001", { headers: { "X-A": `${"x ".repeat(2_000)}x` } }, 400, "headers.X-A"],
  ["900 spaces in a value", { headers: { "X-A": ` a${" ".repeat(900)}b ` } }, 200],
  ["901 spaces in a value", { headers: { "X-A": `a${" ".repeat(901)}b` } }, 400, "headers.X-A"],
  ["900 octets without a space in a value", { headers: { "X-A": `y ${"ü".repeat(450)}` } }, 200],
  ["901 octets", { headers: { "X-A": `${"ü".repeat(450)}x` } }, 400, "headers.X-A"],
  ["a subject of 998 characters", { subject: "x".repeat(998) }, 200],
  ["one of 999", { subject: "x".repeat(999) }, 400, "subject"],
  // More than 50 `to`.
  ["50 to", { to: many(50) }, 200],
  ["51 to", { to: many(51) }, 400, "to"],
  // More than 5 tags or a tag over 64 characters.
  ["5 tags", { tags: ["a", "b", "c", "d", "e"] }, 200],
  ["6 tags", { tags: ["a", "b", "c", "d", "e", "f"] }, 400, "tags"],
  ["a tag of 64 characters", { tags: ["x".repeat(64)] }, 200],
  ["a tag of 65 characters", { tags: ["x".repeat(65)] }, 400, "tags[0]"],
  // More than 75 pairs of metadata, a name over 64 characters or a value over 500.
  ["75 pairs", { metadata: pairs(75, "v".repeat(500)) }, 200],
  ["no pair", { metadata: {} }, 200],
  ["null for pairs", { metadata: null }, 200],
  ["76 pairs", { metadata: pairs(76) }, 400, "metadata"],
  ["a name of 64 characters, lines in a value", { metadata: { ["n".repeat(64)]: "a\nb", empty: "" } }, 200],
  ["a name of 65 characters", { metadata: { ["n".repeat(65)]: "v" } }, 400, `metadata.${"n".repeat(64)}`],
  ["an empty name", { metadata: { "": "v" } }, 400, "metadata."],
  ["a name with a line break", { metadata: { "a\nb": "v" } }, 400, "metadata.a?b"],
  ["a value of 501 characters", { metadata: { order: "v".repeat(501) } }, 400, "metadata.order"],
  ["a value with NUL", { metadata: { order: "\0" } }, 400, "metadata.order"],
  ["a value that is a number", { metadata: { order: 7041 } }, 400, "metadata.order"],
  ["a list for pairs", { metadata: ["order"] }, 400, "metadata"],
  // `scheduled_at` not ISO 8601 with an offset or `Z`.
  ["scheduled_at with Z", { scheduled_at: inFuture(DAY) }, 200],
  ["scheduled_at with an offset", { scheduled_at: inFuture(DAY).replace("Z", "+02:00") }, 200],
  ["scheduled_at without an offset", { scheduled_at: inFuture(DAY).replace("Z", "") }, 400, "scheduled_at"],
  ["scheduled_at as a date", { scheduled_at: "2026-12-01" }, 400, "scheduled_at"],
  ["scheduled_at as words", { scheduled_at: "in 1 hour" }, 400, "scheduled_at"],
  ["scheduled_at on the 31st of February", { scheduled_at: "2026-02-31T00:00:00Z" }, 400, "scheduled_at"],
  // More than 60 s in the past or 30 days ahead. The test leaves half a minute for a slow machine.
  ["scheduled 30 s ago", scheduled(-30_000), 200],
  ["scheduled 90 s ago", scheduled(-90_000), "scheduled_at_out_of_range", "scheduled_at"],
  ["scheduled just within 30 days", scheduled(30 * DAY - 60_000), 200],
  ["scheduled beyond 30 days", scheduled(30 * DAY + 60_000), "scheduled_at_out_of_range", "scheduled_at"],
  // Neither html nor text is accepted.
  ["no body at all", { text: undefined }, 200],
  ["html alone", { text: undefined, html: "<p>Hi</p>" }, 200],
  // Attachments.
  ["20 attachments", { attachments: files(20) }, 200],
  ["21 attachments", { attachments: files(21) }, 400, "attachments"],
  [
    "an attachment that is not base64",
    { attachments: [{ filename: "a", content: "€" }] },
    400,
    "attachments[0].content",
  ],
  ["an attachment without a name", { attachments: [{ content: "aGk=" }] }, 400, "attachments[0].filename"],
  ["LF in a file's name", { attachments: [{ filename: "a\nb", content: "aGk=" }] }, 400, "attachments[0].filename"],
  [
    "LF in a file's type",
    { attachments: [{ filename: "a", content: "aGk=", content_type: "text/plain\nX: y" }] },
    400,
    "attachments[0].content_type",
  ],
  [
    "a space in a content id",
    { attachments: [{ filename: "a", content: "aGk=", content_id: "a b" }] },
    400,
    "attachments[0].content_id",
  ],
  ["an inline attachment", { attachments: [{ filename: "a.png", content: "aGk=", content_id: "<logo>" }] }, 200],
  // 422: depends on the server's state.
  ["a domain the account does not have", { from: "hi@other.test" }, "domain_not_verified", "from"],
  ["a domain that is not verified", { from: "hi@pending.dev" }, "domain_not_verified", "from"],
  ["a subdomain of a verified domain", { from: "hi@sub.acme.test" }, "domain_not_verified", "from"],
  ["100 recipients on Business", { to: many(50), cc: many(25, "cc.example"), bcc: many(25, "bcc.example") }, 200],
  [
    "101 recipients on Business",
    { to: many(50), cc: many(26, "cc.example"), bcc: many(25, "bcc.example") },
    "recipient_limit_exceeded",
  ],
  ["recipients that are the same count once", { to: many(50), cc: many(50), bcc: many(50) }, 200],
  [
    "all recipients suppressed",
    { to: "gone@example.org", cc: ["GONE@example.org"] },
    "all_recipients_suppressed",
    "to",
  ],
  ["some recipients suppressed", { to: ["gone@example.org", "ana@example.org"] }, 200],
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("POST /email/send", (it) => {
  const setUp = Effect.gen(function* () {
    const owner = yield* signUp({ domains: ["acme.test", "pending.dev"] })
    yield* owner.call("POST", "/v1/suppressions", { email: "gone@example.org" })
    const key = yield* owner.keyWith({ scopes: ["email:send"] })
    const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
      owner.world.request(method, path, { key, body, headers })
    return { ...owner, admin: owner.key, key, call }
  })

  const reasonOf = ({ json, text }: Answer): string => `${json?.error?.reason} ${text.slice(0, 300)}`

  it.effect("names the domain of the account that a mistyped one is near", function* () {
    const { call } = yield* setUp
    const messageOf = function* (from: string) {
      const { json } = yield* call("POST", "/v1/email/send", { ...EMAIL, from })
      return json.error.message as string
    }
    assert.match(yield* messageOf("hi@amce.test"), /not a domain of this account\..* Did you mean acme\.test\?$/u)
    assert.notInclude(yield* messageOf("hi@elsewhere.example"), "Did you mean")
    const emails = [EMAIL, { ...EMAIL, from: "hi@amce.test" }, { ...EMAIL, from: "hi@elsewhere.example" }]
    const batch = (mode: string, key?: string) =>
      Effect.map(
        call("POST", "/v1/email/send/batch", { mode, emails }, key === undefined ? {} : { "idempotency-key": key }),
        ({ json }) => json,
      )
    assert.match(
      (yield* batch("all_or_nothing")).error.message,
      /^Message 1 of the batch: The domain amce\.test .* Did you mean acme\.test\?$/u,
    )
    const permissive = yield* batch("permissive", "once")
    const [, near, far] = permissive.data
    assert.match(near.error.message, /Did you mean acme\.test\?$/u)
    assert.notInclude(far.error.message, "Did you mean")
    assert.deepStrictEqual(yield* batch("permissive", "once"), permissive)
    const domains = ["bcme", "ccme", "dcme", "ecme", "fcme", "gcme", "hcme"]
    const many = domains.map((name) => ({ ...EMAIL, from: `hi@${name}.test` }))
    const { json } = yield* call("POST", "/v1/email/send/batch", { mode: "permissive", emails: [...many, ...many] })
    const named = json.data.map(({ error }: { readonly error: { readonly message: string } }) =>
      error.message.includes("Did you mean acme.test?"),
    )
    // To compare all of a full batch would hold up the commits of others.
    const ofEach = domains.map((_, nth) => nth < 5)
    assert.deepStrictEqual(named, [...ofEach, ...ofEach])
  })

  it.effect("follows every rule of a message", function* () {
    const { call } = yield* setUp
    for (const [rule, change, expected, path] of RULES) {
      const [status, reason] =
        typeof expected === "number"
          ? [expected, "validation_failed"]
          : [expected === "unknown_field" ? 400 : 422, expected]
      const answer = yield* call("POST", "/v1/email/send", { ...EMAIL, ...change })
      assert.strictEqual(answer.status, status, `${rule}: ${reasonOf(answer)}`)
      if (status === 200) continue
      assert.strictEqual(answer.json.error.reason, reason, rule)
      if (path !== undefined) {
        const paths = answer.json.error.details.map((detail: { path: string }) => detail.path)
        assert.include(paths, path, rule)
      }
    }
  })

  it.effect("answers with exactly id, status and created_at", function* () {
    const { call } = yield* setUp
    for (const change of [{}, { scheduled_at: inFuture(DAY) }]) {
      const { json, status } = yield* call("POST", "/v1/email/send", { ...EMAIL, ...change })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(Object.keys(json), ["id", "status", "created_at"])
      assert.strictEqual(json.status, "queued")
      assert.match(json.id, /^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/u)
      assert.match(json.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u)
    }
  })

  it.effect("lists all violations of a message, with their paths", function* () {
    const { call } = yield* setUp
    const body = {
      from: "x",
      to: [...many(50), "bad"],
      tags: ["", "a", "b", "c", "d", "e"],
      headers: { Bcc: "a", "X-B": "a\nb" },
    }
    const { json, status } = yield* call("POST", "/v1/email/send", body)
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(json.error.details, [
      { path: "from", message: "is not an address: it has no @" },
      { path: "to", message: "takes 1 to 50 addresses; 51 were given" },
      { path: "subject", message: "is required" },
      { path: "headers.Bcc", message: "is set by the service and cannot be overridden" },
      { path: "headers.X-B", message: "must not contain CR, LF or NUL" },
      { path: "tags", message: "takes at most 5 tags; 6 were given" },
      { path: "tags[0]", message: "must not be empty" },
    ])
    assert.strictEqual(json.error.message, "`from` is not an address: it has no @. 6 more errors are in `details`.")
  })

  it.effect("accepts exactly ten megabytes by default", function* () {
    const { key, world } = yield* setUp
    const send = (bytes: number) =>
      world.request("POST", "/v1/email/send", { key, raw: JSON.stringify(EMAIL).padEnd(bytes) })
    assert.strictEqual((yield* send(10 * 1024 * 1024)).status, 200)
    const { json, status } = yield* send(10 * 1024 * 1024 + 1)
    assert.deepStrictEqual([status, json.error.reason], [400, "payload_too_large"])
  })

  it.effect("refuses a body that is not an object", function* () {
    const { call, key, world } = yield* setUp
    for (const raw of ["[]", "7", "null", '"x"', "true"]) {
      const { json, status } = yield* world.request("POST", "/v1/email/send", { key, raw })
      assert.strictEqual(status, 400, raw)
      assert.deepStrictEqual(json.error.details, [{ path: "", message: "must be an object" }], raw)
    }
    const list = yield* world.request("POST", "/v1/email/send/batch", { key, raw: JSON.stringify([EMAIL]) })
    const wrapped = 'must be an object with the messages in it: {"emails": […]}'
    assert.deepStrictEqual(list.json.error.details, [{ path: "", message: wrapped }])
    const empty = yield* call("POST", "/v1/email/send")
    assert.deepStrictEqual(empty.json.error.details, [{ path: "", message: "is empty; it must be an object" }])
  })

  it.effect("logs what was accepted: distinct recipients and tags, bcc, a suppressed recipient", function* () {
    const { admin, call, world } = yield* setUp
    const body = {
      ...EMAIL,
      to: ["Ana <ana@example.org>", "gone@example.org"],
      cc: ["ANA@example.org", "bo@example.org"],
      bcc: "cy@example.org",
      tags: ["receipt", "receipt"],
      metadata: METADATA,
      reply_to: "help@acme.test",
      html: "<p>Hi <b>there</b></p>",
    }
    const sent = yield* call("POST", "/v1/email/send", body)
    const { json } = yield* world.request("GET", `/v1/email/logs/${sent.json.id}`, { key: admin })
    assert.deepStrictEqual(json.to, ["Ana <ana@example.org>", "gone@example.org"])
    assert.deepStrictEqual(json.cc, ["bo@example.org"])
    assert.deepStrictEqual(json.bcc, ["cy@example.org"])
    assert.deepStrictEqual(json.tags, ["receipt"])
    assert.deepStrictEqual(Object.entries(json.metadata).toSorted(), Object.entries(METADATA).toSorted())
    assert.deepStrictEqual(json.recipient_counts, { queued: 3, suppressed: 1 })
    assert.deepStrictEqual(json.content, { html: body.html, text: "Hi", attachments: [] })
    const events = yield* world.request("GET", `/v1/email/logs/${sent.json.id}/events`, { key: admin })
    assert.deepStrictEqual(
      events.json.data.map(({ type, version }: { type: string; version: number }) => [type, version]),
      [
        ["email.queued", 1],
        ["email.suppressed", 2],
      ],
    )
    assert.deepStrictEqual(events.json.data[0].data.metadata, json.metadata)
    assert.strictEqual(events.json.data[0].request_id, sent.headers.get("x-request-id"))
  })

  it.effect("refuses a key bound to another domain with 403", function* () {
    const { keyWith, world } = yield* setUp
    const secret = yield* keyWith({ scopes: ["email:send"], domain: "other.test" })
    const { json, status } = yield* world.request("POST", "/v1/email/send", { key: secret, body: EMAIL })
    assert.strictEqual(status, 403)
    assert.strictEqual(json.error.reason, "domain_not_allowed")
  })

  it.effect("accepts as many recipients as the plan allows", function* () {
    const world = yield* HttpWorld
    for (const [plan, most] of [
      ["free", 10],
      ["starter", 50],
      ["growth", 50],
      ["business", 100],
    ] as const) {
      const account = yield* world.account(plan)
      const { secret } = yield* world.key(account)
      yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
      const send = (count: number) => {
        const recipients = many(count)
        return world.request("POST", "/v1/email/send", {
          key: secret,
          body: { ...EMAIL, to: recipients.slice(0, 50), cc: recipients.slice(50) },
        })
      }
      assert.strictEqual((yield* send(most)).status, 200, plan)
      const over = yield* send(most + 1)
      assert.strictEqual(over.status, 422, plan)
      assert.strictEqual(over.json.error.reason, "recipient_limit_exceeded", plan)
    }
  })
})
