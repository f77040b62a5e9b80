import { Effect, Logger, Redacted, Result } from "effect"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as SmtpBody from "@waybill/mail/smtp/SmtpBody"
import * as Transport from "@waybill/mail/transport/Transport"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { lines, outgoing, PATIENT, relayTo, short } from "./outgoing.ts"

const TO = ["ana@example.test"]
const NAMED = { host: "localhost", tls: { mode: "required", verify: true } } as const

const deliver = (relay: RelayTransport.Relay, message = outgoing(), to: ReadonlyArray<string> = TO, trusts = true) =>
  Transport.Transport.use((transport) => transport.deliver(message, to)).pipe(
    Effect.provide(
      RelayTransport.layer(relay, {
        name: "waybill.test",
        timeouts: PATIENT,
        ...(trusts ? { ca: SmtpServer.authority } : {}),
      }),
    ),
  )

describe("SMTP_URL", () => {
  const parsed = (url: string) =>
    Result.match(RelayTransport.parse(url), {
      onFailure: (bad) => bad.reason,
      onSuccess: ({ host, login, port, tls }) =>
        `${host} ${port} ${tls.mode}${tls.verify ? " verified" : ""}${
          login === undefined ? "" : ` ${login.user}:${Redacted.value(login.password)}`
        }`,
    })
  const cases: Record<string, string> = {
    "smtp://relay.example": "relay.example 587 required verified",
    "smtp://relay.example:2525/": "relay.example 2525 required verified",
    "smtps://u%40x:p%3Aw@relay.example": "relay.example 465 implicit verified u@x:p:w",
    "smtp://127.0.0.1:25": "127.0.0.1 25 opportunistic",
    "smtp://localhost:25": "localhost 25 opportunistic",
    "smtp://[::1]:25": "::1 25 opportunistic",
    "smtps://localhost": "localhost 465 implicit verified",
    "smtp://10.0.0.1": "10.0.0.1 587 required verified",
    "http://relay.example": "begins with http:",
    "relay.example": "is not a URL",
    "smtp://user@relay.example": "needs both a user and a password, or neither",
    "smtp://relay.example/x": "has a path",
    "smtp://relay.example?tls=no": "has an unknown parameter tls",
    "smtp://relay.example?confirm=yes": "takes confirm=none or confirm=dsn",
    "smtp://relay.example?connections=0": "takes connections=1 to 100",
    "smtp://a%ZZ:b@relay.example": "has a login that is not percent-encoded",
  }
  for (const [url, expected] of Object.entries(cases)) it(url, () => assert.strictEqual(parsed(url), expected))

  it("tells Postmark the return path, which it reports with each event, and no other", () => {
    const told = (url: string) => Result.getOrThrow(RelayTransport.parse(url)).metadata
    for (const host of ["smtp.postmarkapp.com", "smtp-broadcasts.postmarkapp.com"])
      assert.strictEqual(told(`smtp://u:p@${host}:587`), "X-PM-Metadata-waybill")
    for (const host of ["relay.example", "postmarkapp.com.example", "notpostmarkapp.com"])
      assert.isUndefined(told(`smtp://u:p@${host}:587`))
  })

  it("never shows its password", () => {
    assert.notInclude(JSON.stringify(RelayTransport.parse("smtp://u:secret@relay.example")), "secret")
    const error = Result.getOrThrow(Result.flip(RelayTransport.parse("smtp://:secret@relay.example")))
    assert.include(error.message, "SMTP_URL needs both")
    assert.notInclude(error.message, "secret")
  })
})

