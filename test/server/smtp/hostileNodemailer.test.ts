import { Effect, Layer } from "effect"
import * as SteeringHeader from "@waybill/domain/account/SteeringHeader"
import type { SendMailOptions } from "nodemailer"
import type { Address } from "@waybill/domain/values/Address"
import * as SubmittedEmail from "../../../apps/server/src/smtp/submitted/SubmittedEmail.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "./support.ts"

const EVIL = "evil@x.test"
const INJECTED = "\r\nX-SMTPAPI: {}"
const raw = (...lines: ReadonlyArray<string>): SendMailOptions => ({ raw: lines.join("\r\n") })
const headersByName = (names: string): SendMailOptions["headers"] =>
  JSON.parse(names) as Readonly<Record<string, string>>

/** Messages of a program that passes on what somebody typed, and what the server says. The rest is up to nodemailer. */
const MAILS: ReadonlyArray<readonly [name: string, reply: RegExp, mail: (domain: string) => SendMailOptions]> = [
  [
    "a name with a line break",
    /^554 .*`to\[0\]`/u,
    () => ({ to: { name: `A${INJECTED}`, address: "ana@example.org" } }),
  ],
  [
    "an address with a command",
    /^553 /u,
    () => ({ to: { name: "A", address: `ana@example.org\r\nRCPT TO:<${EVIL}>` } }),
  ],
  ["two addresses in one", /^553 /u, () => ({ to: { name: "A", address: `ana@example.org, ${EVIL}` } })],
  ["a quoted local part", /^553 /u, () => ({ to: `"${EVIL} x"@example.org` })],
  ["an address as a name", /^250 /u, () => ({ to: `"${EVIL}" <ana@example.org>` })],
  ["an address in a comment", /^250 /u, () => ({ to: `ana@example.org (${EVIL})` })],
  ["an address in an encoded word", /^250 /u, () => ({ to: "=?utf-8?Q?evil=40x.test,?= <ana@example.org>" })],
  ["a group", /^250 /u, () => ({ to: "Team: ana@example.org;" })],
  ["groups in groups", /^250 /u, () => ({ to: "A: B: C: ana@example.org;;;" })],
  ["a source route", /^250 /u, () => ({ to: `<@${EVIL.slice(5)}:ana@example.org>` })],
  ["an option of sendmail", /^250 /u, () => ({ to: "-oQ/tmp@example.org" })],
  [
    "other recipients in headers",
    /^250 /u,
    (domain) => ({
      to: EVIL,
      cc: EVIL,
      envelope: { from: `hi@${domain}`, to: ["ana@example.org"] },
    }),
  ],
  ["another return path", /^250 /u, () => ({ envelope: { from: EVIL, to: ["ana@example.org"] } })],
  ["a subject with a line break", /^250 /u, () => ({ subject: `a${INJECTED}` })],
  ["a header with a line break", /^250 /u, () => ({ headers: { "X-A": `a${INJECTED}` } })],
  ["a header name with a line break", /^250 /u, () => ({ headers: { [`X-A: b${INJECTED.slice(0, -4)}`]: "{}" } })],
  [
    "a prepared header with a line break",
    /^250 /u,
    () => ({
      headers: { "X-A": { prepared: true, value: `a${INJECTED}` } },
    }),
  ],
  [
    "a prepared header that is folded",
    /^250 /u,
    () => ({
      headers: { "X-A": { prepared: true, value: "a\r\n X-SMTPAPI: {}" } },
    }),
  ],
  ["a header twice", /^250 /u, () => ({ headers: { "X-A": ["1", "2"] } })],
  ["a header twice that a message has once", /^554 .*only once/u, () => ({ headers: { "List-Id": ["1", "2"] } })],
  [
    "names of a prototype",
    /^250 /u,
    () => ({
      headers: headersByName('{"constructor":"a","toString":"b","hasOwnProperty":"c"}'),
    }),
  ],
  [
    "a list header with a line break",
    /^250 /u,
    () => ({
      list: { unsubscribe: { url: "a@b.cc", comment: `c${INJECTED}` }, [`a: b${INJECTED}`]: "a@b.cc" },
    }),
  ],
  [
    "a calendar with a line break",
    /^250 /u,
    () => ({
      icalEvent: { method: `request${INJECTED}`, filename: `a${INJECTED}.ics`, content: "BEGIN:VCALENDAR" },
    }),
  ],
  [
    "an alternative with a line break",
    /^250 /u,
    () => ({
      alternatives: [{ contentType: `text/x-web${INJECTED}`, content: "x" }],
    }),
  ],
  [
    "a file with line breaks",
    /^250 /u,
    () => ({
      html: '<img src="cid:a">',
      attachments: [
        { filename: `a${INJECTED}`, content: "x", contentType: `text/plain${INJECTED}`, cid: `a>${INJECTED}` },
        { filename: "../../etc/passwd", content: "x", headers: { "X-SMTPAPI": "{}" } },
        { raw: `Content-Type: text/plain${INJECTED}\r\n\r\nx` },
      ],
    }),
  ],
  [
    "3,000 headers",
    /^554 .*at most 50 headers; 3000/u,
    () => ({
      headers: Object.fromEntries(Array.from({ length: 3_000 }, (_, nth) => [`X-${nth}`, "v"])),
    }),
  ],
  [
    "bytes with other recipients",
    /^250 /u,
    (domain) => raw(`From: hi@${domain}`, `To: ${EVIL}`, `Bcc: ${EVIL}`, "", "x"),
  ],
  ["bytes that steer", /^250 /u, (domain) => raw(`From: hi@${domain}`, "X-SMTPAPI: {}", "", "x")],
  [
    "bytes that steer after a line of spaces",
    /^250 /u,
    (domain) => raw(`From: hi@${domain}`, " ", "X-SMTPAPI: {}", "", "x"),
  ],
  [
    "bytes that end the message",
    /^250 /u,
    (domain) => raw(`From: hi@${domain}`, "", ".", `RCPT TO:<${EVIL}>`, ".", ""),
  ],
  ["bytes of a text alone", /^554 .*without a colon/u, () => raw("Dear Ana", "see you", "")],
  [
    "bytes of a header without a colon",
    /^554 .*without a colon/u,
    (domain) => raw(`From: hi@${domain}`, "X-SMTPAPI", "", "x"),
  ],
  ["bytes with two authors", /^554 .*`from`/u, (domain) => raw(`From: hi@${domain}`, `From: ${EVIL}`, "", "x")],
  ["bytes of a mailbox", /^554 /u, (domain) => raw(`From hi@${domain} 10:00`, `From: hi@${domain}`, "", "x")],
]

