import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Duration, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib"
import { HTML_TEXT_LIMIT } from "@waybill/mail/compose/textFromHtml"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
/** Parsing takes seconds with the limits, on any machine, and minutes to hours without. */
const TIMEOUT = Duration.seconds(60)
const MESSAGE = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }
const REPORT = readFileSync(new URL("../../fixtures/reports/gmail.eml", import.meta.url), "latin1")

const HEAD = "From: a@b.cc\r\nTo: ana@example.org\r\nSubject: s\r\nMIME-Version: 1.0\r\n"
const nested = (levels: number, type: string) =>
  Array.from({ length: levels }, (_, nth) => `Content-Type: ${type}; boundary=b${nth}\r\n\r\n--b${nth}\r\n`).join("")

/** Documents that are small to send, and large, deep or slow for a naive parser. */
const BOMBS: Readonly<Record<string, string>> = {
  "many parts": `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\n".repeat(100_000)}--b--\r\n`,
  depth: `${HEAD}${nested(2_000, "multipart/mixed")}\r\nx\r\n`,
  "messages in messages": `${HEAD}${"Content-Type: message/rfc822\r\n\r\n".repeat(20_000)}x\r\n`,
  "digests in reports": `${HEAD}${nested(1_000, "multipart/report; report-type=delivery-status")}\r\nx\r\n`,
  "many headers": `${HEAD}${"X-A: b\r\n".repeat(90_000)}\r\nx\r\n`,
  "one endless header": `${HEAD}X-A: ${"b".repeat(800_000)}\r\n\r\nx\r\n`,
  "one folded header": `${HEAD}X-A: b\r\n${" b\r\n".repeat(200_000)}\r\nx\r\n`,
  "many encoded words": `${HEAD}X-A: a\r\n${" =?utf-8?B?YWFh?=\r\n".repeat(40_000)}\r\nx\r\n`,
  "many addresses": `${HEAD}Cc: ${"a@b.cc,\r\n ".repeat(80_000)}a@b.cc\r\n\r\nx\r\n`,
  "nested comments": `${HEAD}Cc: ${"(".repeat(400_000)}\r\n\r\nx\r\n`,
  "nested groups": `${HEAD}Cc: ${"g:".repeat(200_000)}\r\n\r\nx\r\n`,
  "quotes without an end": `${HEAD}Cc: ${'"\\'.repeat(200_000)}\r\n\r\nx\r\n`,
  "many parameters": `${HEAD}Content-Type: text/plain; ${"a*0=b; ".repeat(100_000)}\r\n\r\nx\r\n`,
  "a boundary of dashes": `${HEAD}Content-Type: multipart/mixed; boundary="${"-".repeat(60)}"\r\n\r\n${"-".repeat(900_000)}\r\n`,
  "lines of one character": `${HEAD}\r\n${"x\r\n".repeat(300_000)}`,
  "dots alone": `${HEAD}\r\n${"..\r\n".repeat(220_000)}`,
  "quoted-printable without end": `${HEAD}Content-Transfer-Encoding: quoted-printable\r\n\r\n${"=".repeat(900_000)}\r\n`,
  "base64 of nothing": `${HEAD}Content-Transfer-Encoding: base64\r\n\r\n${"====\r\n".repeat(150_000)}`,
  "a character set of its own": `${HEAD}Content-Type: text/plain; charset="${"x".repeat(100_000)}"\r\n\r\n\xff\r\n`,
  "HTML without an end": `${HEAD}Content-Type: text/html\r\n\r\n${"<div>".repeat(190_000)}\r\n`,
}

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("a document bomb over SMTP", (it) => {
  for (const [name, bytes] of Object.entries(BOMBS)) {
    // threat: bombs
    it.effect(
      `of ${name} gets a reply from both listeners, which continue to work`,
      () =>
        Effect.gen(function* () {
          const acme = yield* Smtp.customer()
          const submission = yield* Smtp.raw(yield* Smtp.submission())
          const replies = yield* Effect.promise(() =>
            submission.all([
              "EHLO x",
              Smtp.plain(acme.secret),
              `MAIL FROM:<hi@${acme.domain}>`,
              "RCPT TO:<ana@example.org>",
              "DATA",
            ]),
          )
          assert.match(replies.at(-1) ?? "", /^354 /u)
          submission.write(Buffer.from(`${bytes.replace("a@b.cc", `hi@${acme.domain}`)}.\r\n`, "latin1"))
          assert.match(yield* Effect.promise(() => submission.reply()), /^(?:250 2\.0\.0|55[24] 5\.\d\.\d) /u)
          assert.match(yield* Effect.promise(() => submission.say("NOOP")), /^250 /u)

          const { domain, secretKey } = World.RETURN_PATH
          const port = yield* MailListener.listen({
            host: "127.0.0.1",
            port: 0,
            name: domain,
            inbound: Smtp.REPORTS_ONLY,
            returnPath: { domain, secretKeys: [secretKey] },
          })
          const ref = yield* World.send(acme.sender)
          const path = ReturnPath.make(secretKey, domain, {
            account_id: ref.account_id,
            emailId: ref.stream_id,
            recipientIndex: 0,
          })
          const reports = yield* Smtp.raw(port)
          const report = [`MAIL FROM:<>`, `RCPT TO:<${path}>`, "DATA"]
          yield* Effect.promise(() => reports.all(["EHLO mx.example.org", ...report]))
          reports.write(Buffer.from(`${bytes}.\r\n`, "latin1"))
          assert.match(yield* Effect.promise(() => reports.reply()), /^250 2\.6\.0 /u)
          assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued"])
          // The next message on the same connection is a genuine report.
          yield* Effect.promise(() => reports.all(report))
          reports.write(Buffer.from(`${REPORT.replaceAll(/^\./gmu, "..").replace(/\r?\n?$/u, "")}\r\n.\r\n`, "latin1"))
          assert.match(yield* Effect.promise(() => reports.reply()), /^250 2\.6\.0 /u)
          assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailBounced"])
        }).pipe(Effect.timeout(TIMEOUT)),
      2 * Duration.toMillis(TIMEOUT),
    )
  }
})

