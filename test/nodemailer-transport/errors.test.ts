import { Effect } from "effect"
import nodemailer from "nodemailer"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { TransportError, waybill } from "../../packages/nodemailer-transport/src/WaybillTransport.ts"
import { serverWith } from "../client/support.ts"
import { assert, layer } from "../support/effectTest.ts"
import { freePort } from "../support/process/service.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"
import { failureBy, MAIL, type Mail, sendBy, setUp } from "./support.ts"

/** Messages that Waybill cannot send as they are, the code, and the field that the error names. */
const REFUSED: ReadonlyArray<readonly [mail: object, code: string, path: string]> = [
  [{ raw: "Subject: x\r\n\r\nx" }, "EMESSAGE", "raw"],
  [{ watchHtml: "<p>x</p>" }, "EMESSAGE", "watchHtml"],
  [{ amp: "<html ⚡4email></html>" }, "EMESSAGE", "amp"],
  [{ alternatives: [{ contentType: "text/x-web-markdown", content: "*x*" }] }, "EMESSAGE", "alternatives"],
  [{ messageId: "<a@acme.test>" }, "EMESSAGE", "messageId"],
  [{ date: new Date(0) }, "EMESSAGE", "date"],
  [{ dsn: { id: "1" } }, "EMESSAGE", "dsn"],
  [{ dkim: { domainName: "acme.test", keySelector: "a", privateKey: "x" } }, "EMESSAGE", "dkim"],
  [{ attachments: [{ raw: "x" }] }, "EMESSAGE", "attachments[0].raw"],
  [{ attachments: [{ content: "x", headers: { "X-A": "b" } }] }, "EMESSAGE", "attachments[0].headers"],
  [{ attachments: [{ content: "x", contentDisposition: "inline" }] }, "EMESSAGE", "attachments[0].contentDisposition"],
  [{ attachments: [{ filename: "x" }] }, "EMESSAGE", "attachments[0]"],
  [{ attachments: [{ content: "x", contentType: "x" }] }, "EMESSAGE", "attachments[0].contentType"],
  [{ attachments: [{ content: "x", cid: "a b" }] }, "EMESSAGE", "attachments[0].cid"],
  [
    { attachments: [{ content: "x" }], icalEvent: { content: "x", method: "a b" } },
    "EMESSAGE",
    "icalEvent.contentType",
  ],
  [{ headers: { "X-A": ["a", "b"] } }, "EMESSAGE", "headers.X-A"],
  [{ headers: { "X-Tag": "receipt" } }, "EMESSAGE", "headers.X-Tag"],
  [{ headers: { "Message-ID": "<a@b.cc>" } }, "EMESSAGE", "headers.Message-ID"],
  [{ headers: { "X-A": "a\nBcc: eve@example.org" } }, "EMESSAGE", "headers.X-A"],
  [{ headers: { "X-A": { other: "a" } } }, "EMESSAGE", "headers.X-A"],
  [{ headers: { "X-A": ["a", () => "b"] } }, "EMESSAGE", "headers.X-A"],
  [{ headers: { "X-PM-Tag": "receipt" } }, "EMESSAGE", "headers.X-PM-Tag"],
  [{ priority: "urgent" }, "EMESSAGE", "priority"],
  [{ priority: "constructor" }, "EMESSAGE", "priority"],
  [{ references: `<${"a".repeat(4_000)}@b.cc>` }, "EMESSAGE", "references"],
  [{ replyTo: "nobody" }, "EMESSAGE", "replyTo"],
  [{ replyTo: "a@-" }, "EMESSAGE", "replyTo[0]"],
  [{ subject: "x".repeat(2_000) }, "EMESSAGE", "subject"],
  [{ tags: ["1", "2", "3", "4", "5", "6"] }, "EMESSAGE", "tags"],
  [{ scheduledAt: "tomorrow" }, "EMESSAGE", "scheduledAt"],
  [{ scheduledAt: new Date("tomorrow") }, "EMESSAGE", "scheduledAt"],
  [{ idempotencyKey: "x".repeat(300) }, "EMESSAGE", "idempotencyKey"],
  [{ to: undefined }, "EENVELOPE", "to"],
  [{ to: "nobody" }, "EENVELOPE", "to"],
  [{ cc: ["bo@example.org", "Team: nobody;"] }, "EENVELOPE", "cc"],
  [{ to: "a@-" }, "EENVELOPE", "to[0]"],
  [{ from: undefined }, "EENVELOPE", "from"],
  [{ from: ["a@acme.test", "b@acme.test"] }, "EENVELOPE", "from"],
  [{ envelope: { from: "bounces@acme.test", to: "ana@example.org" } }, "EENVELOPE", "envelope.from"],
  [{ envelope: { to: "bo@example.org" } }, "EENVELOPE", "envelope.to"],
  [{ envelope: ["bo@example.org"] }, "EENVELOPE", "envelope"],
  [{ envelope: "bo@example.org" }, "EENVELOPE", "envelope"],
  [
    { envelope: { to: ["ana@example.org", "bo@example.org>\r\nRCPT TO:<eve@example.org"] } },
    "EENVELOPE",
    "envelope.to",
  ],
  [{ envelope: { to: ["ana@example.org", "bo@example.org Bcc: eve@example.org"] } }, "EENVELOPE", "envelope.to"],
  [{ to: "ana@example.org\r\nBcc: eve@example.org" }, "EENVELOPE", "to"],
  [{ to: "ana@example.org Bcc: eve@example.org" }, "EENVELOPE", "to"],
  [{ cc: ["bo@example.org", { name: "Bo\nBcc: x", address: "bo@example.org" }] }, "EENVELOPE", "cc"],
  [{ bcc: { name: "Bo", address: "bo@example.org\r\nRCPT TO:<eve@example.org>" } }, "EENVELOPE", "bcc"],
  [{ from: "hi@acme.test\r\nX-SMTPAPI: {}" }, "EENVELOPE", "from"],
  [{ replyTo: "hi@acme.test\r\nX-SMTPAPI: {}" }, "EMESSAGE", "replyTo"],
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "errors of the nodemailer transport",
  (it) => {
    it.effect("name the field that cannot be sent, in nodemailer's spelling", function* () {
      const { admin, fail, world } = yield* setUp
      for (const [mail, code, path] of REFUSED) {
        const error = yield* fail(mail as Partial<Mail>)
        assert.deepStrictEqual([error.code, error.problems[0]?.path], [code, path], JSON.stringify(mail))
        assert.include(error.message, `\`${path}\` `, JSON.stringify(mail))
      }
      const { json } = yield* world.request("GET", "/v1/email/logs", { key: admin })
      assert.deepStrictEqual(json.data, [])
    })

    it.effect("have the codes and replies of SMTP, and the reason of the API", function* () {
      const { account, admin, fail, options, world } = yield* setUp
      const reader = yield* world.key(account, { scopes: ["email:logs:read"] })
      yield* world.request("POST", "/v1/suppressions", { key: admin, body: { email: "gone@example.org" } })
      const withKey = (key: string) => Effect.promise(() => failureBy({ ...options, key }, MAIL))
      const errors = [
        yield* withKey("wb_unknown"),
        yield* withKey(reader.secret),
        yield* fail({ from: "hi@elsewhere.test" }),
        yield* fail({ subject: "a\0b" }),
        yield* fail({ to: "gone@example.org" }),
      ]
      assert.deepStrictEqual(
        errors.map(({ code, reason, responseCode, status }) => [code, responseCode, status, reason]),
        [
          ["EAUTH", 535, 401, "api_key_invalid"],
          ["EAUTH", 550, 403, "missing_scope"],
          ["EENVELOPE", 550, 422, "domain_not_verified"],
          ["EMESSAGE", 554, 400, "validation_failed"],
          ["EENVELOPE", 550, 422, "all_recipients_suppressed"],
        ],
      )
      assert.deepStrictEqual(errors.at(-1)?.rejected, ["gone@example.org"])
      for (const { message, reason, requestId, response, responseCode } of errors) {
        assert.strictEqual(response, `${responseCode} ${reason}: ${message}`)
        assert.match(requestId ?? "", /^req_/u)
      }
    })

    it.effect("keep nodemailer's limits of files and URLs", function* () {
      const { options } = yield* setUp
      for (const [source, code] of [
        [{ path: "/etc/hostname" }, "EFILEACCESS"],
        [{ href: "http://127.0.0.1:1/" }, "EURLACCESS"],
      ] as const) {
        const mail = { ...MAIL, attachments: [source], disableFileAccess: true, disableUrlAccess: true }
        const error: unknown = yield* Effect.promise(() => sendBy(options, mail).catch((error: unknown) => error))
        assert.propertyVal(error, "code", code)
      }
    })

    it.effect("verify tells whether the key may send, and sends nothing", function* () {
      const { account, admin, options, world } = yield* setUp
      const reader = yield* world.key(account, { scopes: ["email:logs:read"] })
      const verify = (key: string) =>
        Effect.promise(() =>
          nodemailer
            .createTransport(waybill({ ...options, key }))
            .verify()
            .catch((error: unknown) => (error instanceof TransportError ? error.code : error)),
        )
      assert.strictEqual(yield* verify(options.key), true)
      assert.strictEqual(yield* verify(reader.secret), "EAUTH")
      assert.strictEqual(yield* verify("wb_unknown"), "EAUTH")
      const { json } = yield* world.request("GET", "/v1/email/logs", { key: admin })
      assert.deepStrictEqual(json.data, [])
      const called = yield* Effect.callback<unknown>((resume) =>
        nodemailer
          .createTransport(waybill(options))
          .verify((error, success) => resume(Effect.succeed([error, success]))),
      )
      assert.deepStrictEqual(called, [null, true])
    })

    it.effect("distinguish a service that is not there, does not answer, or is not Waybill", function* () {
      const port = yield* Effect.promise(() => freePort())
      const silent = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((socket) => socket.on("error", () => undefined))
          await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
          return server
        }),
        (server) => Effect.sync(() => server.close()),
      )
      const code = (url: string, more: object = {}) =>
        Effect.promise(async () => {
          const { code, responseCode, status } = await failureBy({ key: "wb_x", url, retries: 0, ...more }, MAIL)
          return [code, responseCode, status]
        })
      assert.deepStrictEqual(yield* code(`http://127.0.0.1:${port}`), ["ECONNECTION", undefined, undefined])
      const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
      assert.deepStrictEqual(yield* code(silentUrl, { timeoutMs: 200 }), ["ETIMEDOUT", undefined, undefined])
      const page = yield* Effect.promise(() => serverWith([{ status: 404, text: "<h1>Not found</h1>" }]))
      assert.deepStrictEqual(yield* code(page.baseUrl), ["EMESSAGE", 554, 404])
      const away = yield* Effect.promise(() =>
        serverWith([{ status: 302, headers: { location: "https://example.org" } }]),
      )
      assert.deepStrictEqual(yield* code(away.baseUrl), ["ECONNECTION", undefined, undefined])
      yield* Effect.promise(() => Promise.all([page[Symbol.asyncDispose](), away[Symbol.asyncDispose]()]))
    })

    it.effect("are not reported for an answer that a repetition gets: lost, cut off or 503", function* () {
      const id = "msg_1"
      const server = yield* Effect.promise(() =>
        serverWith(["drop", { status: 503, headers: { "retry-after": "0" } }, { status: 200, body: { id } }]),
      )
      const info = yield* Effect.promise(() => sendBy({ key: "wb_x", url: server.baseUrl }, MAIL))
      assert.strictEqual(info.id, id)
      assert.lengthOf(server.seen, 3)
      assert.lengthOf([...new Set(server.seen.map(({ headers }) => headers["idempotency-key"]))], 1)
      yield* Effect.promise(() => server[Symbol.asyncDispose]())
    })

    it.effect("an aborted send ends with EABORT", function* () {
      const server = yield* Effect.promise(() => serverWith([{ status: 200, body: { id: "msg_1" }, after_ms: 5_000 }]))
      const control = new AbortController()
      const sending = failureBy({ key: "wb_x", url: server.baseUrl }, { ...MAIL, signal: control.signal } as Mail)
      yield* Effect.promise(async () => {
        while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
        control.abort()
      })
      assert.strictEqual((yield* Effect.promise(() => sending)).code, "EABORT")
      yield* Effect.promise(() => server[Symbol.asyncDispose]())
    })

    it("a transport without a key is refused when it is made", () => {
      for (const options of [undefined, {}, { key: "" }])
        assert.throws(() => waybill(options as never), TransportError, "`key` is missing")
    })
  },
)
