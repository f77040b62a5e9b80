import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as Parser from "@waybill/mail/parsing/Parser"
import { type Options, ParserPool } from "@waybill/mail/parsing/ParserPool"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Sandbox from "@waybill/store/content/Sandbox"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import { Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { htmlBesideText } from "../../support/mail/mailForms.ts"

/** HTML that takes a tenth of a second to read, a hundred times what these pools allow. */
const SLOW = "<b>".repeat(60_000)
const MAIL = htmlBesideText("{from}", SLOW)

const poolOf = (options: Partial<Options>) =>
  Layer.effect(
    Parser.Pool,
    Effect.acquireRelease(
      Effect.sync(() => new ParserPool(options)),
      (pool) => Effect.promise(() => pool.end()),
    ),
  )

/** A pool whose deadline ends every task at once. */
const NoTimePool = poolOf({ deadline_ms: 1, deadline_ms_per_mb: 0 })
/** A pool whose queue has no capacity. */
const FullQueuePool = poolOf({ inAll: 0 })

const submit = (mail: string) =>
  Effect.gen(function* () {
    const customer = yield* Smtp.customer()
    const client = yield* Smtp.raw(yield* Smtp.submission())
    const from = `hi@${customer.domain}`
    const commands = ["EHLO x", Smtp.plain(customer.secret), `MAIL FROM:<${from}>`, "RCPT TO:<ana@example.org>", "DATA"]
    yield* Effect.promise(() => client.all(commands))
    client.write(`${mail.replace("{from}", from)}\r\n.\r\n`)
    return yield* Effect.promise(() => client.reply())
  })

const report = (bytes: string) =>
  Effect.gen(function* () {
    const { domain, secretKey } = World.RETURN_PATH
    const returnPath = { domain, secretKeys: [secretKey] }
    const port = yield* MailListener.listen({
      host: "127.0.0.1",
      port: 0,
      name: domain,
      inbound: Smtp.REPORTS_ONLY,
      returnPath,
    })
    const { sender } = yield* Smtp.customer()
    const { account_id, stream_id: emailId } = yield* World.send(sender)
    const client = yield* Smtp.raw(port)
    const path = ReturnPath.make(secretKey, domain, { account_id, emailId, recipientIndex: 0 })
    yield* Effect.promise(() => client.all(["EHLO x", "MAIL FROM:<>", `RCPT TO:<${path}>`, "DATA"]))
    client.write(`${bytes}\r\n.\r\n`)
    return yield* Effect.promise(() => client.reply())
  })

const unread = Effect.map(PrometheusMetrics.format(), (text) =>
  Number(/waybill_parsed_documents_total\{grammar="report",outcome="deadline"\} (\d+)/u.exec(text)?.[1] ?? 0),
)

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })(
  "SMTP: a document that exceeds the parsing deadline",
  (it) => {
    it.effect("is refused with a 5xx at submission, and the next message is accepted", () =>
      Effect.gen(function* () {
        assert.match(yield* submit(MAIL), /^554 5\.6\.0 The message takes too long to parse/u)
        assert.match(yield* submit("From: {from}\r\n\r\nx"), /^250 2\.0\.0 /u)
      }).pipe(Effect.provide(NoTimePool)),
    )

    // threat: unread-reports
    it.effect("is kept unread and counted if it is a report", () =>
      Effect.gen(function* () {
        const before = yield* unread
        assert.match(yield* report(MAIL), /^250 2\.6\.0 /u)
        assert.strictEqual(yield* unread, before + 1)
        const [unreadReport, ...more] = (yield* UnreadReports.list()).rows
        assert.deepStrictEqual(
          [unreadReport?.reason, unreadReport?.size_bytes, more],
          ["deadline", Buffer.byteLength(`${MAIL}\r\n`), []],
        )
        assert.match(yield* report("From: x@x.test\r\n\r\nx"), /^250 2\.6\.0 /u)
        assert.lengthOf((yield* UnreadReports.list()).rows, 1)
      }).pipe(Effect.provide(NoTimePool)),
    )
  },
)

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })(
  "SMTP: a document that finds the parsing queue full",
  (it) => {
    it.effect("is deferred, as a mail and as a report", () =>
      Effect.gen(function* () {
        assert.match(yield* submit(MAIL), /^451 4\.3\.2 /u)
        assert.match(yield* report(MAIL), /^451 4\.3\.2 /u)
      }).pipe(Effect.provide(FullQueuePool)),
    )
  },
)

const MESSAGE = { from: "hi@acme.test", to: "ana@example.org", subject: "s" }

const setUp = signUp({ domains: ["acme.test"] })

const worker = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const capture = yield* Layer.build(Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer)))
  yield* Layer.build(World.worker(url, { capture: Layer.succeedContext(capture) }))
})

/** Shows a captured mail through the API; returns the status, the code, the reason and the Retry-After header. */
const showing =
  ({ account, call, world }: Effect.Success<typeof setUp>) =>
  (mail: string) =>
    Effect.gen(function* () {
      const sent = yield* call("POST", "/v1/email/send", { ...MESSAGE, text: "x" })
      const bytes = Buffer.from(mail)
      yield* Effect.orDie(world.sql`
      INSERT INTO sandbox_messages (account_id, id, recipients, subject, mail_from, size_bytes, bytes, expires_at)
      VALUES (${account}, ${sent.json.id}, '{ana@example.org}', 's', '', ${bytes.length}::int, ${bytes}, now() + '1 day')`)
      const { headers, json, status } = yield* call("GET", `/v1/sandbox/messages/${sent.json.id}`)
      return [status, json.error?.code, json.error?.reason, headers.get("retry-after")]
    })

layer(HttpWorld.layer().pipe(Layer.provideMerge(NoTimePool)), { excludeTestServices: true, timeout: "60 seconds" })(
  "HTTP: a document that exceeds the parsing deadline",
  (it) => {
    it.effect("is sent as HTML only if no text can be derived", function* () {
      const { account, call } = yield* setUp
      yield* worker
      const sent = yield* call("POST", "/v1/email/send", { ...MESSAGE, html: SLOW })
      const find = Sandbox.find(account, sent.json.id)
      const captured = yield* World.until(find, (mail) => mail._tag === "Some")
      const mail = captured._tag === "Some" ? Buffer.from(captured.value.bytes).toString() : ""
      assert.include(mail, "Content-Type: text/html")
      assert.notInclude(mail, "Content-Type: text/plain")
    })

    it.effect("is shown as unreadable in the sandbox, which shows other mail", function* () {
      const show = showing(yield* setUp)
      assert.deepStrictEqual(yield* show(MAIL), [422, "unprocessable", "message_unreadable", null])
      assert.strictEqual((yield* show("From: a@b.test\r\n\r\nx"))[0], 200)
    })
  },
)

layer(HttpWorld.layer().pipe(Layer.provideMerge(FullQueuePool)), { excludeTestServices: true, timeout: "60 seconds" })(
  "HTTP: a document that finds the parsing queue full",
  (it) => {
    it.effect("is answered with a retryable error in the usual shape", function* () {
      assert.deepStrictEqual(yield* showing(yield* setUp)(MAIL), [503, "internal_error", "overloaded", "5"])
    })
  },
)