/** HTML that fills the part from which text is derived. */
const HTML = [
  "<div>",
  "<table><tr><td>",
  "<ul><li>",
  "<a href=x>",
  "<p ",
  "<!--",
  "&#x41;",
  "<b><i>",
  '<img alt="',
  "</div>",
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("a document bomb over HTTP", (it) => {
  const setUp = signUp({ domains: ["acme.test"] })

  // threat: endless-requests
  it.effect("a compressed body is refused and not decompressed", function* () {
    const { key, world } = yield* setUp
    const large = Buffer.from(JSON.stringify({ ...MESSAGE, text: "x".repeat(40_000_000) }))
    const encodings = { gzip: gzipSync(large), deflate: deflateSync(large), br: brotliCompressSync(large, FAST) }
    for (const [encoding, raw] of Object.entries(encodings)) {
      assert.isBelow(raw.length, 1_000_000)
      for (const path of ["/v1/email/send", "/v1/email/send/batch", "/v1/webhooks"]) {
        for (const value of [encoding, `identity, ${encoding}`, encoding.toUpperCase()]) {
          const { json, status } = yield* world.request("POST", path, {
            key,
            raw,
            headers: { "content-encoding": value },
          })
          assert.deepStrictEqual([status, json.error.code], [400, "invalid_request"], `${path} ${value}`)
        }
      }
    }
  })

  // threat: bombs
  it.effect(
    "hostile HTML is delivered like any other mail and can be read back",
    function* () {
      const { call } = yield* setUp
      const { url } = yield* Database.Fresh
      const capture = yield* Layer.build(Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer)))
      yield* Layer.build(World.worker(url, { capture: Layer.succeedContext(capture) }))
      for (const piece of HTML) {
        const html = piece.repeat(Math.ceil((2 * HTML_TEXT_LIMIT) / piece.length))
        const body = { from: MESSAGE.from, to: MESSAGE.to, subject: "x", html }
        const sent = yield* call("POST", "/v1/email/send", body)
        assert.strictEqual(sent.status, 200, sent.text)
        yield* World.until(
          call("GET", `/v1/email/logs/${sent.json.id}`),
          ({ json }) => json.status === "delivered",
          TIMEOUT,
        )
        const read = yield* call("GET", `/v1/sandbox/messages/${sent.json.id}`)
        assert.deepStrictEqual([read.status, read.json.html.trim()], [200, html.trim()], piece)
      }
    },
    4 * Duration.toMillis(TIMEOUT),
  )
})
