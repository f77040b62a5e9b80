import { Effect, Exit, Layer } from "effect"
import type { AddressInfo } from "node:net"
import nodemailer from "nodemailer"
import { SMTPServer } from "smtp-server"
import { waybill } from "../../../packages/nodemailer-transport/src/WaybillTransport.ts"
import * as Smtp from "../../server/smtp/support.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

/** Instructions to providers, in spellings that a careless reader of headers could miss. */
const STEERING: Readonly<Record<string, string>> = {
  "X-SMTPAPI": '{"to":["victim@example.net"]}',
  "x-smtpapi": '{"to":["victim@example.net"]}',
  X_SMTPAPI: '{"to":["victim@example.net"]}',
  "X-SES-CONFIGURATION-SET": "none",
  "x-Ses-Source-Arn": "arn:aws:ses:us-east-1:1:identity/other.test",
  "X-MSYS-API": '{"options":{"ip_pool":"best"},"cc":["victim@example.net"]}',
  "X-MSYS-Other": "1",
  "X-MC-BccAddress": "victim@example.net",
  "X-Mailgun-Drop-Message": "yes",
  "X-PM-Message-Stream": "broadcast",
  "X-Mailjet-TrackOpen": "1",
  "X-Virtual-MTA": "best",
}
const NAMES = Object.keys(STEERING)

const FROM = "hi@acme.test"
const TO = ["ana@example.org", "bo@example.org"]
const NATIVE = { from: FROM, to: TO, subject: "Hello", text: "Hi" }

type Headers = Readonly<Record<string, string>>

/** Requests of each API with headers. */
const REQUESTS: ReadonlyArray<readonly [way: string, path: string, body: (headers: Headers) => unknown]> = [
  ["send", "/v1/email/send", (headers) => ({ ...NATIVE, headers })],
  ["batch", "/v1/email/send/batch", (headers) => ({ emails: [{ ...NATIVE, headers }] })],
  ["Resend", "/compat/resend/emails", (headers) => ({ ...NATIVE, headers })],
  ["Resend batch", "/compat/resend/emails/batch", (headers) => [{ ...NATIVE, headers }]],
  ["Postmark", "/compat/postmark/email", (headers) => postmark(headers)],
  ["SendGrid", "/compat/sendgrid/v3/mail/send", (headers) => sendgrid({ headers })],
  ["SendGrid, one", "/compat/sendgrid/v3/mail/send", (headers) => sendgrid({}, { headers })],
  ["SendGrid, several", "/compat/sendgrid/v3/mail/send", (headers) => sendgrid({}, { headers }, {})],
]
const postmark = (headers: Headers) => ({
  From: FROM,
  To: TO.join(),
  Subject: "Hello",
  TextBody: "Hi",
  Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
})
const sendgrid = (over: object, ...personalizations: ReadonlyArray<object>) => ({
  from: { email: FROM },
  subject: "Hello",
  content: [{ type: "text/plain", value: "Hi" }],
  personalizations: (personalizations.length === 0 ? [{}] : personalizations).map((each) => ({
    ...each,
    to: TO.map((email) => ({ email })),
  })),
  ...over,
})

interface Relayed {
  readonly to: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
}

/** A relay that takes everything, and what it got. */
const relay = Effect.gen(function* () {
  const mails: Array<Relayed> = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, session, done) => {
      const chunks: Array<Buffer> = []
      stream
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          const text = Buffer.concat(chunks).toString()
          const head = text.slice(0, text.indexOf("\r\n\r\n")).replaceAll(/\r\n(?=[ \t])/gu, "")
          mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), headers: head.split("\r\n") })
          done()
        })
    },
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.promise(() => new Promise<void>((resolve) => server.close(resolve))),
  )
  const { port } = server.server.address() as AddressInfo
  return { at: { host: "127.0.0.1", port }, mails }
})

const setUp = Effect.gen(function* () {
  const customer = yield* signUp({ domains: ["acme.test"] })
  const { url } = yield* Database.Fresh
  const { at, mails } = yield* relay
  yield* Layer.build(World.worker(url, { relay: World.relay(at) }))
  const request = (path: string, body: unknown) =>
    customer.world.request("POST", path, {
      body,
      key: customer.key,
      headers: { "x-postmark-server-token": customer.key },
    })
  return { ...customer, mails, request, port: yield* Smtp.submission() }
})

