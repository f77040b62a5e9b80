import * as Violations from "@waybill/api/errors/Violations"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { fieldOf, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"

const MESSAGE = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
/** Below the limit of ten megabytes for a body, so that the limit of each field applies. */
const FIELD_BYTES = 9_000_000
const long = (text: string) => text.repeat(Math.ceil(FIELD_BYTES / Buffer.byteLength(text)))
const many = <A>(value: A, count = 90_000): ReadonlyArray<A> => Array.from({ length: count }, () => value)
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`X-${nth}`, "v"]))
const file = (change: object) => ({ attachments: [{ filename: "a.txt", content: "QUFB", ...change }] })

/** Path of the expected error, and the field that causes the error. */
const FIELDS: ReadonlyArray<readonly [path: string, change: object]> = [
  ["from", { from: long("a") }],
  ["from", { from: `${long("a@")}b.cc` }],
  ["to", { to: long("@") }],
  ["to", { to: `${long("é ")} <ana@example.org>` }],
  ["to", { to: `a@${long("b.")}` }],
  ["to", { to: many("ana@example.org") }],
  ["cc", { cc: many("ana@example.org") }],
  ["reply_to", { reply_to: many("ana@example.org") }],
  ["subject", { subject: long("é") }],
  ["tags", { tags: many("t") }],
  ["tags[0]", { tags: [long("t")] }],
  ["metadata", { metadata: fields(900) }],
  ["", { metadata: fields(10_000) }],
  ["metadata.order", { metadata: { order: long("7") } }],
  [`metadata.${"n".repeat(64)}`, { metadata: { [long("n")]: "7" } }],
  ["headers", { headers: fields(900) }],
  ["", { headers: fields(49_000) }],
  ["headers.X-A", { headers: { "X-A": long(" ") } }],
  ["scheduled_at", { scheduled_at: long("2") }],
  ["attachments", { attachments: many({ filename: "a", content: "QUFB" }, 20_000) }],
  ["attachments[0].filename", file({ filename: long("a") })],
  ["attachments[0].content", file({ content: `${long("QUFB")}A` })],
  ["attachments[0].content_type", file({ content_type: `a/${long("b;")}` })],
  ["attachments[0].content_type", file({ content_type: `a/b${"; a=b".repeat(1_000_000)}` })],
  ["attachments[0].content_id", file({ content_id: long("a") })],
]

const CALLS: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
  ["POST", "/v1/domains", { name: long("a.") }],
  ["POST", "/v1/webhooks", { url: `https://${long("a.")}`, events: ["*"] }],
  ["POST", "/v1/webhooks", { url: "https://example.org", events: many("email.sent") }],
  ["POST", "/v1/webhooks", { url: "https://example.org", events: many("x") }],
  ["POST", "/v1/api-keys", { name: long("x"), scopes: ["admin"] }],
  ["POST", "/v1/api-keys", { name: "x", scopes: many("admin") }],
  ["POST", "/v1/api-keys", { name: "x", scopes: ["admin"], allowed_ips: many("192.0.2.1") }],
  ["POST", "/v1/suppressions", { email: `a@${long("b.")}` }],
  ["POST", "/v1/email/send/batch", { emails: many(MESSAGE, 20_000) }],
  ["POST", "/v1/email/send/batch", { emails: many({ ...MESSAGE, cc: many("x", 900) }, 100) }],
  ["GET", `/v1/email/logs?${"tag=x&".repeat(2_300)}`],
  ["GET", `/v1/email/logs?${Array.from({ length: 900 }, (_, nth) => `metadata.n${nth}=v`).join("&")}`],
  ["GET", `/v1/email/logs?metadata.${"n".repeat(12_000)}=v`],
  ["GET", `/v1/email/logs?subject=${"%25".repeat(5_000)}`],
  ["GET", `/v1/events?types=${"email.sent,".repeat(1_400)}`],
  ["GET", `/v1/email/logs/${"x".repeat(15_000)}`],
  ["GET", `/v1${"/x".repeat(7_500)}`],
  ["GET", `/v1/${"%61".repeat(5_000)}`],
  ["GET", `/v1/${"%".repeat(15_000)}`],
]

