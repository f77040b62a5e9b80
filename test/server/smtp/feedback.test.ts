import * as FeedbackToken from "@waybill/mail/tokens/FeedbackToken"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { Effect, Option } from "effect"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import { feedbackHeaders } from "../../../apps/server/src/worker/delivery/feedbackHeaders.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "./support.ts"

const KEY = Buffer.alloc(32, 9)
const DOMAIN = "bounces.waybill.test"

const listen = (limits: MailListener.Options["limits"] = {}) =>
  MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: DOMAIN,
    inbound: Smtp.REPORTS_ONLY,
    returnPath: { domain: DOMAIN, secretKeys: [Buffer.alloc(32, 8), KEY] },
    limits,
  })

/** A mail of ours as it comes back, whose recipient may be redacted. */
const enclosed = (headers: ReadonlyArray<string>, to = "redacted <redacted>") =>
  [...headers, "From: Acme <hi@acme.test>", `To: ${to}`, "Subject: Your receipt", "", "Thank you.", ""].join("\r\n")

const part = (type: string, text: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`

const mail = (subject: string, type: string, ...parts: ReadonlyArray<string>) =>
  Buffer.from(
    `From: staff@hotmail.example\r\nTo: fbl@${DOMAIN}\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: ${type}; boundary="b"\r\n\r\n${parts.join("")}--b--\r\n`,
  )

/** RFC 5965, as Yahoo sends it. */
const arf = (original: string, fields = "") =>
  mail(
    "FW: Your receipt",
    "multipart/report; report-type=feedback-report",
    part("text/plain", "This is an email abuse report."),
    part(
      "message/feedback-report",
      `Feedback-Type: abuse\r\nUser-Agent: Yahoo!-Mail-Feedback/2.0\r\nVersion: 0.1\r\n${fields}`,
    ),
    part("message/rfc822", original),
  )
/** The form of Microsoft's JMRP: the mail as a whole, without a report. */
const jmrp = (original: string) =>
  mail("complaint about message from 192.0.2.10", "multipart/mixed", part("message/rfc822", original))
/** Yahoo's form without a report: the mail behind a text, with no address in it. */
const cfl = (original: string) =>
  mail(
    "FW: Your receipt",
    "multipart/mixed",
    part("text/plain", "A user of Yahoo! Mail has reported the attached message as spam."),
    part('message/rfc822\r\nContent-Disposition: attachment; filename="Your receipt.eml"', original),
  )
/** The same without any other part: the mail is all that the complaint has. */
const alone = (original: string) =>
  Buffer.from(
    `From: feedback@cfl.yahoo.example\r\nTo: fbl@${DOMAIN}\r\nSubject: FW: Your receipt\r\nMIME-Version: 1.0\r\nContent-Type: message/rfc822\r\n\r\n${original}`,
  )
/** A mail that encloses another one. */
const forwarded = (original: string) => mail("Fwd: Your receipt", "multipart/mixed", part("message/rfc822", original))

const send = Effect.fnUntraced(function* (port: number, to: ReadonlyArray<string>, bytes: Buffer) {
  const client = yield* Smtp.raw(port)
  const rcpt = to.map((local) => `RCPT TO:<${local}@${DOMAIN}>`)
  const replies = yield* Effect.promise(() => client.all(["EHLO mx.example.org", "MAIL FROM:<>", ...rcpt]))
  const refused = replies.slice(2).find((reply) => !reply.startsWith("250"))
  if (refused !== undefined) return refused
  yield* Effect.promise(() => client.say("DATA"))
  client.write(Buffer.concat([bytes, Buffer.from("\r\n.\r\n")]))
  return yield* Effect.promise(() => client.reply())
})

const statuses = (ref: World.MessageRef) =>
  Effect.map(World.history(ref), ({ state }) =>
    state._tag === "Message" ? state.recipients.map(({ status }) => status) : [],
  )

const reasonOf = (ref: World.MessageRef, address: string) =>
  Effect.map(Suppressions.find(ref.account_id, address), (found) =>
    Option.getOrUndefined(Option.map(found, (record) => (record as { readonly reason: string }).reason)),
  )

layer(Smtp.layer, { excludeTestServices: true })("a complaint at an address for feedback", (it) => {
  const token = (ref: World.MessageRef, key = KEY) =>
    `X-Waybill-Id: ${FeedbackToken.make(key, { account_id: ref.account_id, email_id: ref.stream_id })}`
  const returnPath = (ref: World.MessageRef, recipientIndex: number) =>
    `Return-Path: <${ReturnPath.make(KEY, DOMAIN, { account_id: ref.account_id, emailId: ref.stream_id, recipientIndex })}>`

  it.effect("is recorded in each form, also with redacted addresses, and once", function* () {
    const port = yield* listen()
    const forms = [
      ["fbl", arf],
      ["fbl", jmrp],
      ["FBL", forwarded],
      ["fbl", cfl],
      ["fbl", alone],
      ["abuse", arf],
      ["postmaster", jmrp],
    ] as const
    for (const [nth, [local, form]] of forms.entries()) {
      const address = `ana${nth}@example.org`
      const ref = yield* Smtp.delivered(address)
      for (let times = 0; times < 2; times++)
        assert.match(yield* send(port, [local], form(enclosed([token(ref)]))), /^250 2\.6\.0 /u)
      assert.deepStrictEqual(yield* statuses(ref), ["complained"], String(nth))
      assert.strictEqual(yield* reasonOf(ref, address), "complaint")
      assert.strictEqual((yield* World.timeline(ref)).filter((type) => type === "EmailComplained").length, 1)
    }
  })

  it.effect("about a mail to several names its recipient by the return path, or by an address", function* () {
    const port = yield* listen()
    const byPath = yield* Smtp.delivered("bo@example.org", "cy@example.net")
    yield* send(port, ["fbl"], arf(enclosed([returnPath(byPath, 1), token(byPath)])))
    assert.deepStrictEqual(yield* statuses(byPath), ["delivered", "complained"])
    assert.strictEqual(yield* reasonOf(byPath, "cy@example.net"), "complaint")
    const byName = yield* Smtp.delivered("dee@example.org", "eli@example.net")
    yield* send(port, ["fbl"], arf(enclosed([token(byName)]), "Original-Rcpt-To: <dee@example.org>\r\n"))
    assert.deepStrictEqual(yield* statuses(byName), ["complained", "delivered"])
    // Whoever received the mail could have written this, so nobody is suppressed.
    assert.isUndefined(yield* reasonOf(byName, "dee@example.org"))
    const redacted = yield* Smtp.delivered("flo@example.org", "gus@example.net")
    yield* send(port, ["fbl"], arf(enclosed([token(redacted)]), "Original-Rcpt-To: <redacted>\r\n"))
    assert.deepStrictEqual(yield* statuses(redacted), ["delivered", "delivered"])
  })

  // threat: forged-reports
  it.effect("a complaint that is forged, about no mail of ours or a mere mail changes nothing", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("hal@example.org")
    const genuine = token(ref)
    const other = genuine.endsWith("0") ? "1" : "0"
    const cases = [
      [["fbl"], arf(enclosed([token(ref, Buffer.alloc(32, 7))]))],
      [["fbl"], arf(enclosed([`${genuine.slice(0, -1)}${other}`]))],
      [["fbl"], arf(enclosed([`Message-ID: <${ref.stream_id}@acme.test>`], "hal@example.org"))],
      [["fbl"], jmrp(enclosed([]))],
      [["fbl"], Buffer.from(`Subject: hello\r\n${genuine}\r\n\r\nNo mail is enclosed.\r\n`)],
      [["abuse", "postmaster"], forwarded(enclosed([genuine]))],
      [["abuse", "postmaster"], cfl(enclosed([genuine]))],
      [["fbl"], cfl(enclosed([token(ref, Buffer.alloc(32, 7))]))],
      [["fbl"], alone(enclosed([]))],
      [["fbl"], arf(enclosed([genuine])).subarray(0, 300)],
      [
        ["fbl"],
        Buffer.from(
          arf(enclosed([genuine]))
            .toString()
            .replace("Feedback-Type: abuse", "Feedback-Type: not-spam"),
        ),
      ],
    ] as const
    for (const [to, bytes] of cases) assert.match(yield* send(port, to, bytes), /^250 /u)
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
    assert.isUndefined(yield* reasonOf(ref, "hal@example.org"))
    assert.match(yield* send(port, ["info"], arf(enclosed([genuine]))), /^550 5\.1\.1 /u)
  })

  // threat: forged-reports
  it.effect("an address that everybody knows identifies nobody", function* () {
    const port = yield* listen({ maxConnections: 10, maxUnidentified: 2, maxUnidentifiedPerAddress: 10 })
    const ref = yield* Smtp.delivered("jo@example.org")
    const genuine = ReturnPath.make(KEY, DOMAIN, {
      account_id: ref.account_id,
      emailId: ref.stream_id,
      recipientIndex: 0,
    })
    const clients = []
    for (const recipient of [`fbl@${DOMAIN}`, genuine]) {
      const client = yield* Smtp.raw(port)
      const said = yield* Effect.promise(() => client.all(["EHLO x", "MAIL FROM:<>", `RCPT TO:<${recipient}>`]))
      assert.match(said[2] ?? "", /^250 /u)
      clients.push(client)
    }
    for (const _ of [1, 2]) {
      const client = yield* Smtp.raw(port)
      assert.match(yield* Effect.promise(() => client.say("EHLO x")), /^250 /u)
    }
    const [known, identified] = clients
    // The connection with the return path keeps its slot.
    yield* Effect.promise(() => known?.untilClosed() ?? Promise.resolve())
    assert.match(yield* Effect.promise(() => identified?.say("NOOP") ?? Promise.resolve("")), /^250 /u)
  })

  it.effect("mail has Feedback-ID by tag and account, and our own header", function* () {
    const ref = yield* Smtp.delivered("ian@example.org")
    const { state } = yield* World.history(ref)
    if (state._tag !== "Message") return assert.fail("no message")
    const headers = feedbackHeaders(KEY)
    const tagged = { ...state, accepted: { ...state.accepted, tags: ["Order: paid €", "b"] } }
    const [feedback, own] = headers(ref.account_id, tagged)
    assert.deepStrictEqual(feedback, ["Feedback-ID", `Order-paid-:${ref.account_id}:waybill`])
    assert.deepStrictEqual(
      FeedbackToken.verify([KEY], own?.[1] ?? ""),
      Option.some({ account_id: ref.account_id, email_id: ref.stream_id }),
    )
    assert.deepStrictEqual(headers(ref.account_id, { ...state, accepted: { ...state.accepted, tags: [] } })[0], [
      "Feedback-ID",
      `untagged:${ref.account_id}:waybill`,
    ])
  })
})