describe("TLS to a relay", () => {
  it.effect("uses STARTTLS and checks the certificate against the name", function* () {
    const server = yield* SmtpServer.listen({ starttls: SmtpServer.certified })
    const [outcome] = yield* deliver(relayTo(server, NAMED))
    assert.strictEqual(outcome?.status, "delivered")
    assert.strictEqual(outcome?.tls, "TLSv1.3")
    assert.isTrue(server.mails[0]?.tls)
    assert.deepStrictEqual(server.lines.slice(0, 3), ["EHLO waybill.test", "STARTTLS", "EHLO waybill.test"])
  })

  it.effect("starts with the first byte for smtps", function* () {
    const server = yield* SmtpServer.listen({ implicit_tls: SmtpServer.certified })
    const [outcome] = yield* deliver(relayTo(server, { host: "localhost", tls: { mode: "implicit", verify: true } }))
    assert.strictEqual(outcome?.tls, "TLSv1.3")
  })

  const refusals: ReadonlyArray<readonly [string, SmtpServer.Options, boolean]> = [
    ["no STARTTLS offered", {}, true],
    ["an unknown issuer", { starttls: SmtpServer.certified }, false],
    ["a certificate of somebody else", { starttls: SmtpServer.selfSigned }, true],
    [
      "a broken handshake",
      {
        starttls: SmtpServer.certified,
        script: ({ phase }) => (phase === "starttls" ? "broken-tls" : undefined),
      },
      true,
    ],
    [
      "STARTTLS refused after all",
      {
        starttls: SmtpServer.certified,
        script: ({ phase }) => (phase === "starttls" ? "454 4.7.0 no TLS today" : undefined),
      },
      true,
    ],
    [
      "only TLS 1.1",
      {
        starttls: {
          ...SmtpServer.certified,
          minVersion: "TLSv1.1",
          maxVersion: "TLSv1.1",
          ciphers: "DEFAULT@SECLEVEL=0",
        },
      },
      true,
    ],
  ]
  for (const [name, options, trusts] of refusals) {
    it.effect(`defers and sends nothing in the clear: ${name}`, function* () {
      const server = yield* SmtpServer.listen({ ...options, auth: { user: "u", password: "p" } })
      const login = { user: "u", password: Redacted.make("p") }
      const [outcome] = yield* deliver(relayTo(server, { ...NAMED, login }), outgoing(), TO, trusts)
      assert.strictEqual(outcome?.status, "deferred", String(outcome?.response))
      assert.deepStrictEqual(
        server.lines.filter((line) => /^(?:AUTH|MAIL)/u.test(line)),
        [],
      )
    })
  }

  it.effect("a reply injected after STARTTLS ends the session", function* () {
    const server = yield* SmtpServer.listen({
      starttls: SmtpServer.certified,
      script: ({ phase }) => (phase === "starttls" ? "injected-reply" : undefined),
    })
    const [outcome] = yield* deliver(relayTo(server, NAMED))
    assert.strictEqual(outcome?.status, "deferred")
    assert.include(outcome?.response ?? "", "unencrypted data after the reply to STARTTLS")
  })
})

describe("relay login", () => {
  const login = { user: "mailer", password: Redacted.make("pä ss") }
  for (const mechanisms of [["PLAIN", "LOGIN"], ["LOGIN"]]) {
    it.effect(`uses ${mechanisms[0]}`, function* () {
      const server = yield* SmtpServer.listen({ auth: { user: "mailer", password: "pä ss", mechanisms } })
      const [outcome] = yield* deliver(relayTo(server, { login }))
      assert.strictEqual(outcome?.status, "delivered")
      assert.strictEqual(server.mails[0]?.user, "mailer")
    })
  }
  it.effect("a wrong password defers", function* () {
    const server = yield* SmtpServer.listen({ auth: { user: "mailer", password: "other" } })
    const [outcome] = yield* deliver(relayTo(server, { login }))
    assert.strictEqual(short(outcome), "deferred auth")
    assert.strictEqual(outcome?.code, 535)
  })
  it.effect("a relay without a supported mechanism defers", function* () {
    const server = yield* SmtpServer.listen({ auth: { user: "mailer", password: "x", mechanisms: ["GSSAPI"] } })
    assert.strictEqual(short((yield* deliver(relayTo(server, { login })))[0]), "deferred auth")
  })

  const secret = { user: "op-mailer-1", password: Redacted.make("opRelaySecret-7") }
  it.effect("what the relay says about the login is for the operator's log, not for the customer", function* () {
    for (const auth of [
      { user: "other", password: "other" },
      { user: "other", password: "other", mechanisms: ["GSSAPI"] },
    ]) {
      const logged: Array<string> = []
      const server = yield* SmtpServer.listen({
        auth,
        script: ({ phase }) => (phase === "auth" ? "535 5.7.8 op-mailer-1 may not use opRelaySecret-7" : undefined),
      })
      const [outcome] = yield* deliver(relayTo(server, { login: secret })).pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(JSON.stringify(message)))])),
      )
      assert.strictEqual(outcome?.response, Transport.LOGIN_FAILED)
      assert.strictEqual(short(outcome), "deferred auth")
      assert.match(
        logged.join(),
        /at auth: (?:535 5\.7\.8 \[masked\] may not use \[masked\]|the server offers neither)/u,
      )
    }
  })

  it.effect("user and password are masked in each reply", function* () {
    const server = yield* SmtpServer.listen({
      auth: { user: "op-mailer-1", password: "opRelaySecret-7" },
      script: ({ phase }) => (phase === "rcpt" ? "550 5.7.1 op-mailer-1 (opRelaySecret-7) may not send" : undefined),
    })
    const [outcome] = yield* deliver(relayTo(server, { login: secret }))
    assert.include(outcome?.response ?? "", "[masked] ([masked]) may not send")
  })
})