/** Maximum length of a refusal: a hundred errors, each with a path and a sentence. */
const MAX_ANSWER_CHARS = 64 * 1024

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("oversized input", (it) => {
  const setUp = signUp({ domains: ["acme.test"] })

  it.effect("each oversized field is refused with a short error that names the field", function* () {
    const { call } = yield* setUp
    for (const [path, change] of FIELDS) {
      const { json, status, text } = yield* call("POST", "/v1/email/send", { ...MESSAGE, ...change })
      assert.deepStrictEqual(fieldOf({ json, status }), [400, path], text.slice(0, 500))
      assert.isBelow(text.length, MAX_ANSWER_CHARS, path)
    }
  })

  // threat: endless-requests
  it.effect("oversized paths, queries and headers are refused, and no answer is large", function* () {
    const { call } = yield* setUp
    for (const [method, path, body] of CALLS) {
      const request = `${method} ${path.slice(0, 60)} ${JSON.stringify(body ?? "").slice(0, 60)}`
      const answer = yield* call(method, path, body)
      assert.include([400, 404], answer.status, request)
      assert.isBelow(answer.text.length, MAX_ANSWER_CHARS, request)
    }
    assert.strictEqual((yield* call("GET", "/v1/account")).status, 200)
  })

  it.effect("the answer to an oversized batch is short, for the whole batch or per message", function* () {
    const { call } = yield* setUp
    const emails = many({ ...MESSAGE, cc: many("x", 900) }, 100)
    const whole = yield* call("POST", "/v1/email/send/batch", { emails })
    assert.deepStrictEqual([whole.status, whole.json.error.details.length], [400, Violations.MAX_DETAILS])
    const each = yield* call("POST", "/v1/email/send/batch", { emails, mode: "permissive" })
    assert.strictEqual(each.status, 200)
    assert.isBelow(each.text.length, MAX_ANSWER_CHARS)
    // Every message gets at least one error.
    const errorCounts = each.json.data.map((result: { readonly error: { readonly details: ReadonlyArray<unknown> } }) =>
      Math.sign(result.error.details.length),
    )
    assert.deepStrictEqual(
      errorCounts,
      emails.map(() => 1),
    )
  })

  // threat: endless-requests
  it.effect("oversized lines, logins, recipients and messages are refused over SMTP", function* () {
    const port = yield* Smtp.submission({ limits: { maxRecipients: 100 } })
    const acme = yield* Smtp.customer()
    const begin = ["EHLO x", Smtp.plain(acme.secret), `MAIL FROM:<hi@${acme.domain}>`]
    for (const line of [
      `EHLO ${"x".repeat(1_000_000)}`,
      "x".repeat(4_000_000),
      `AUTH PLAIN ${Buffer.alloc(1_000_000, "A").toString("base64")}`,
      `MAIL FROM:<${"a".repeat(500_000)}@b.cc>`,
    ]) {
      const client = yield* Smtp.raw(port)
      const reply = yield* Effect.promise(() => client.say(line))
      assert.match(reply, /^(?:[45]\d\d |closed)/u, line.slice(0, 40))
    }
    const guest = yield* Smtp.raw(port)
    const login = yield* Effect.promise(() => guest.all(["EHLO x", "AUTH LOGIN", "YW55", "A".repeat(12_000)]))
    assert.match(login.at(-1) ?? "", /^5\d\d /u)

    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.all(begin))
    const replies = yield* Effect.promise(() =>
      client.all(Array.from({ length: 300 }, (_, nth) => `RCPT TO:<r${nth}@example.org>`)),
    )
    assert.deepStrictEqual(
      [replies.filter((reply) => reply.startsWith("250")).length, replies.at(-1)?.slice(0, 9)],
      [100, "452 4.5.3"],
    )
    assert.match(yield* Effect.promise(() => client.say("DATA")), /^354 /u)
    const block = `${"x".repeat(998)}\r\n`.repeat(500)
    for (let bytes = 0; bytes < 4 * Smtp.MAX_MESSAGE_BYTES; bytes += block.length) client.write(block)
    assert.match(yield* Effect.promise(() => client.say(".")), /^552 5\.3\.4 /u)
    assert.match(yield* Effect.promise(() => client.say("NOOP")), /^250 /u)
    assert.deepStrictEqual(yield* Smtp.accepted(acme.account_id), [])
  })
})
