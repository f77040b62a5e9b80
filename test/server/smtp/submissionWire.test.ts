import { Clock, Effect, Exit, Scope } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { isLoopback } from "../../../apps/server/src/smtp/Connection.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Smtp from "./support.ts"

const run = promisify(execFile)
const python = await run("python3", ["--version"]).then(
  () => true,
  () => false,
)

const head = (acme: Smtp.Customer) => `From: hi@${acme.domain}\r\nTo: ana@example.org\r\nSubject: s\r\n\r\n`
const begin = (acme: Smtp.Customer) => [
  "EHLO x",
  Smtp.plain(acme.secret),
  `MAIL FROM:<hi@${acme.domain}>`,
  "RCPT TO:<ana@example.org>",
  "DATA",
]

/** Sends mail by Python's smtplib, with its own line ends, dot-stuffing and login. */
const SCRIPT = `
import smtplib, ssl, sys
from email.message import EmailMessage
port, key, domain, tls = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
message = EmailMessage()
message["From"] = "Gr\\u00fc\\u00dfe <hi@" + domain + ">"
message["To"] = "Ana <ana@example.org>"
message["Subject"] = "H\\u00e4llo \\u2713"
message["X-Tag"] = "python"
message.set_content("Dear Ana,\\n.\\n..dots\\n\\u00e4\\u00f6\\u00fc\\n")
message.add_alternative("<p>Dear Ana</p>", subtype="html")
message.add_attachment(b"%PDF\\x00\\xff\\r\\n.\\r\\n", maintype="application", subtype="pdf", filename="r\\u00e9sum\\u00e9.pdf")
with smtplib.SMTP("127.0.0.1", port) as client:
    if tls != "none":
        context = ssl.create_default_context(cafile=tls)
        context.check_hostname = False
        client.starttls(context=context)
    client.login("anybody", key)
    refused = client.send_message(message, to_addrs=["ana@example.org", "secret@example.org"])
    assert refused == {}, refused
    try:
        client.sendmail("hi@" + domain, ["a@example.org"], "From: hi@elsewhere.test\\nSubject: s\\n\\nhi")
        raise SystemExit("it was taken")
    except smtplib.SMTPDataError as error:
        print(error.smtp_code, error.smtp_error.decode())
`

