import * as Header from "@waybill/domain/email/Header"
import type { EmailId } from "@waybill/domain/values/Id"
import type * as Address from "@waybill/domain/values/Address"
import * as Compose from "@waybill/mail/compose/Compose"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { assert, describe, it as plain, layer } from "../../support/effectTest.ts"
import { fieldOf, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"

/** Headers that servers write, follow or trust, and that an author may not set. */
const RESERVED = [
  "Apparently-To",
  "ARC-Seal",
  "ARC-Authentication-Results",
  "Authentication-Results",
  "Delivered-To",
  "DKIM-Filter",
  "DomainKey-Signature",
  "Downgraded-From",
  "Envelope-To",
  "Errors-To",
  "Original-Recipient",
  "Received-SPF",
  "Resent-From",
  "Resent-Bcc",
  "Return-Receipt-To",
  "X-Envelope-To",
  "X-Original-To",
  "X-Rcpt-To",
  "X-Received",
  "X-Waybill-Position",
]
const SERVICE_HEADERS = ["DKIM-Signature", "Received", "Return-Path", "Content-Type", "Message-ID", "MIME-Version"]
const ALLOWED = [
  "Auto-Submitted",
  "Disposition-Notification-To",
  "Feedback-ID",
  "List-Unsubscribe",
  "Mail-Followup-To",
  "Precedence",
  "X-Order",
]

describe("the table of headers", () => {
  plain("contains each documented header and none that an author may set", () => {
    for (const name of RESERVED) assert.isTrue(Header.isReservedHeader(name.toUpperCase()), name)
    for (const name of SERVICE_HEADERS) assert.isTrue(Header.isServiceHeader(name), name)
    for (const name of ALLOWED) assert.isTrue(Header.isAllowed(name), name)
    const described = Header.FORBIDDEN_DESCRIPTION.match(/[A-Z][A-Za-z]*(?:-[A-Za-z*]+)*/gu) ?? []
    assert.isAbove(described.length, 15)
    for (const name of described) assert.isFalse(Header.isAllowed(name.replace("*", "X")), name)
    const page = readFileSync("docs/smtp.md", "utf8")
    for (const name of RESERVED)
      assert.isTrue(
        [name, `${name.split("-")[0]}-*`, ...(name.startsWith("X-Waybill-") ? ["X-Waybill-*"] : [])].some((each) =>
          page.includes(`\`${each}\``),
        ),
        name,
      )
  })

  // threat: forged-headers
  plain("forbidden headers of mail that was accepted earlier are not sent", () => {
    const composed = Compose.compose({
      id: "msg_01kakz5xq8e4vb2m0r7c3d9h1t" as EmailId,
      createdAt: Timestamp.fromMillis(0),
      from: { address: "hi@acme.test" as Address.Address },
      to: [{ address: "ana@example.org" as Address.Address }],
      subject: "x",
      text: "x",
      headers: { "X-Order": "1", "Errors-To": "victim@example.org", Sender: '"Jürgen, Büro" <boss@acme.test>' },
    })
    const text = Result.isSuccess(composed) ? Buffer.from(composed.success.bytes).toString() : ""
    assert.include(text, "X-Order: 1")
    assert.notInclude(text, "Errors-To")
    // An address in an encoded word would not be an address for any reader.
    assert.match(text, /^Sender: =\?utf-8\?\S+\?=\s<boss@acme\.test>\r$/imu)
  })
})

const message = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("headers over HTTP", (it) => {
  const setUp = Effect.gen(function* () {
    const customer = yield* signUp({ domains: ["acme.test", "other.test"] })
    const send = (headers: object, by = customer.key) =>
      customer.world.request("POST", "/v1/email/send", { key: by, body: { ...message, headers } })
    return { ...customer, send }
  })

  // threat: forged-headers
  it.effect("a header that an author may not set is refused by name", function* () {
    const { send } = yield* setUp
    const { json, status } = yield* send(
      Object.fromEntries([...RESERVED, ...SERVICE_HEADERS].map((name) => [name, "x"])),
    )
    assert.strictEqual(status, 400)
    assert.sameMembers(
      json.error.details.map(({ path }: { readonly path: string }) => path),
      [...RESERVED, ...SERVICE_HEADERS].map((name) => `headers.${name}`),
    )
    const allowed = yield* send(Object.fromEntries(ALLOWED.map((name) => [name, "<mailto:a@b.example>"])))
    assert.strictEqual(allowed.status, 200)
  })

  // threat: forged-headers
  it.effect("Sender follows the rule of From: one address of a verified domain that the key may use", function* () {
    const { call, key, keyWith, send } = yield* setUp
    const bound = yield* keyWith({ domain: "acme.test" })
    const verdict = (value: string, by = key, name = "Sender") =>
      Effect.map(send({ [name]: value }, by), ({ json, status }) => [
        status,
        json.error?.reason,
        json.error?.details[0].path,
      ])
    const accepted = [200, undefined, undefined]
    assert.deepStrictEqual(yield* verdict("Desk <desk@acme.test>"), accepted)
    assert.deepStrictEqual(yield* verdict("desk@OTHER.test"), accepted)
    const path = "headers.Sender"
    assert.deepStrictEqual(yield* verdict("ceo@bank.example"), [422, "domain_not_verified", path])
    assert.deepStrictEqual(yield* verdict("ceo@sub.acme.test"), [422, "domain_not_verified", path])
    assert.deepStrictEqual(yield* verdict("desk@acme.test", bound), accepted)
    assert.deepStrictEqual(yield* verdict("desk@other.test", bound), [403, "domain_not_allowed", path])
    assert.deepStrictEqual(yield* verdict("ceo@bank.example", bound), [403, "domain_not_allowed", path])
    const malformed = ["desk@acme.test, ceo@bank.example", "<a@acme.test> <b@bank.example>", "desk", ""]
    for (const value of malformed)
      assert.deepStrictEqual(yield* verdict(value), [400, "validation_failed", path], value)
    const written = yield* verdict("ceo@bank.example", key, "sEnDeR")
    assert.deepStrictEqual(written, [422, "domain_not_verified", path])
    const batch = yield* call("POST", "/v1/email/send/batch", {
      emails: [message, { ...message, headers: { Sender: "ceo@bank.example" } }],
    })
    assert.deepStrictEqual(fieldOf(batch), [422, "emails[1].headers.Sender"])
  })

  it.effect("a key that may not use the Sender of a mail cannot resend the mail", function* () {
    const { keyWith, send, world } = yield* setUp
    const { json } = yield* send({ Sender: "desk@other.test" })
    const bound = yield* keyWith({ domain: "acme.test" })
    const refused = yield* world.request("POST", `/v1/email/${json.id}/resend`, { key: bound })
    assert.deepStrictEqual(reasonOf(refused), [403, "domain_not_allowed"])
  })
})

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("headers over SMTP", (it) => {
  const raw = (from: string, more: ReadonlyArray<string>) => ({
    envelope: { from: "", to: ["ana@example.org"] },
    raw: [`From: hi@${from}`, "To: ana@example.org", "Subject: s", ...more, "", "hi"].join("\r\n"),
  })

  it.effect("headers that an author may not set are dropped", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const lines = [...RESERVED, "Received", "Return-Path", "DKIM-Signature", "X-Order"].map((name) => `${name}: x`)
    assert.match(yield* Smtp.send(port, acme.secret, raw(acme.domain, lines)), /^250 /u)
    const [mail] = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(mail?.headers, { "X-Order": "x" })
  })

  // threat: forged-headers
  it.effect("Sender follows the rule of From over SMTP too", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const submit = (value: string, { domain, secret } = acme) =>
      Smtp.send(port, secret, raw(domain, [`Sender: ${value}`]))
    assert.match(yield* submit("ceo@bank.example"), /^550 5\.7\.1 domain_not_verified: The domain bank\.example /u)
    assert.match(
      yield* submit("two@a.example, ceo@bank.example"),
      /^554 5\.6\.0 validation_failed: `headers\.Sender` /u,
    )
    const encoded = "=?utf-8?Q?Ana=2C_Desk?="
    assert.match(yield* submit(`${encoded} <desk@${acme.domain}>`), /^250 /u)
    const [mail] = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(mail?.headers, { Sender: `"Ana, Desk" <desk@${acme.domain}>` })
    const bound = yield* Smtp.customer({ keyDomain: "only.test" })
    assert.match(yield* submit("x@only.test", { ...bound, domain: "only.test" }), /^550 5\.7\.1 /u)
  })
})
