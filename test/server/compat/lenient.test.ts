import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const RESEND = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "Hello" }
const POSTMARK = { From: "hi@acme.test", To: "ana@example.org", Subject: "x", TextBody: "Hello" }
const SENDGRID = {
  from: { email: "hi@acme.test" },
  personalizations: [{ to: [{ email: "ana@example.org" }] }],
  subject: "x",
  content: [{ type: "text/plain", value: "Hello" }],
}

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const { secret } = yield* world.key(yield* world.account())
  yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`${world.url}/compat${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${secret}`,
          "x-postmark-server-token": secret,
          "content-type": "application/json",
          ...headers,
        },
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      })
      const text = await response.text()
      const json = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>
      const id = json["id"] ?? json["MessageID"] ?? response.headers.get("x-message-id")
      return { status: response.status, headers: response.headers, text, id: String(id) }
    })
  /** Sends a message that is to be accepted, and returns what the log has of it. */
  const logged = Effect.fnUntraced(function* (path: string, body: unknown, headers: Record<string, string> = {}) {
    const { id, status, text } = yield* post(path, body, headers)
    assert.include([200, 202], status, text)
    return (yield* world.request("GET", `/v1/email/logs/${id}`, { key: secret })).json as {
      readonly tags: ReadonlyArray<string>
      readonly metadata: Readonly<Record<string, string>>
      readonly from: string
      readonly cc: ReadonlyArray<string>
      readonly tracking: object
      readonly content: {
        readonly attachments: ReadonlyArray<{
          readonly filename: string
          readonly size_bytes: number
          readonly content_id: string | null
        }>
      }
    }
  })
  return { post, logged }
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a door", (it) => {
  it.effect("counts null and what is empty as absent", function* () {
    const { logged } = yield* setUp
    const empty = {
      cc: null,
      bcc: [],
      reply_to: "",
      html: "",
      headers: [],
      tags: [],
      attachments: {},
      scheduled_at: "",
    }
    assert.deepStrictEqual(
      (yield* logged("/resend/emails", { ...RESEND, ...empty, topic_id: null, unknown: {} })).cc,
      [],
    )
    const none = { Cc: null, Bcc: "", HtmlBody: "", Metadata: [], Headers: {}, Attachments: null, MessageStream: "" }
    assert.deepStrictEqual((yield* logged("/postmark/email", { ...POSTMARK, ...none, Tag: null })).tags, [])
    const nothing = { categories: [], custom_args: {}, asm: null, reply_to: {}, mail_settings: { footer: {} } }
    assert.deepStrictEqual((yield* logged("/sendgrid/v3/mail/send", { ...SENDGRID, ...nothing })).tags, [])
  })

  it.effect("takes numbers and booleans in pairs as texts", function* () {
    const { logged } = yield* setUp
    const tags = [{ name: "order", value: 7 }]
    assert.deepStrictEqual((yield* logged("/resend/emails", { ...RESEND, tags })).metadata, { order: "7" })
    const metadata = { Tag: 5, Metadata: { order: 7, gift: true } }
    const ofPostmark = yield* logged("/postmark/email", { ...POSTMARK, ...metadata })
    assert.deepStrictEqual([ofPostmark.tags, ofPostmark.metadata], [["5"], { gift: "true", order: "7" }])
    const custom_args = { order: 7 }
    const ofSendGrid = yield* logged("/sendgrid/v3/mail/send", { ...SENDGRID, custom_args })
    assert.deepStrictEqual([ofSendGrid.tags, ofSendGrid.metadata], [[], { order: "7" }])
  })

  it.effect("drops a Reply-To that repeats the field for it, and refuses another", function* () {
    const { logged, post } = yield* setUp
    const [field, same] = ["Zoë <r@acme.test>", "=?utf-8?Q?Zo=C3=AB?= <R@acme.test>"]
    yield* logged("/resend/emails", { ...RESEND, reply_to: field, headers: { "Reply-To": same } })
    yield* logged("/postmark/email", { ...POSTMARK, ReplyTo: field, Headers: [{ Name: "Reply-To", Value: same }] })
    const reply_to = { email: "r@acme.test", name: "Zoë" }
    yield* logged("/sendgrid/v3/mail/send", { ...SENDGRID, reply_to, headers: { "reply-to": same } })
    const other = { ...RESEND, reply_to: field, headers: { "Reply-To": "other@acme.test" } }
    const { status, text } = yield* post("/resend/emails", other)
    assert.deepStrictEqual([status, /cannot be combined with `reply_to`/u.test(text)], [400, true], text)
  })

  it.effect("takes the names of Postmark's fields in any case", function* () {
    const { logged } = yield* setUp
    const body = {
      from: "hi@acme.test",
      to: "ana@example.org",
      subject: "x",
      textBody: "Hello",
      metadata: { Order: "7" },
      attachments: [{ name: "a.txt", content: "aGk=", contentType: "text/plain", contentId: null }],
      headers: [{ name: "X-A", value: "1" }],
    }
    const { content, metadata } = yield* logged("/postmark/email", body)
    assert.deepStrictEqual(metadata, { Order: "7" })
    assert.strictEqual(content.attachments[0]?.filename, "a.txt")
  })

  it.effect(
    "takes a file as a Buffer, as a list of bytes or as the text of a calendar, of any size that base64 may have",
    function* () {
      const { logged, post } = yield* setUp
      const file = Buffer.alloc(600_000, "a file that is longer than the number of values that a body may have. ")
      const asBuffer = { filename: "a.txt", content: file }
      const asList = { filename: "b.txt", content: [...file] }
      const ofResend = yield* logged("/resend/emails", { ...RESEND, attachments: [asBuffer, asList] })
      assert.deepStrictEqual(
        ofResend.content.attachments.map(({ size_bytes }) => size_bytes),
        [file.length, file.length],
      )
      const Attachments = [{ Name: "a.txt", Content: file, ContentType: "text/plain" }]
      const ofPostmark = yield* logged("/postmark/email", { ...POSTMARK, Attachments })
      assert.strictEqual(ofPostmark.content.attachments[0]?.size_bytes, file.length)
      const attachments = [{ filename: "a.txt", content: [104, 105] }]
      const ofSendGrid = yield* logged("/sendgrid/v3/mail/send", { ...SENDGRID, attachments })
      assert.strictEqual(ofSendGrid.content.attachments[0]?.size_bytes, 2)
      const calendar = {
        filename: "i.ics",
        content: "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n",
        content_type: "text/calendar",
      }
      const ofLaravel = yield* logged("/resend/emails", { ...RESEND, attachments: [calendar] })
      assert.strictEqual(ofLaravel.content.attachments[0]?.size_bytes, calendar.content.length)
      const wrong = yield* post("/resend/emails", { ...RESEND, attachments: [{ filename: "a", content: [300] }] })
      assert.strictEqual(wrong.status, 422, wrong.text)
      const tooMany = yield* post("/resend/emails", { ...RESEND, other: Array.from({ length: 100_001 }, () => 1) })
      assert.strictEqual(tooMany.status, 400, tooMany.text)
    },
  )

  it.effect("attaches a file of Postmark whose id repeats its name, unless the HTML shows it", function* () {
    const { logged } = yield* setUp
    const Attachments = ["a report.pdf", "logo.png"].map((name) => ({ Name: name, Content: "aGk=", ContentId: name }))
    const HtmlBody = '<img src="cid:logo.png">'
    const { content } = yield* logged("/postmark/email", { ...POSTMARK, HtmlBody, Attachments })
    assert.deepStrictEqual(
      content.attachments.map(({ content_id }) => content_id),
      [null, "logo.png"],
    )
  })

  it.effect("attaches a file without a name, as Django's Anymail sends it", function* () {
    const { logged } = yield* setUp
    const nameOf = ({
      content,
    }: {
      readonly content: { readonly attachments: ReadonlyArray<{ readonly filename: string }> }
    }) => content.attachments.map(({ filename }) => filename)
    const postmark = { Name: "", Content: "aGk=", ContentType: "text/plain" }
    assert.deepStrictEqual(nameOf(yield* logged("/postmark/email", { ...POSTMARK, Attachments: [postmark] })), [
      "attachment",
    ])
    const sendgrid = { filename: "", content: "aGk=", type: "text/plain" }
    const body = { ...SENDGRID, attachments: [sendgrid] }
    assert.deepStrictEqual(nameOf(yield* logged("/sendgrid/v3/mail/send", body)), ["attachment"])
    const resend = { filename: null, content: "aGk=" }
    assert.deepStrictEqual(nameOf(yield* logged("/resend/emails", { ...RESEND, attachments: [resend] })), [
      "attachment",
    ])
  })

  it.effect("takes names with commas of Resend without quotes, as Symfony sends them", function* () {
    const { logged, post } = yield* setUp
    const from = "Acme, Inc. <hi@acme.test>"
    const log = yield* logged("/resend/emails", {
      ...RESEND,
      from,
      cc: ["Doe; Cy <cy@example.org>", "bo@example.org"],
    })
    assert.deepStrictEqual(
      [log.from, log.cc],
      ['"Acme, Inc." <hi@acme.test>', ['"Doe; Cy" <cy@example.org>', "bo@example.org"]],
    )
    for (const to of [
      "bo@example.org, Ana <ana@example.org>",
      "Ana, Bo <ana@example.org>, bo@example.org",
      "A,\r\nBcc: x <a@b.example>",
    ])
      assert.include([400, 422], (yield* post("/resend/emails", { ...RESEND, to })).status, to)
  })

  it.effect("takes the id of a file by each name that the versions of a service's package gave it", function* () {
    const { logged } = yield* setUp
    const idsOf = ({ content }: Effect.Success<ReturnType<typeof logged>>) =>
      content.attachments.map(({ content_id }) => content_id)
    const file = { filename: "a.png", content: "aGk=" }
    const names = ["content_id", "contentId", "inline_content_id", "inlineContentId"]
    const attachments = names.map((name) => ({ ...file, [name]: name }))
    assert.deepStrictEqual(idsOf(yield* logged("/resend/emails", { ...RESEND, attachments })), names)
    const inline = names.slice(0, 2).map((name) => ({ ...file, disposition: "inline", [name]: name }))
    const ofSendGrid = yield* logged("/sendgrid/v3/mail/send", { ...SENDGRID, attachments: inline })
    assert.deepStrictEqual(idsOf(ofSendGrid), names.slice(0, 2))
  })

  it.effect("reads bodies in gzip, up to the size of others", function* () {
    const { logged, post } = yield* setUp
    const gzip = { "content-encoding": "gzip" }
    assert.deepStrictEqual((yield* logged("/resend/emails", gzipSync(JSON.stringify(RESEND)), gzip)).cc, [])
    const bomb = gzipSync(JSON.stringify({ ...RESEND, text: "a".repeat(30_000_000) }))
    const refused = yield* post("/resend/emails", bomb, gzip)
    assert.deepStrictEqual([refused.status, /without its gzip/u.test(refused.text)], [400, true], refused.text)
    const broken = yield* post("/resend/emails", Buffer.from("no gzip"), gzip)
    assert.deepStrictEqual([broken.status, /is not whole gzip/u.test(broken.text)], [400, true], broken.text)
    const other = yield* post("/postmark/email", Buffer.from("{}"), { "content-encoding": "br" })
    assert.deepStrictEqual([other.status, /identity or gzip/u.test(other.text)], [422, true], other.text)
  })
  it.effect("tracks nothing where nothing can be tracked, and says how many requests are left", function* () {
    const { logged, post } = yield* setUp
    const { tracking } = yield* logged("/postmark/email", { ...POSTMARK, TrackOpens: true, TrackLinks: "htmlonly" })
    assert.deepStrictEqual(tracking, { opens: false, clicks: false })
    const settings = { open_tracking: { enable: true }, click_tracking: { enable: true } }
    const ofSendGrid = yield* logged("/sendgrid/v3/mail/send", { ...SENDGRID, tracking_settings: settings })
    assert.deepStrictEqual(ofSendGrid.tracking, { opens: false, clicks: false })
    const { headers } = yield* post("/resend/emails", RESEND)
    assert.strictEqual(headers.get("ratelimit-limit"), headers.get("x-ratelimit-limit"))
    assert.match(headers.get("ratelimit-reset") ?? "", /^[0-5]?\d$|^60$/u)
  })

  it.effect("takes 500 messages in one batch of Postmark, once for an idempotency key", function* () {
    const { post } = yield* setUp
    const messages = Array.from({ length: 250 }, (_, nth) => ({ ...POSTMARK, To: `r${nth}@example.org` }))
    messages[120] = { ...POSTMARK, From: "x@other.test" }
    const key = { "idempotency-key": "batch" }
    const first = yield* post("/postmark/email/batch", messages, key)
    const results = JSON.parse(first.text) as ReadonlyArray<{ readonly ErrorCode: number; readonly To?: string }>
    assert.deepStrictEqual([first.status, results.length], [200, 250], first.text.slice(0, 500))
    assert.deepStrictEqual(
      results.flatMap(({ ErrorCode }, nth) => (ErrorCode === 0 ? [] : [nth])),
      [120],
    )
    assert.strictEqual(results[249]?.To, "r249@example.org")
    assert.strictEqual((yield* post("/postmark/email/batch", messages, key)).text, first.text)
  })
})
