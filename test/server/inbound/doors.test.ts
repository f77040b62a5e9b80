import { Context, Effect, Layer } from "effect"
import { ServerClient } from "postmark"
import { Resend } from "resend"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const FILE = Buffer.from([0, 10, 13, 200, 255, 45, 45])
const IMAGE = Buffer.from("GIF89a")

const MAIL = [
  'From: "Ana, of the shop" <ana+home@example.org>',
  "To: Support <support+42@shop.test>, bo@example.org",
  "Cc: cy@example.org",
  "Reply-To: desk@example.org",
  "Date: Sun, 29 Nov 2026 10:00:00 +0100",
  "Message-ID: <one@example.org>",
  "In-Reply-To: <none@shop.test>",
  "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
  "X-Order: 1",
  "X-Order: 2",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="b"',
  "",
  "--b",
  'Content-Type: multipart/alternative; boundary="c"',
  "",
  "--c",
  "Content-Type: text/plain; charset=iso-8859-1",
  "Content-Transfer-Encoding: quoted-printable",
  "",
  "Sch=F6n.",
  "",
  "On Sun, Nov 29, 2026 at 9:00 AM Shop <hi@shop.test> wrote:",
  "> Well?",
  "--c",
  "Content-Type: text/html; charset=utf-8",
  "",
  '<p>Schön.</p><img src="cid:logo%40x"><img src="cid:none">',
  "--c--",
  "--b",
  'Content-Type: image/gif; name="logo.gif"',
  "Content-Transfer-Encoding: base64",
  "Content-ID: <logo@x>",
  "Content-Disposition: inline",
  "",
  IMAGE.toString("base64"),
  "--b",
  'Content-Type: application/pdf; name="a.pdf"',
  "Content-Transfer-Encoding: base64",
  `Content-Disposition: attachment; filename*=utf-8''a%22%20%C3%BC.pdf`,
  "",
  FILE.toString("base64"),
  "--b--",
  "",
].join("\r\n")

const FORMATS = ["resend", "postmark", "sendgrid"] as const

/** A running service that has received a mail, and has told it to a webhook of each format. */
const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const node = yield* ServiceProcess.start(url, { WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" })
  const { key, post } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
  const receivers = yield* Effect.forEach(FORMATS, (format) =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.listen()
      const url = receiver.url.replace("http://", "http://actionmailbox:p%40ss@")
      yield* post("/v1/webhooks", { url, events: ["email.received"], format, include_raw: format === "postmark" })
      return receiver
    }),
  )
  const raw = Buffer.from(MAIL).toString("base64")
  const sent = { raw, to: ["support+42@shop.test", "hidden@shop.test"] }
  const { json: mail } = yield* post("/v1/test/inbound", sent)
  const callOf = (format: (typeof FORMATS)[number]) =>
    Effect.gen(function* () {
      const receiver = receivers[FORMATS.indexOf(format)]
      while (receiver?.calls.length === 0) yield* Effect.sleep("20 millis")
      const call = receiver?.calls[0]
      return call ?? (yield* Effect.die("no call"))
    })
  const resend = new Resend(key, { baseUrl: `${node.url}/compat/resend` })
  const postmark = new ServerClient(key, {
    requestHost: `${node.url.replace("http://", "")}/compat/postmark`,
    useHttps: false,
  })
  return { callOf, mail, node, post, postmark, resend }
})

class Running extends Context.Service<Running, Effect.Success<typeof start>>()("test/server/inbound/doors") {
  static readonly layer = Layer.effect(Running, start)
}

const download = (url: string) => Effect.promise(async () => Buffer.from(await (await fetch(url)).arrayBuffer()))

/** What a promise of a client fails with. */
const failure = (promise: Promise<unknown>) =>
  Effect.promise(() =>
    promise.then(
      () => ({}),
      (error: unknown) => error as object,
    ),
  )

const names = (headers: ReadonlyArray<{ readonly Name: string }>) => headers.map(({ Name }) => Name.toLowerCase())
/** Whether Postmark gives a header as a field alone. */
const isOfField = (name: string) => ["from", "to", "cc", "bcc", "subject", "date", "reply-to"].includes(name)

const FILENAME = 'a" ü.pdf'