layer(Smtp.layer, { excludeTestServices: true, timeout: "90 seconds" })("hostile messages by nodemailer", (it) => {
  // threat: injected-lines
  it.effect("reach only the recipients of the envelope, with no header that was injected", function* () {
    const { url } = yield* Database.Fresh
    const server = yield* SmtpServer.listen()
    yield* Layer.build(World.worker(url, { relay: World.relay(server) }))
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    for (const [name, expected, mail] of MAILS) {
      const before = server.mails.length
      const given = mail(acme.domain)
      const envelope = { from: `hi@${acme.domain}`, to: ["ana@example.org"] }
      const base = given.raw === undefined ? { to: "ana@example.org", subject: "s", text: "t" } : { envelope }
      const reply = yield* Smtp.send(port, acme.secret, { from: `hi@${acme.domain}`, ...base, ...given })
      assert.match(reply, expected, name)
      if (!reply.startsWith("250")) continue
      yield* World.until(
        Effect.sync(() => server.mails.length),
        (count) => count > before,
      )
      const [relayed, ...more] = server.mails.slice(before)
      assert.deepStrictEqual(
        [relayed?.to.join(), more],
        [name.includes("option") ? "-oQ/tmp@example.org" : "ana@example.org", []],
        name,
      )
      const text = relayed?.bytes.toString() ?? ""
      const names = text
        .slice(0, text.indexOf("\r\n\r\n"))
        .split("\r\n")
        .filter((line) => !/^[ \t]/u.test(line))
        .map((line) => line.slice(0, line.indexOf(":")))
      assert.deepStrictEqual(
        names.filter((each) => SteeringHeader.isSteering(each) || /^bcc$/iu.test(each)),
        [],
        name,
      )
      assert.notMatch(text, /^X-SMTPAPI:/imu, name)
    }
    assert.deepStrictEqual(server.violations, [])
  })

  it.effect("keeps a header named like a part of a prototype", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const lines = [`From: hi@${acme.domain}`, "To: ana@example.org", "__proto__: 1", "constructor: 2", "", "x", "."]
    const replies = yield* Effect.promise(() =>
      client.all([
        "EHLO x",
        Smtp.plain(acme.secret),
        `MAIL FROM:<hi@${acme.domain}>`,
        "RCPT TO:<ana@example.org>",
        "DATA",
        lines.join("\r\n"),
      ]),
    )
    assert.match(replies.at(-1) ?? "", /^250 /u)
    const [mail] = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(Object.entries(mail?.headers ?? {}), [
      ["__proto__", "1"],
      ["constructor", "2"],
    ])
  })

  // threat: odd-providers
  it.effect("counts headers before it looks at each", function* () {
    let looked = 0
    const headers = Array.from({ length: 20_000 }, (_, nth) => ({
      name: `X-${nth}`,
      get value() {
        looked++
        return "v"
      },
    }))
    const submitted = {
      from: [],
      to: [],
      cc: [],
      replyTo: [],
      subject: "s",
      subjects: 1,
      html: null,
      text: "t",
      files: [],
    }
    const envelope = { from: "hi@acme.test", recipients: ["ana@example.org" as Address] }
    const refused = yield* Effect.flip(SubmittedEmail.read({ ...submitted, headers }, envelope))
    assert.deepStrictEqual(refused.details, [
      { path: "headers", message: "takes at most 50 headers; 20000 were given" },
    ])
    assert.strictEqual(looked, 0)
  })
})
