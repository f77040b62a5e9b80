import { Effect } from "effect"
import { createReadStream } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { serverWith } from "../client/support.ts"
import { assert, layer } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"
import { headersOf, MAIL, sendBy, setUp } from "./support.ts"

/** All byte values, so that a wrong encoding changes something. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, nth) => nth))
const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString("base64")
const PNG = Buffer.from([137, 80, 78, 71])

/** A folder with the file `bytes.bin`. */
const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "waybill-transport-"))
    await writeFile(join(path, "bytes.bin"), BYTES)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true })),
)

/** The URL of a server that returns the bytes to each request. */
const webServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((_, response) => response.end(BYTES))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return server
  }),
  (server) => Effect.sync(() => server.close()),
).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the nodemailer transport", (it) => {
  it.effect(
    "sends addresses as texts, objects and lists, and returns what nodemailer's SMTP transport returns",
    function* () {
      const { deliver } = yield* setUp
      const { info, message } = yield* deliver({
        from: { name: 'Ann "A", Acme', address: "hi@acme.test" },
        sender: "Robot <robot@acme.test>",
        to: ["Ana <ana@example.org>", { name: "Bo", address: "bo@bücher.example" }],
        cc: "cy@example.org, Team: dee@example.org, eve@example.org;",
        bcc: { name: "", address: "secret@example.org" },
        replyTo: ["one@acme.test", "Two <two@acme.test>"],
        subject: "Grüße ✓",
      })
      const headers = headersOf(message.raw)
      assert.strictEqual(headers["from"], '"Ann \\"A\\", Acme" <hi@acme.test>')
      assert.match(headers["sender"] ?? "", /^"?Robot"? <robot@acme\.test>$/u)
      assert.match(headers["to"] ?? "", /^"?Ana"? <ana@example\.org>, "?Bo"? <bo@/u)
      assert.strictEqual(headers["cc"], "cy@example.org, dee@example.org, eve@example.org")
      assert.match(headers["reply-to"] ?? "", /^one@acme\.test, "?Two"? <two@acme\.test>$/u)
      assert.notProperty(headers, "bcc")
      assert.strictEqual(message.subject, "Grüße ✓")
      assert.lengthOf(message.recipients, 6)
      assert.include(message.recipients, "secret@example.org")
      assert.match(info.id, /^msg_/u)
      assert.strictEqual(info.messageId, headers["message-id"])
      assert.strictEqual(info.response, `250 Queued as ${info.id}`)
      const [first, second] = ["ana@example.org", "bo@xn--bcher-kva.example"]
      const to = [first, second, "cy@example.org", "dee@example.org", "eve@example.org", "secret@example.org"]
      assert.deepStrictEqual(info.envelope, { from: "hi@acme.test", to })
      assert.deepStrictEqual([info.accepted, info.rejected, info.pending], [to, [], []])
    },
  )

  it.effect("sends texts from strings, Buffers, streams, files and objects", function* () {
    const { deliver } = yield* setUp
    const path = join(yield* folder, "body.html")
    yield* Effect.promise(() => writeFile(path, "<p>ä ✓</p>"))
    const bodies = [
      ["ä ✓", "<p>ä ✓</p>"],
      [Buffer.from("ä ✓"), Buffer.from("<p>ä ✓</p>")],
      [Readable.from([Buffer.from("ä "), Buffer.from("✓")]), createReadStream(path)],
      [{ content: base64("ä ✓"), encoding: "base64" }, { path }],
      [{ path: `data:text/plain;base64,${base64("ä ✓")}` }, { content: Buffer.from("<p>ä ✓</p>") }],
    ]
    for (const [text, html] of bodies) {
      const { message } = yield* deliver({ text, html } as object)
      assert.deepStrictEqual([message.text.trim(), message.html?.trim()], ["ä ✓", "<p>ä ✓</p>"])
    }
    const { message } = yield* deliver({ text: "", html: "<p>only</p>" })
    assert.strictEqual(message.html?.trim(), "<p>only</p>")
  })

  it.effect("sends files byte for byte, from wherever nodemailer reads them", function* () {
    const { deliver } = yield* setUp
    const path = join(yield* folder, "bytes.bin")
    const url = yield* webServer
    const attachments = [
      { filename: "buffer.bin", content: BYTES },
      { filename: "text.txt", content: "ä ✓" },
      { filename: "hex.bin", content: BYTES.toString("hex"), encoding: "hex" },
      { filename: "base64.bin", content: base64(BYTES), encoding: "base64" },
      { filename: "stream.pdf", content: createReadStream(path) },
      { path },
      { filename: "path.csv", path, contentType: "text/csv; charset=utf-8" },
      { href: `${url}/files/remote.bin?x=1` },
      { filename: "url.bin", path: `${url}/x` },
      { path: `data:image/png;base64,${base64(PNG)}` },
      { filename: "plain.txt", href: "data:,a%20%C3%A4" },
      { filename: "empty.txt", content: "" },
      { filename: false as const, content: "x" },
    ]
    const given = attachments.map((each) => ({ ...each }))
    const { message } = yield* deliver({ attachments })
    const files = message.attachments.map((file) => [file.filename, file.content_type.split(";")[0], file.content])
    assert.deepStrictEqual(files, [
      ["buffer.bin", "application/octet-stream", base64(BYTES)],
      ["text.txt", "text/plain", base64("ä ✓")],
      ["hex.bin", "application/octet-stream", base64(BYTES)],
      ["base64.bin", "application/octet-stream", base64(BYTES)],
      ["stream.pdf", "application/pdf", base64(BYTES)],
      ["bytes.bin", "application/octet-stream", base64(BYTES)],
      ["path.csv", "text/csv", base64(BYTES)],
      ["remote.bin", "application/octet-stream", base64(BYTES)],
      ["url.bin", "application/octet-stream", base64(BYTES)],
      ["attachment-10.png", "image/png", base64(PNG)],
      ["plain.txt", "application/octet-stream", base64("a ä")],
      ["empty.txt", "text/plain", ""],
      ["attachment-13.bin", "application/octet-stream", base64("x")],
    ])
    // Nodemailer itself decodes data URIs in the caller's objects.
    assert.deepStrictEqual(attachments.slice(0, 8), given.slice(0, 8), "the caller's objects are unchanged")
  })

  it.effect("names the charset of a file that is given as a text beyond ASCII, and of no other", function* () {
    const server = yield* Effect.promise(() => serverWith([{ status: 200, body: { id: "msg_1" } }]))
    const attachments = [
      { filename: "a.txt", content: "ä" },
      { filename: "a.csv", content: "ä", contentType: "text/csv; charset=utf-8" },
      { filename: "b.txt", content: "a" },
      { filename: "c.txt", content: Buffer.from([0xe4]) },
      { filename: "d.json", content: "ä" },
    ]
    yield* Effect.promise(() => sendBy({ key: "wb_x", url: server.baseUrl }, { ...MAIL, attachments }))
    const body = JSON.parse(server.seen[0]?.body ?? "") as { attachments: ReadonlyArray<{ content_type: string }> }
    assert.deepStrictEqual(
      body.attachments.map((file) => file.content_type),
      ["text/plain; charset=utf-8", "text/csv; charset=utf-8", "text/plain", "text/plain", "application/json"],
    )
    yield* Effect.promise(() => server[Symbol.asyncDispose]())
  })

  it.effect("embeds files by cid, and data URIs of the HTML if asked to", function* () {
    const { deliver } = yield* setUp
    const { message } = yield* deliver({
      html: `<img src="cid:logo"><img src="data:image/png;base64,${base64(PNG)}">`,
      attachDataUrls: true,
      attachments: [{ filename: "logo.png", content: PNG, cid: "logo" }],
    })
    assert.lengthOf(message.attachments, 2)
    for (const { content, content_id } of message.attachments) {
      assert.strictEqual(content, base64(PNG))
      assert.include(message.html ?? "", `cid:${content_id?.replaceAll(/[<>]/gu, "")}`)
    }
  })

  it.effect("sends a meeting invitation as a file with its method", function* () {
    const { deliver } = yield* setUp
    const calendar = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
    const { message } = yield* deliver({ icalEvent: { method: "request", content: calendar } })
    const [file] = message.attachments
    assert.strictEqual(file?.filename, "invite.ics")
    assert.include(message.raw, base64(calendar))
    assert.match(message.raw, /text\/calendar;[^\n]*method=REQUEST/iu)
  })

  it.effect("sends custom headers, priority, list headers and references", function* () {
    const { captured, deliver, send } = yield* setUp
    const { message } = yield* deliver({
      headers: {
        "X-Order": "7",
        "X-Number": 42 as unknown as string,
        "X-Prepared": { prepared: true, value: "a\r\n b" },
      },
      priority: "high",
      xMailer: "Acme 1.0",
      inReplyTo: "a@example.org",
      references: ["<a@example.org>", "<b@example.org>"],
      list: {
        id: { url: "receipts.acme.test", comment: "Receipts" },
        unsubscribe: [["https://acme.test/u", "u@acme.test"]],
      },
    })
    const headers = headersOf(message.raw)
    assert.deepStrictEqual(
      ["x-order", "x-number", "x-prepared", "x-priority", "importance", "x-mailer", "in-reply-to"].map(
        (name) => headers[name],
      ),
      ["7", "42", "a b", "1 (Highest)", "High", "Acme 1.0", "<a@example.org>"],
    )
    assert.strictEqual(headers["references"], "<a@example.org> <b@example.org>")
    assert.strictEqual(headers["list-id"], '"Receipts" <receipts.acme.test>')
    assert.strictEqual(headers["list-unsubscribe"], "<https://acme.test/u>, <mailto:u@acme.test>")
    const names = JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}') as Record<string, string>
    const odd = headersOf((yield* deliver({ headers: names })).message.raw)
    assert.deepStrictEqual(
      Object.keys(names).map((name) => Object.getOwnPropertyDescriptor(odd, name.toLowerCase())?.value as unknown),
      ["1", "2", "3"],
    )
    // A list of headers, and a default of the transport.
    const { id } = yield* send({ headers: [{ key: "X-Order", value: "8" }] }, { headers: { "X-Default": "d" } })
    const other = headersOf((yield* captured(id)).raw)
    assert.deepStrictEqual([other["x-order"], other["x-default"], other["x-priority"]], ["8", "d", undefined])
  })

  it.effect("takes an envelope for blind copies", function* () {
    const { deliver } = yield* setUp
    const envelope = { from: "HI@acme.test", to: ["ana@example.org", "hidden@example.org"] }
    const { info, message } = yield* deliver({ bcc: "dropped@example.org", envelope })
    assert.deepStrictEqual([...message.recipients].toSorted(), ["ana@example.org", "hidden@example.org"])
    assert.strictEqual(headersOf(message.raw)["to"], "ana@example.org")
    assert.deepStrictEqual(info.accepted, ["ana@example.org", "hidden@example.org"])
  })

  it.effect("passes tags, the time of sending and the idempotency key to the API", function* () {
    const { account, admin, send, world } = yield* setUp
    const at = new Date(Date.now() + 3_600_000)
    const mail = { tags: ["receipt"], scheduledAt: at, idempotencyKey: `order-${account}` }
    const first = yield* send(mail)
    const again = yield* send(mail)
    assert.strictEqual(again.id, first.id)
    assert.strictEqual(again.response, `250 Queued as ${first.id} (idempotent replay)`)
    const { json } = yield* world.request("GET", `/v1/email/logs/${first.id}`, { key: admin })
    assert.deepStrictEqual([json.tags, json.status], [["receipt"], "queued"])
    assert.strictEqual(new Date(json.scheduled_at).getTime(), at.getTime())
  })
})