describe("SMTP extensions are checked before MAIL", () => {
  it.effect("one that reports metadata is told the return path before the headers of the message", function* () {
    const server = yield* SmtpServer.listen()
    const relay = relayTo(server, { metadata: "X-PM-Metadata-waybill" })
    const [outcome] = yield* deliver(relay)
    assert.strictEqual(outcome?.status, "delivered")
    const text = server.mails[0]?.bytes.toString() ?? ""
    assert.isTrue(text.startsWith("X-PM-Metadata-waybill: b-1\r\nFrom: hi@acme.test\r\n"), text)
  })

  it.effect("a message over its SIZE bounces before MAIL", function* () {
    const server = yield* SmtpServer.listen({ size: 100 })
    const [outcome] = yield* deliver(relayTo(server))
    assert.strictEqual(short(outcome), "bounced too_large")
    assert.strictEqual(outcome?.enhanced_code, "5.3.4")
    assert.strictEqual(outcome?.suppress, "never")
    assert.isFalse(server.lines.some((line) => line.startsWith("MAIL")))
  })
  it.effect("SIZE is declared where it is offered, SIZE 0 is no limit", function* () {
    const server = yield* SmtpServer.listen({ size: 0 })
    yield* deliver(relayTo(server))
    assert.include(server.mails[0]?.mail_line ?? "", ` SIZE=${outgoing().bytes.length}`)
  })

  const utf8 = outgoing({ smtpUtf8: true, bytes: lines("From: grüße@acme.test", "", "x") })
  it.effect("mail that needs SMTPUTF8 does not go to a server without it", function* () {
    const server = yield* SmtpServer.listen()
    const [outcome] = yield* deliver(relayTo(server), utf8, ["jürgen@example.test"])
    assert.strictEqual(outcome?.status, "bounced")
    assert.strictEqual(outcome?.enhanced_code, "5.6.7")
    assert.strictEqual(outcome?.suppress, "never")
    assert.deepStrictEqual(server.mails, [])
  })
  it.effect("whom the headers do not name and only the envelope needs it for, costs the others nothing", function* () {
    const to = ["jürgen@example.test", "ana@example.test", "ben@bücher.test"]
    const server = yield* SmtpServer.listen()
    const outcomes = yield* deliver(relayTo(server), outgoing(), to)
    assert.deepStrictEqual(
      outcomes.map(({ enhanced_code, recipient, status }) => [recipient, status, enhanced_code]),
      [
        ["jürgen@example.test", "bounced", "5.6.7"],
        ["ana@example.test", "delivered", "2.0.0"],
        ["ben@bücher.test", "delivered", "2.0.0"],
      ],
    )
    const able = yield* SmtpServer.listen({ smtputf8: true })
    yield* deliver(relayTo(able), outgoing(), to)
    assert.deepStrictEqual(
      able.mails.map((mail) => [mail.to.length, mail.mail_line.endsWith(" SMTPUTF8")]),
      [
        [2, false],
        [1, true],
      ],
    )
  })
  it.effect("and goes as it is to one with it", function* () {
    const server = yield* SmtpServer.listen({ smtputf8: true })
    const [outcome] = yield* deliver(relayTo(server), utf8, ["jürgen@example.test"])
    assert.strictEqual(outcome?.status, "delivered")
    assert.deepStrictEqual(server.mails[0]?.to, ["jürgen@example.test"])
    assert.include(server.mails[0]?.mail_line ?? "", " BODY=8BITMIME SMTPUTF8")
  })

  it.effect("a local part whose dots need it is quoted", function* () {
    const server = yield* SmtpServer.listen()
    const to = ["first..last@example.test", ".ana.@example.test", "ana.b@example.test"]
    const outcomes = yield* deliver(relayTo(server), outgoing(), to)
    assert.deepStrictEqual(
      outcomes.map(({ recipient, status }) => [recipient, status]),
      to.map((recipient) => [recipient, "delivered"]),
    )
    const quoted = ['"first..last"@example.test', '".ana."@example.test', "ana.b@example.test"]
    assert.deepStrictEqual(server.mails[0]?.to, quoted)
  })

  it.effect("an address with a line break never reaches the wire", function* () {
    const server = yield* SmtpServer.listen()
    const [outcome] = yield* deliver(relayTo(server), outgoing(), ["a@b.test>\r\nRCPT TO:<evil@b.test"])
    assert.strictEqual(outcome?.status, "bounced")
    assert.strictEqual(outcome?.suppress, "never")
    assert.isFalse(server.lines.some((line) => line.includes("evil")))
  })

  it.effect("a body with a bare line feed is never sent", function* () {
    const server = yield* SmtpServer.listen()
    const [outcome] = yield* deliver(
      relayTo(server),
      outgoing({ bytes: Buffer.from("a: b\r\n\r\nx\n.\r\nMAIL FROM:<>\r\n") }),
    )
    assert.strictEqual(short(outcome), "failed protocol")
    assert.strictEqual(server.connections().opened, 0)
  })
})