layer(Smtp.layer, { excludeTestServices: true })("SMTP submission on the wire", (it) => {
  for (const tls of [false, true])
    it.effect.skipIf(!python)(
      `takes what Python's smtplib sends${tls ? " over STARTTLS" : ""} (skipped without python3)`,
      () =>
        Effect.gen(function* () {
          const port = yield* Smtp.submission(tls ? { tls: Smtp.CERTIFICATE, isLocal: () => false } : {})
          const acme = yield* Smtp.customer()
          const ca = new URL("../../fixtures/tls/ca.pem", import.meta.url).pathname
          const { stdout } = yield* Effect.promise(() =>
            run("python3", ["-c", SCRIPT, `${port}`, acme.secret, acme.domain, tls ? ca : "none"]),
          )
          assert.match(stdout, /^550 5\.7\.1 domain_not_verified: /u)
          const [mail, ...more] = yield* Smtp.accepted(acme.account_id)
          assert.deepStrictEqual(more, [])
          assert.strictEqual(
            JSON.stringify([mail?.from, mail?.to, mail?.bcc]),
            JSON.stringify([
              { address: `hi@${acme.domain}`, name: "Grüße" },
              [{ address: "ana@example.org", name: "Ana" }],
              [{ address: "secret@example.org" }],
            ]),
          )
          assert.deepStrictEqual([mail?.subject, mail?.tags, mail?.headers], ["Hällo ✓", ["python"], {}])
          assert.strictEqual(mail?.body.text, "Dear Ana,\n.\n..dots\näöü\n")
          const [file] = mail?.body.attachments ?? []
          assert.deepStrictEqual(
            [file?.filename, Buffer.from(file?.bytes ?? []).toString("latin1")],
            ["résumé.pdf", "%PDF\0\xff\r\n.\r\n"],
          )
        }),
    )

  // threat: plain-text
  it.effect("accepts a key over STARTTLS, and discards commands sent before it", function* () {
    const port = yield* Smtp.submission({ tls: Smtp.CERTIFICATE, isLocal: () => false })
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const offered = yield* Effect.promise(() => client.lines("EHLO x"))
    assert.include(offered, "250-STARTTLS")
    assert.isFalse(offered.some((line) => line.includes("AUTH")))
    assert.match(
      yield* Effect.promise(() => client.say(Smtp.plain(acme.secret))),
      /^538 5\.7\.11 .* Issue STARTTLS first$/u,
    )
    assert.match(yield* Effect.promise(() => client.say("AUTH LOGIN")), /^538 5\.7\.11 /u)
    // Commands injected after STARTTLS are plaintext and must not be run inside TLS.
    client.write("STARTTLS\r\nEHLO injected\r\nQUIT\r\n")
    assert.match(yield* Effect.promise(() => client.reply()), /^220 /u)
    yield* Effect.promise(() => client.secure())
    assert.match(yield* Effect.promise(() => client.say(Smtp.plain(acme.secret))), /^503 5\.5\.1 /u)
    const secured = yield* Effect.promise(() => client.lines("EHLO x"))
    assert.include(secured, "250-AUTH PLAIN LOGIN")
    assert.notInclude(secured, "250-STARTTLS")
    const replies = yield* Effect.promise(() => client.all([...begin(acme).slice(1), `${head(acme)}hi\r\n.`]))
    assert.match(replies.at(-1) ?? "", /^250 2\.0\.0 Ok: queued as /u)
  })

  // threat: plain-text
  it.effect("refuses a key without TLS from another machine", function* () {
    const port = yield* Smtp.submission({ isLocal: () => false })
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const replies = yield* Effect.promise(() =>
      client.all(["EHLO x", Smtp.plain(acme.secret), "STARTTLS", "MAIL FROM:<a@b.cc>"]),
    )
    assert.match(replies[1] ?? "", /^538 5\.7\.11 .* This server has no certificate for STARTTLS$/u)
    assert.match(replies[2] ?? "", /^500 /u)
    assert.match(replies[3] ?? "", /^530 5\.7\.0 /u)
    const local = ["127.0.0.1", "127.8.8.8", "::1", "10.0.0.1", "192.0.2.1", "::", "fe80::1", "1.127.0.0"].filter(
      isLoopback,
    )
    assert.deepStrictEqual(local, ["127.0.0.1", "127.8.8.8", "::1"])
  })

  it.effect("answers pipelined commands in order, with two messages in one write", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const message = (nth: number) => [...begin(acme).slice(2), `${head(acme)}message ${nth}\r\n.`]
    client.write(
      `${["EHLO x", Smtp.plain(acme.secret), ...message(1), ...message(2), "NOOP", "QUIT"].join("\r\n")}\r\n`,
    )
    const codes: Array<string> = []
    for (let nth = 0; nth < 12; nth++) codes.push((yield* Effect.promise(() => client.reply())).slice(0, 3))
    assert.deepStrictEqual(codes, ["250", "235", "250", "250", "354", "250", "250", "250", "354", "250", "250", "221"])
    assert.deepStrictEqual(
      (yield* Smtp.accepted(acme.account_id)).map(({ body }) => body.text),
      ["message 1", "message 2"],
    )
  })

  const OWN_PAUSE_MS = 95
  const MANY = 100

  it.effect("greets without a pause", function* () {
    const port = yield* Smtp.submission()
    const greeted = Effect.scoped(
      Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        yield* Smtp.raw(port)
        return (yield* Clock.currentTimeMillis) - began
      }),
    )
    // The library's own pause is never shorter than this. A busy machine gets several attempts.
    let tries = 0
    while ((yield* greeted) >= OWN_PAUSE_MS) assert.isBelow(++tries, MANY, "it always pauses")
  })

  it.effect("undoes dot-stuffing exactly, wherever bytes are split", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.all(begin(acme)))
    for (const byte of `${head(acme)}..\r\n...\r\na.\r\n..b\r\n\r\n.\r\n`) client.write(byte)
    assert.match(yield* Effect.promise(() => client.reply()), /^250 /u)
    assert.strictEqual((yield* Smtp.accepted(acme.account_id))[0]?.body.text, ".\n..\na.\n.b\n")
  })

  for (const [name, end, isTaken] of [
    ["LF . LF", "\n.\n", true],
    ["LF . CRLF", "\n.\r\n", true],
    ["CRLF . LF", "\r\n.\n", true],
    ["LF LF . LF", "\n\n.\n", true],
    ["CR . CR", "\r.\r", false],
    ["CR . LF", "\r.\n", false],
    ["LF . CR", "\n.\r", false],
    ["CR . CRLF", "\r.\r\n", false],
    ["CRLF . CR", "\r\n.\r", false],
    ["NUL before CRLF", "\r\n.\0\r\n", true],
  ] as const) {
    // threat: smuggling
    it.effect(`smuggles nothing past ${name}`, function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const client = yield* Smtp.raw(port)
      yield* Effect.promise(() => client.all(begin(acme)))
      const second = `MAIL FROM:<ceo@${acme.domain}>\r\nRCPT TO:<victim@example.org>\r\nDATA\r\n${head(acme)}smuggled\r\n.\r\n`
      client.write(`${head(acme)}first${end}${second}NOOP\r\n`)
      const replies = [yield* Effect.promise(() => client.reply()), yield* Effect.promise(() => client.reply())]
      const mails = yield* Smtp.accepted(acme.account_id)
      if (isTaken) {
        assert.match(replies[0] ?? "", /^250 2\.0\.0 Ok: queued as /u)
        assert.deepStrictEqual(
          mails.map(({ bcc, to }) => [...to, ...bcc].map(({ address }) => address)),
          [["ana@example.org"]],
        )
        assert.include(mails[0]?.body.text ?? "", "smuggled")
      } else {
        assert.match(replies[0] ?? "", /^554 5\.6\.0 The message has a line that ends in a bare CR\./u)
        assert.deepStrictEqual(mails, [])
      }
      assert.match(replies[1] ?? "", /^250 2\.0\.0 OK$/u)
    })
  }

  it.effect("makes a bare LF a CRLF, in headers, texts and files", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.all(begin(acme)))
    const lines = [
      `From: hi@${acme.domain}`,
      "To: ana@example.org",
      "Subject: folded",
      " subject",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      "",
      "first",
      "..",
      "last",
      "--b",
      "Content-Type: application/x-own",
      "Content-Disposition: attachment; filename=a",
      "",
      "one",
      "two",
      "--b--",
    ]
    client.write(`${lines.join("\n")}\r\n.\r\n`)
    assert.match(yield* Effect.promise(() => client.reply()), /^250 /u)
    const [mail] = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(
      [mail?.subject, mail?.body.text, Buffer.from(mail?.body.attachments[0]?.bytes ?? []).toString()],
      ["folded subject", "first\n.\nlast", "one\r\ntwo"],
    )
  })

  it.effect("commits nothing of a message whose client disconnects", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.all(begin(acme)))
    client.write(`${head(acme)}half`)
    client.end()
    const words = yield* Smtp.send(port, acme.secret, {
      from: `hi@${acme.domain}`,
      to: "bo@example.org",
      subject: "s",
      text: "whole",
    })
    assert.match(words, /^250 /u)
    assert.deepStrictEqual(
      (yield* Smtp.accepted(acme.account_id)).map(({ body }) => body.text),
      ["whole"],
    )
  })

  it.effect("announces its maximum size, and refuses a larger message before it is sent", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    assert.include(yield* Effect.promise(() => client.lines("EHLO x")), `250 SIZE ${Smtp.MAX_MESSAGE_BYTES}`)
    yield* Effect.promise(() => client.say(Smtp.plain(acme.secret)))
    assert.match(
      yield* Effect.promise(() => client.say(`MAIL FROM:<a@b.cc> SIZE=${Smtp.MAX_MESSAGE_BYTES + 1}`)),
      /^552 5\.3\.4 /u,
    )
  })

  it.effect("stops in order: closes idle connections and accepts no new ones", function* () {
    const scope = yield* Scope.make()
    const port = yield* Scope.provide(Smtp.submission(), scope)
    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.say("EHLO x"))
    yield* Scope.close(scope, Exit.void)
    assert.match(yield* Effect.promise(() => client.reply()), /^421 4\.3\.2 /u)
    yield* Effect.promise(() => client.untilClosed())
  })

  it.effect("refuses parameters of MAIL and RCPT that it does not know, and never ignores one", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const say = (line: string) => Effect.promise(() => client.say(line))
    const offered = yield* Effect.promise(() => client.lines("EHLO x"))
    assert.deepStrictEqual(
      offered.filter((line) => /DSN|REQUIRETLS/u.test(line)),
      [],
    )
    yield* say(Smtp.plain(acme.secret))
    const from = `MAIL FROM:<hi@${acme.domain}>`
    const mail: ReadonlyArray<readonly [parameters: string, reply: RegExp]> = [
      [
        "FOO=BAR",
        /^555 5\.5\.4 FOO is not a known parameter of MAIL\. Known: SIZE, BODY, SMTPUTF8, AUTH, RET, ENVID$/u,
      ],
      ["SIZE=100 foo", /^555 5\.5\.4 FOO /u],
      ["RET", /^501 5\.5\.4 RET takes FULL or HDRS/u],
      ["RET=SOME", /^501 5\.5\.4 RET takes FULL or HDRS/u],
      ["RET=FULL RET=HDRS", /^501 /u],
      ["ENVID", /^501 5\.5\.4 ENVID takes 1 to 100 characters/u],
      ["ENVID=a+zz", /^501 5\.5\.4 ENVID /u],
      ["ENVID=a+0D+0A", /^501 /u],
      [`ENVID=${"x".repeat(101)}`, /^501 5\.5\.4 ENVID /u],
      ["NOTIFY=NEVER", /^555 5\.5\.4 NOTIFY is not a known parameter of MAIL/u],
      ["REQUIRETLS", /^555 5\.5\.4 REQUIRETLS /u],
      ["MT-PRIORITY=3", /^555 5\.5\.4 MT-PRIORITY /u],
      ["=BAR", /^501 5\.5\.4 "=BAR" is not a parameter/u],
      ["FOO=", /^501 5\.5\.4 "FOO=" is not a parameter/u],
      ["FOO=a=b", /^501 5\.5\.4 /u],
      ["SIZE=many", /^501 /u],
      ["SIZE", /^501 /u],
      ["BODY=BINARYMIME", /^501 /u],
      ["SMTPUTF8=yes", /^501 /u],
      ["AUTH", /^501 5\.5\.4 AUTH /u],
      ["AUTH=a+zz", /^501 5\.5\.4 AUTH /u],
      // Each pair must not be tried in two ways.
      [`AUTH=${"<>".repeat(60)}+zz`, /^501 5\.5\.4 AUTH /u],
      ["SIZE=1 SIZE=2", /^501 /u],
    ]
    for (const [parameters, reply] of mail) assert.match(yield* say(`${from} ${parameters}`), reply)
    const known = "SIZE=100 BODY=8BITMIME SMTPUTF8 AUTH=hi+2B1@example.org RET=HDRS ENVID=QQ+2B314159"
    for (const parameters of ["AUTH=<>", "BODY=7BIT", "ret=full envid=a@b", known]) {
      assert.match(yield* say(`${from} ${parameters}`), /^250 /u)
      if (parameters !== known) assert.match(yield* say("RSET"), /^250 /u)
    }
    const rcpt: ReadonlyArray<readonly [parameters: string, reply: RegExp]> = [
      ["NOTIFY", /^501 5\.5\.4 NOTIFY takes NEVER alone, or SUCCESS, FAILURE and DELAY/u],
      ["NOTIFY=ALWAYS", /^501 5\.5\.4 NOTIFY /u],
      ["NOTIFY=NEVER,DELAY", /^501 5\.5\.4 NOTIFY /u],
      ["NOTIFY=SUCCESS,", /^501 5\.5\.4 NOTIFY /u],
      ["NOTIFY=DELAY NOTIFY=DELAY", /^501 /u],
      ["ORCPT=ana@example.org", /^501 5\.5\.4 ORCPT takes a type of address, a semicolon and xtext/u],
      ["ORCPT=rfc822;", /^501 5\.5\.4 ORCPT /u],
      ["RET=FULL", /^555 5\.5\.4 RET is not a known parameter of RCPT\. Known: NOTIFY, ORCPT$/u],
      ["FOO", /^555 5\.5\.4 FOO is not a known parameter of RCPT\. Known: NOTIFY, ORCPT$/u],
      ["FOO=", /^501 /u],
    ]
    for (const [parameters, reply] of rcpt) assert.match(yield* say(`RCPT TO:<ana@example.org> ${parameters}`), reply)
    assert.match(yield* say("DATA"), /^503 /u)
    for (const parameters of ["", " NOTIFY=NEVER", " notify=success,failure,delay ORCPT=rfc822;ana+2Bx@example.org"])
      assert.match(yield* say(`RCPT TO:<ana@example.org>${parameters}`), /^250 /u)
  })

  it.effect("takes the parameters of DSN from a mail program that asks for reports, and sends none", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const mail = { from: `hi@${acme.domain}`, to: "ana@example.org", subject: "s", text: "hi" }
    // The program sends them only to a server that offers DSN.
    const dsn = { id: "QQ314159", return: "headers" as const, notify: ["failure" as const, "delay" as const] }
    assert.match(
      yield* Smtp.send(port, acme.secret, { ...mail, dsn: { ...dsn, recipient: "ana@example.org" } }),
      /^250 /u,
    )
    const client = yield* Smtp.raw(port)
    const replies = yield* Effect.promise(() =>
      client.all([
        "EHLO x",
        Smtp.plain(acme.secret),
        `MAIL FROM:<hi@${acme.domain}> BODY=8BITMIME RET=HDRS ENVID=QQ314159`,
        "RCPT TO:<bo@example.org> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;bo@example.org",
        "DATA",
        `${head(acme)}hi\r\n.`,
      ]),
    )
    assert.match(replies.at(-1) ?? "", /^250 2\.0\.0 Ok: queued as /u)
    assert.deepStrictEqual(
      (yield* Smtp.accepted(acme.account_id)).map(({ bcc, to }) => [...to, ...bcc].map(({ address }) => address)),
      [["ana@example.org"], ["bo@example.org"]],
    )
  })
})