const namesIn = ({ headers }: Relayed) => headers.map((line) => line.slice(0, line.indexOf(":")).toLowerCase())
const steeringIn = (mails: ReadonlyArray<Relayed>) => {
  const known = new Set(NAMES.map((name) => name.toLowerCase()))
  return mails.flatMap(namesIn).filter((name) => known.has(name))
}

const OPTIONS = { excludeTestServices: true, timeout: "120 seconds" } as const

layer(HttpWorld.layer(), OPTIONS)("a header that steers a provider", (it) => {
  // threat: steering-headers
  it.effect("is refused by each API, which names it, and nothing of the request is sent", function* () {
    const { mails, request } = yield* setUp
    for (const [nth, [way, path, body]] of REQUESTS.entries()) {
      for (const [name, value] of Object.entries(STEERING)) {
        const { status, text } = yield* request(path, body({ [name]: value }))
        assert.include([400, 422], status, `${way} ${name} ${text}`)
        assert.include(text, `The header ${name} is not allowed`, way)
      }
      // The same request without it is sent to its recipients, with the customer's other headers.
      const { status, text } = yield* request(path, body({ "X-Order": String(7_041 + nth) }))
      assert.include([200, 202], status, `${way} ${text}`)
      yield* World.until(
        Effect.sync(() => mails.filter(({ headers }) => headers.includes(`X-Order: ${7_041 + nth}`)).length),
        (count) => count > 0,
      )
    }
    for (const { to } of mails) assert.deepStrictEqual(to, TO)
    assert.deepStrictEqual(steeringIn(mails), [])
  })

  it.effect("is refused with 400, by name, and within a batch for its message only if asked for", function* () {
    const { call, request } = yield* setUp
    const refused = yield* call("POST", "/v1/email/send", { ...NATIVE, headers: STEERING })
    assert.deepStrictEqual(reasonOf(refused), [400, "header_not_allowed"])
    assert.deepStrictEqual(
      refused.json.error.details.map(({ path }: { path: string }) => path),
      NAMES.map((name) => `headers.${name}`),
    )
    const emails = [{ ...NATIVE, headers: { "X-SMTPAPI": "{}" } }, NATIVE]
    assert.deepStrictEqual(reasonOf(yield* call("POST", "/v1/email/send/batch", { emails })), [
      400,
      "header_not_allowed",
    ])
    const { json } = yield* call("POST", "/v1/email/send/batch", { emails, mode: "permissive" })
    assert.deepStrictEqual(
      json.data.map(
        ({ error, status }: { error: { reason: string } | null; status: string }) => error?.reason ?? status,
      ),
      ["header_not_allowed", "queued"],
    )
    const postmarks = [postmark({ "x-pm-tag": "a" }), postmark({ "X-Order": "1" })]
    const answers = (yield* request("/compat/postmark/email/batch", postmarks)).json
    assert.deepStrictEqual(
      answers.map(({ ErrorCode }: { ErrorCode: number }) => ErrorCode),
      [300, 0],
    )
  })

  it.effect("is refused of test mail too, which shows what live mail would get", function* () {
    const { keyWith, world } = yield* setUp
    const key = yield* keyWith({ mode: "test" })
    const body = { ...NATIVE, headers: { "X-SMTPAPI": "{}" } }
    assert.deepStrictEqual(reasonOf(yield* world.request("POST", "/v1/email/send", { key, body })), [
      400,
      "header_not_allowed",
    ])
  })

  // threat: steering-headers
  it.effect("is dropped over SMTP, which its history says, however it is written", function* () {
    const { call, key, mails: all, port } = yield* setUp
    // The worker may find mail of an earlier test, which went to two recipients.
    const own = () => all.filter(({ to }) => to.length === 1)
    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.all(["EHLO x", Smtp.plain(key)]))
    const submit = (lines: ReadonlyArray<string>) =>
      Effect.promise(async () => {
        await client.all([`MAIL FROM:<${FROM}>`, "RCPT TO:<ana@example.org>", "DATA"])
        const message = [`From: ${FROM}`, "To: ana@example.org", "Subject: Hello", ...lines, "", "Hi", "."]
        return client.say(message.join("\r\n"))
      })
    const droppedFrom = Effect.fnUntraced(function* (reply: string) {
      const id = /^250 2\.0\.0 Ok: queued as (msg_\w+)$/u.exec(reply)?.[1]
      assert.isDefined(id, reply)
      return (yield* call("GET", `/v1/email/logs/${id}/events`)).json.data[0].data.dropped_headers
    })
    for (const [name, value] of Object.entries(STEERING))
      assert.deepStrictEqual(yield* droppedFrom(yield* submit([`${name}: ${value}`])), [name])
    assert.deepStrictEqual(yield* droppedFrom(yield* submit([`X-SMTPAPI: ${"x".repeat(5_000)}`])), ["X-SMTPAPI"])
    assert.deepStrictEqual(yield* droppedFrom(yield* submit(["X-PM-Metadata-\u00e9: a"])), undefined)
    const SPELLINGS: ReadonlyArray<readonly [lines: ReadonlyArray<string>, reply: RegExp]> = [
      [['X-SMTPAPI : {"to":["victim@example.net"]}'], /^250 /u],
      [["X-SMTPAPI\t: {}"], /^250 /u],
      [["X-SMTPAPI:", ' {"to":', '\t["victim@example.net"]}'], /^250 /u],
      [["X-SMTPAPI:{}"], /^250 /u],
      [["X-Other: 1", "X-SMTPAPI: {}", "X-SMTPAPI: {}"], /^250 /u],
      // The first letter is Greek, the hyphen is not one: no provider reads these, and no header may have such a name.
      [["\u03a7-SMTPAPI: {}"], /^554 5\.6\.0 validation_failed/u],
      [["X\u2010SMTPAPI: {}"], /^554 5\.6\.0 validation_failed/u],
      [["X-\u017fMTPAPI: {}"], /^554 5\.6\.0 validation_failed/u],
      [["X-SMTPAPI\u200b: {}"], /^554 5\.6\.0 validation_failed/u],
    ]
    const taken = NAMES.length + 2 + SPELLINGS.filter(([, reply]) => reply.test("250 ")).length
    for (const [lines, reply] of SPELLINGS) assert.match(yield* submit(lines), reply, JSON.stringify(lines))
    // A folded line is part of the header before it, and stays that.
    assert.match(yield* submit(["X-Order: 1", " X-SMTPAPI: {}"]), /^250 /u)
    yield* World.until(
      Effect.sync(() => own().length),
      (count) => count === taken + 1,
    )
    const mails = own()
    assert.deepStrictEqual(steeringIn(mails), [])
    assert.deepStrictEqual(
      mails.flatMap(namesIn).filter((name) => name.startsWith("x-pm-")),
      [],
    )
    for (const { to } of mails) assert.deepStrictEqual(to, ["ana@example.org"])
    assert.include(
      mails.flatMap(({ headers }) => headers),
      "X-Order: 1 X-SMTPAPI: {}",
    )
  })

  it.effect("is taken out over SMTP where it has a meaning here", function* () {
    const { call, key, mails, port } = yield* setUp
    const mail = { from: FROM, to: TO, subject: "Hello", text: "Hi" }
    const headers = { "X-PM-Tag": "receipt", "X-PM-Message-Stream": "outbound", "X-PM-TrackLinks": "None" }
    const reply = yield* Smtp.send(port, key, { ...mail, headers })
    const id = /msg_\w+/u.exec(reply)?.[0]
    assert.isDefined(id, reply)
    assert.deepStrictEqual((yield* call("GET", `/v1/email/logs/${id}`)).json.tags, ["receipt"])
    yield* World.until(
      Effect.sync(() => mails.length),
      (count) => count === 1,
    )
    assert.deepStrictEqual(
      mails.flatMap(namesIn).filter((name) => name.startsWith("x-pm-")),
      [],
    )
    for (const other of [
      { "X-PM-TrackLinks": "Sometimes" },
      { "X-PM-Message-Stream": "broadcast" },
      { "X-PM-KeepID": "true" },
    ]) {
      const reply = yield* Smtp.send(port, key, { ...mail, headers: other })
      const { json } = yield* call("GET", `/v1/email/logs/${/msg_\w+/u.exec(reply)?.[0]}/events`)
      assert.deepStrictEqual(
        json.data[0].data.dropped_headers.map((name: string) => name.toLowerCase()),
        Object.keys(other).map((name) => name.toLowerCase()),
      )
    }
    yield* World.until(
      Effect.sync(() => mails.length),
      (count) => count === 4,
    )
    assert.deepStrictEqual(
      mails.flatMap(namesIn).filter((name) => name.startsWith("x-pm-")),
      [],
    )
  })

  it.effect("is refused of our transport of nodemailer as of SMTP", function* () {
    const { key, mails, world } = yield* setUp
    const send = (headers: Headers) =>
      Effect.promise(() =>
        nodemailer
          .createTransport(waybill({ key, url: world.url }))
          .sendMail({ ...NATIVE, headers })
          .then(
            () => "sent",
            (error: { readonly code: string; readonly responseCode: number; readonly message: string }) =>
              `${error.code} ${error.responseCode} ${error.message}`,
          ),
      )
    for (const [name, value] of Object.entries(STEERING))
      assert.match(yield* send({ [name]: value }), new RegExp(`^EMESSAGE 550 .*headers\\.${name}`, "u"))
    assert.deepStrictEqual(mails, [])
  })

  it.effect("is sent if an operator allows it for the account, until no longer", function* () {
    const { account, call, key, mails, port, request } = yield* setUp
    const other = yield* signUp()
    const headers = { "X-PM-Tag": "receipt", "x-mailgun-tag": "shop" }
    const body = { ...NATIVE, headers }
    const allow = (...words: ReadonlyArray<string>) =>
      CommandLine.typed("accounts", "headers", "--account", account, ...words)
    assert.strictEqual((yield* request("/v1/email/send", body)).status, 400)
    const shown = yield* allow("--allow", "X-PM-Tag", "--allow", "X-Mailgun-*")
    assert.deepStrictEqual(shown.allowed_headers, ["x-mailgun-*", "x-pm-tag"])
    const { json } = yield* request("/v1/email/send", body)
    yield* World.until(
      Effect.sync(() => mails.length),
      (count) => count === 1,
    )
    assert.includeMembers(mails[0]?.headers.slice() ?? [], ["X-PM-Tag: receipt", "x-mailgun-tag: shop"])
    // What is read over SMTP stays an instruction to this service.
    assert.match(yield* Smtp.send(port, key, { ...body, headers: { "X-Mailgun-Tag": "a" } }), /^250 /u)
    // Others stay refused, and so does everybody else.
    assert.deepStrictEqual(
      reasonOf(yield* request("/v1/email/send", { ...body, headers: { ...headers, "X-SMTPAPI": "{}" } })),
      [400, "header_not_allowed"],
    )
    yield* other.call("POST", "/v1/domains", { name: "other.test" })
    assert.deepStrictEqual(reasonOf(yield* other.call("POST", "/v1/email/send", { ...body, from: "hi@other.test" })), [
      400,
      "header_not_allowed",
    ])
    for (const wrong of [[], ["--none", "--allow", "X-PM-Tag"], ["--allow", "X-Order"], ["--allow", "X-*"]])
      assert.isTrue(
        Exit.isFailure((yield* CommandLine.type("accounts", "headers", "--account", account, ...wrong)).exit),
        wrong.join(" "),
      )
    yield* allow("--none")
    assert.deepStrictEqual(reasonOf(yield* request("/v1/email/send", body)), [400, "header_not_allowed"])
    // A copy of the first email would have the headers, too.
    assert.deepStrictEqual(reasonOf(yield* call("POST", `/v1/email/${json.id}/resend`)).slice(0, 1), [400])
    const { data } = (yield* call("GET", "/v1/events?types=account.allowed_headers_changed")).json
    assert.deepStrictEqual(
      data.map((each: { data: object }) => each.data),
      [{ names: ["x-mailgun-*", "x-pm-tag"] }, { names: [] }],
    )
  })

  // threat: steering-headers
  it.effect("is left out of mail whose events hold it", function* () {
    const { url } = yield* Database.Fresh
    const { at, mails } = yield* relay
    yield* Layer.build(World.worker(url, { relay: World.relay(at) }))
    const from = yield* World.verifiedDomain("earlier.test")
    const ref = yield* World.send(from, {
      headers: { "X-Order": "1", ...STEERING },
      to: [{ address: "ana@example.org" }],
    })
    yield* World.settled(ref)
    assert.deepStrictEqual(steeringIn(mails), [])
    assert.deepStrictEqual(mails[0]?.to, ["ana@example.org"])
    assert.include(mails[0]?.headers ?? [], "X-Order: 1")
  })
})