describe("confirm=dsn", () => {
  it.effect("the relay's 250 is sent, not delivered, and it is told what to report", function* () {
    const server = yield* SmtpServer.listen({ dsn: true })
    const [outcome] = yield* deliver(relayTo(server, { confirm: "dsn" }), outgoing(), ["a+b=c@example.test"])
    assert.strictEqual(outcome?.status, "sent")
    assert.include(server.mails[0]?.mail_line ?? "", `RET=HDRS ENVID=${outgoing().emailId}`)
    assert.include(server.mails[0]?.rcpt_lines[0] ?? "", "NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;a+2Bb+3Dc@example.test")
  })
  it.effect("a relay that offers no reports has delivered", function* () {
    const server = yield* SmtpServer.listen()
    assert.strictEqual((yield* deliver(relayTo(server, { confirm: "dsn" })))[0]?.status, "delivered")
  })
})

describe("SmtpBody", () => {
  const made = (text: string) => {
    const body = SmtpBody.make(Buffer.from(text, "latin1"))
    return Result.isFailure(body) ? body.failure.at : Buffer.from(body.success.bytes).toString("latin1")
  }
  it("doubles the dots that begin lines and ends with a whole line", () => {
    assert.strictEqual(made("a\r\n.b\r\n..\r\nc.d\r\n"), "a\r\n..b\r\n...\r\nc.d\r\n")
    assert.strictEqual(made(".a"), "..a\r\n")
    assert.strictEqual(made(""), "")
    assert.strictEqual(made("\r\n.\r\n"), "\r\n..\r\n")
  })
  it("refuses bare line breaks wherever they stand", () => {
    assert.strictEqual(made("\n"), 0)
    assert.strictEqual(made("a\r\nb\n"), 4)
    assert.strictEqual(made("a\rb\r\n"), 1)
    assert.strictEqual(made("a\r\r\n"), 1)
    assert.strictEqual(made("a\r\nb\r"), 4)
  })
})