layer(Running.layer.pipe(Layer.provideMerge(World.layer)), { excludeTestServices: true, timeout: "120 seconds" })(
  "received mail by the APIs of other services",
  (it) => {
    it.effect("is read by the package resend, with its files and as it came", function* () {
      const { resend } = yield* Running
      const { receiving } = resend.emails
      const { data: list } = yield* Effect.promise(() => receiving.list({ limit: 1 }))
      assert.isFalse(list?.has_more)
      const [listed] = list?.data ?? []
      const id = listed?.id ?? ""
      const fields = {
        id,
        from: '"Ana, of the shop" <ana+home@example.org>',
        to: ["support+42@shop.test", "bo@example.org"],
        cc: ["cy@example.org"],
        bcc: ["hidden@shop.test"],
        reply_to: ["desk@example.org"],
        received_for: ["support+42@shop.test", "hidden@shop.test"],
        subject: "Grüße",
        message_id: "<one@example.org>",
      }
      assert.deepInclude(listed, fields)
      const { data: mail } = yield* Effect.promise(() => receiving.get(id))
      assert.deepInclude(mail, { object: "email", ...fields })
      assert.include(mail?.text, "Schön.")
      const image = `data:image/gif;base64,${IMAGE.toString("base64")}`
      assert.strictEqual(mail?.html?.trim(), `<p>Schön.</p><img src="${image}"><img src="cid:none">`)
      const { data: plain } = yield* Effect.promise(() => receiving.get(id, { html_format: "cid" }))
      assert.include(plain?.html, "cid:logo%40x")
      assert.strictEqual(mail?.headers?.["x-order"], "1")
      assert.strictEqual((yield* download(mail?.raw?.download_url ?? "")).toString(), MAIL)

      const { data: files } = yield* Effect.promise(() => receiving.attachments.list({ emailId: id }))
      const named = (file: object) => ({ ...file, download_url: undefined, expires_at: undefined })
      assert.deepStrictEqual<unknown>(files?.data.map(named), mail?.attachments.map(named))
      const second = files?.data[1]
      assert.deepInclude(second, { filename: FILENAME, size: FILE.length, content_type: "application/pdf" })
      const { data: file } = yield* Effect.promise(() =>
        receiving.attachments.get({ emailId: id, id: second?.id ?? "" }),
      )
      assert.deepStrictEqual(yield* download(file?.download_url ?? ""), FILE)
      const { error } = yield* Effect.promise(() => receiving.attachments.get({ emailId: id, id: "none" }))
      assert.strictEqual(error?.statusCode, 404)
      const unknown = yield* Effect.promise(() => receiving.get("01998f5c-0000-7000-8000-000000000000"))
      assert.strictEqual(unknown.error?.statusCode, 404)
    })

    it.effect("comes as Resend's event, without content", function* () {
      const { callOf, resend } = yield* Running
      const { data, type } = JSON.parse((yield* callOf("resend")).body)
      assert.strictEqual(type, "email.received")
      assert.deepInclude(data, {
        from: '"Ana, of the shop" <ana+home@example.org>',
        to: ["support+42@shop.test", "bo@example.org"],
        bcc: ["hidden@shop.test"],
        received_for: ["support+42@shop.test", "hidden@shop.test"],
        subject: "Grüße",
        message_id: "<one@example.org>",
      })
      const { data: mail } = yield* Effect.promise(() => resend.emails.receiving.get(data.email_id))
      assert.deepStrictEqual(
        data.attachments,
        mail?.attachments.map(({ size: _, ...file }) => file),
      )
      assert.notProperty(data, "text")
    })

    it.effect("is read by the package postmark", function* () {
      const { mail, post, postmark } = yield* Running
      const { InboundMessages: listed, TotalCount } = yield* Effect.promise(() =>
        postmark.getInboundMessages({ mailboxHash: "42", count: 10 }),
      )
      assert.equal(TotalCount, "1")
      const [message] = listed
      assert.deepInclude(message, {
        From: "ana+home@example.org",
        FromName: "Ana, of the shop",
        FromFull: { Email: "ana+home@example.org", Name: "Ana, of the shop", MailboxHash: "home" },
        To: "Support <support+42@shop.test>, bo@example.org",
        Cc: "cy@example.org",
        Bcc: "hidden@shop.test",
        OriginalRecipient: "support+42@shop.test",
        ReplyTo: "desk@example.org",
        Subject: "Grüße",
        MailboxHash: "42",
        Status: "Processed",
        MessageStream: "inbound",
        Date: "Sun, 29 Nov 2026 09:00:00 +0000",
      })
      const id = message?.MessageID ?? ""
      const details = yield* Effect.promise(() => postmark.getInboundMessageDetails(id))
      assert.include(details.HtmlBody, "cid:logo%40x")
      assert.strictEqual(details.StrippedTextReply, "Schön.")
      assert.deepInclude(details.Headers, { Name: "X-Order", Value: "2" })
      assert.deepStrictEqual(names(details.Headers).slice(0, 1), ["return-path"])
      assert.deepStrictEqual(names(details.Headers).filter(isOfField), [])
      assert.deepInclude(details.Attachments[1], { Name: FILENAME, ContentLength: FILE.length })
      for (const filter of [{ mailboxHash: "41" }, { status: "failed" }, { recipient: "no@shop.test" }, { tag: "a" }]) {
        const none = yield* Effect.promise(() => postmark.getInboundMessages(filter as never))
        assert.deepStrictEqual(none.InboundMessages, [], JSON.stringify(filter))
      }
      assert.deepInclude(yield* failure(postmark.bypassBlockedInboundMessage(id)), { statusCode: 422, code: 702 })
      const unknown = "01998f5c-0000-7000-8000-000000000000"
      assert.deepInclude(yield* failure(postmark.getInboundMessageDetails(unknown)), { statusCode: 422, code: 701 })
      const rule = yield* Effect.promise(() => postmark.createInboundRuleTrigger({ Rule: "eve@spam.example" }))
      const domain = yield* Effect.promise(() => postmark.createInboundRuleTrigger({ Rule: "Spam.example" }))
      const rules = () => Effect.promise(() => postmark.getInboundRuleTriggers({ count: 10, offset: 0 }))
      assert.deepStrictEqual((yield* rules()).InboundRules, [rule, { ...domain, Rule: "spam.example" }])
      const spam = { from: "bo@spam.example", to: "hi@shop.test", text: "Buy" }
      yield* post("/v1/test/inbound", spam)
      const blocked = yield* Effect.promise(() => postmark.getInboundMessages({ status: "blocked" as never }))
      assert.deepStrictEqual(
        blocked.InboundMessages.map(({ From, Status }) => [From, Status]),
        [["bo@spam.example", "Blocked"]],
      )
      yield* Effect.promise(() => postmark.deleteInboundRuleTrigger(domain.ID))
      assert.deepStrictEqual((yield* rules()).InboundRules, [rule])
      assert.deepInclude(yield* failure(postmark.deleteInboundRuleTrigger(domain.ID)), { statusCode: 404 })
      assert.match((yield* Effect.promise(() => postmark.getServer())).InboundAddress, /^inbound@.+\.in\./u)
      assert.strictEqual(mail.subject, "Grüße")
    })

    it.effect("comes as Postmark's inbound webhook, with all content", function* () {
      const { callOf, postmark } = yield* Running
      const call = yield* callOf("postmark")
      const { Attachments, Headers, HtmlBody, RawEmail, TextBody, ...fields } = JSON.parse(call.body)
      assert.strictEqual(RawEmail, MAIL)
      const details = yield* Effect.promise(() => postmark.getInboundMessageDetails(fields.MessageID))
      const { Attachments: _, BlockedReason, Headers: __, HtmlBody: html, Status, TextBody: ___, ...known } = details
      assert.deepStrictEqual(fields, known)
      const login = Buffer.from("actionmailbox:p@ss").toString("base64")
      assert.strictEqual(call.headers["authorization"], `Basic ${login}`)
      assert.isTrue(TextBody.startsWith("Schön.\n"))
      assert.strictEqual(HtmlBody, html.trim())
      assert.deepInclude(Headers, { Name: "Message-ID", Value: "<one@example.org>" })
      assert.deepStrictEqual(Headers[0], { Name: "Return-Path", Value: "<ana+home@example.org>" })
      assert.deepStrictEqual(names(Headers).filter(isOfField), [])
      assert.deepStrictEqual(Attachments[1], {
        Name: FILENAME,
        Content: FILE.toString("base64"),
        ContentType: "application/pdf",
        ContentLength: FILE.length,
        ContentID: null,
      })
      assert.strictEqual(Attachments[0].ContentID, "logo@x")
    })

    it.effect("comes as the form of SendGrid's Inbound Parse", function* () {
      const { callOf } = yield* Running
      const { bytes, headers } = yield* callOf("sendgrid")
      const request = new Response(new Uint8Array(bytes), {
        headers: { "content-type": headers["content-type"] ?? "" },
      })
      const form = yield* Effect.promise(() => request.formData())
      const fields = Object.fromEntries([...form].filter(([, value]) => typeof value === "string"))
      const {
        charsets,
        envelope,
        headers: head,
        html,
        text,
        "attachment-info": info,
        "content-ids": ids,
        ...rest
      } = fields
      assert.deepStrictEqual(rest, {
        to: "Support <support+42@shop.test>, bo@example.org",
        from: '"Ana, of the shop" <ana+home@example.org>',
        cc: "cy@example.org",
        subject: "Grüße",
        dkim: "none",
        SPF: "none",
        sender_ip: "",
        attachments: "2",
      })
      const parsed = (value: unknown) => JSON.parse(String(value))
      assert.deepStrictEqual(parsed(envelope), {
        to: ["support+42@shop.test", "hidden@shop.test"],
        from: "ana+home@example.org",
      })
      assert.deepInclude(parsed(charsets), { text: "UTF-8", html: "UTF-8", subject: "UTF-8" })
      assert.include(head, "Message-ID: <one@example.org>\n")
      assert.match(String(text), /^Schön\.\r?\n/u)
      assert.include(html, "<p>Schön.</p>")
      assert.deepStrictEqual(parsed(ids), { "logo@x": "attachment1" })
      assert.deepStrictEqual(parsed(info).attachment2, {
        filename: FILENAME,
        name: FILENAME,
        type: "application/pdf",
      })
      const file = form.get("attachment2") as File
      assert.deepStrictEqual([file.name, file.type], [FILENAME, "application/pdf"])
      assert.deepStrictEqual(Buffer.from(yield* Effect.promise(() => file.arrayBuffer())), FILE)
      assert.property(headers, "x-twilio-email-event-webhook-signature")
    })
  },
)
