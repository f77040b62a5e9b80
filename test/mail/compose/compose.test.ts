import * as Compose from "@waybill/mail/compose/Compose"
import type * as Message from "@waybill/mail/compose/Message"
import { MAX_QUOTED_BYTES } from "@waybill/mail/compose/MimeBody"
import { Arbitrary, Effect, Result, Schema } from "effect"
import PostalMime from "postal-mime"
import { assert, describe, it } from "../../support/effectTest.ts"
import { address, message } from "./composeMessage.ts"

const composed = (value: Message.Message) => {
  const result = Compose.compose(value)
  if (Result.isFailure(result)) return assert.fail(result.failure.message)
  return result.success
}
const raw = (value: Message.Message) => Buffer.from(composed(value).bytes).toString()
const parse = (value: Message.Message) => Effect.promise(() => PostalMime.parse(composed(value).bytes))

/** MIME knows only CRLF, and the last line end of a body is the boundary's. */
const lines = (text: string | undefined) => (text ?? "").replace(/\r\n?/g, "\n").replace(/\n+$/, "")

const Line = Schema.String.check(Schema.makeFilter((value) => value.isWellFormed() && !/[\r\n\0]/.test(value)))
const Text = Schema.String.check(Schema.makeFilter((value) => value.isWellFormed() && !value.includes("\0")))
/** Fragments that have broken MIME writers; the generator combines them. */
const Scrap = Schema.Literals([
  "Receipt ",
  "=?utf-8?Q?x?=",
  "=",
  "ü",
  "日本語 ",
  "👩‍👩‍👧 ",
  '"',
  "\\",
  "  ",
  "x".repeat(80),
  "é".repeat(90),
  "\t",
  ", ",
  "<a@b.c>",
  ";",
  "--=_",
  "From ",
  ".",
  "(c)",
  "a ".repeat(50),
  "%41",
  "'",
  "`",
  "$&",
])
const Subject = Schema.Union([Line, Schema.Array(Scrap)]).pipe((schema) =>
  Arbitrary.map(Arbitrary.schema(schema), (value) => (typeof value === "string" ? value : value.join(""))),
)
const Body = Schema.Union([
  Text,
  Schema.Array(Schema.Union([Scrap, Schema.Literals(["\n", "\r\n", "\r", "\n\n", " \n"])])),
]).pipe((schema) =>
  Arbitrary.map(Arbitrary.schema(schema), (value) => (typeof value === "string" ? value : value.join(""))),
)
const Bytes = Arbitrary.map(
  Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))),
  (list) => Uint8Array.from(list),
)

const space = (value: string) => value.replace(/\s+/gu, " ").trim()

describe("composed mail, parsed again", () => {
  it.effect.prop(
    "has the same subjects, names and bodies",
    { subject: Subject, name: Subject, text: Body, html: Body },
    ({ html, name, subject, text }) =>
      Effect.gen(function* () {
        const value = message({
          subject,
          text,
          html: `<p>${html}</p>`,
          from: { address: address("hi@acme.test"), name },
        })
        const email = yield* parse(value)
        assert.strictEqual(email.subject ?? "", subject)
        // The reader trims and collapses a phrase.
        assert.strictEqual(space(email.from?.name ?? ""), space(name))
        assert.strictEqual(email.from?.address, "hi@acme.test")
        assert.strictEqual(lines(email.text), lines(text))
        assert.strictEqual(lines(email.html), lines(`<p>${html}</p>`))
      }),
    { arbitrary: { runs: 400 } },
  )
})

describe("composed mail", () => {
  const Files = Arbitrary.array(
    Arbitrary.all({ filename: Subject, content: Bytes, inline: Arbitrary.schema(Schema.Boolean) }),
    { maxLength: 4 },
  )
  const Name = Arbitrary.schema(Schema.UndefinedOr(Line))
  const People = Arbitrary.array(Name, { maxLength: 8 })

  it.effect.prop(
    "keeps its attachments, byte for byte, and their names",
    { files: Files, html: Body },
    ({ files, html }) =>
      Effect.gen(function* () {
        const attachments = files.map((file, index) => ({
          // postal-mime decodes encoded words once more in a name that RFC 2231 has carried.
          filename: `${index} ${file.filename.replaceAll("=?", "")}`.trim(),
          content: file.content,
          contentType: "application/x-test",
          contentId: file.inline ? `part${index}@acme` : undefined,
        }))
        const email = yield* parse(message({ html, attachments }))
        const found = email.attachments.map(({ content, contentId, disposition, filename }) => ({
          content,
          contentId,
          disposition,
          filename,
        }))
        const expected = attachments.map((file) => ({
          content: file.content.buffer,
          contentId: file.contentId === undefined ? undefined : `<${file.contentId}>`,
          disposition: file.contentId === undefined ? "attachment" : "inline",
          filename: file.filename,
        }))
        const sorted = [
          ...expected.filter((file) => file.disposition === "inline"),
          ...expected.filter((file) => file.disposition !== "inline"),
        ]
        assert.deepStrictEqual(found, sorted)
      }),
    { arbitrary: { runs: 200 } },
  )

  it.effect.prop(
    "keeps its senders and recipients, and shows no bcc",
    { to: People, cc: People, bcc: People },
    ({ bcc, cc, to }) =>
      Effect.gen(function* () {
        const people = (kind: string, names: ReadonlyArray<string | undefined>) =>
          names.map((name, index) => ({
            address: address(`${kind}${index}@example.org`),
            ...(name === undefined ? {} : { name }),
          }))
        const value = message({
          to: [...people("to", to), { address: address("last@example.org") }],
          cc: people("cc", cc),
          bcc: people("secret", bcc),
        })
        const email = yield* parse(value)
        const shown = (
          list:
            | ReadonlyArray<{ readonly address?: string | undefined; readonly name?: string | undefined }>
            | undefined,
        ) => (list ?? []).map((entry) => [entry.address, space(entry.name ?? "")])
        assert.deepStrictEqual(shown(email.to), shown(value.to))
        assert.deepStrictEqual(shown(email.cc), shown(value.cc))
        assert.notInclude(raw(value), "secret")
        assert.deepStrictEqual(composed(value).envelope, {
          from: value.from.address,
          to: [...value.to, ...(value.cc ?? []), ...(value.bcc ?? [])].map((mailbox) => mailbox.address),
        })
      }),
    { arbitrary: { runs: 200 } },
  )

  it.effect.prop(
    "consists of 7-bit lines that no server needs to change",
    { subject: Subject, name: Subject, text: Body, html: Body, filename: Subject },
    (input) =>
      Effect.sync(() => {
        const bytes = composed(
          message({
            subject: input.subject,
            text: input.text,
            html: input.html,
            replyTo: [{ address: address("re@acme.test"), name: input.name }],
            // Each character has up to three octets; a longer run is refused.
            headers: { "X-Note": input.subject.replace(/[^ \t]{300,}/g, "") },
            attachments: [{ filename: input.filename, content: new Uint8Array(300) }],
          }),
        ).bytes
        const octets = Buffer.from(bytes).toString("latin1")
        assert.match(octets, /^\p{ASCII}*\r\n$/u)
        assert.notMatch(octets, /\r(?!\n)|(?<!\r)\n/)
        for (const line of octets.split("\r\n")) assert.isAtMost(line.length, 998)
        assert.notMatch(octets, /^(?:\.|From )/m)
        assert.notMatch(octets, /[ \t]\r\n/)
      }),
    { arbitrary: { runs: 300 } },
  )

  it("has no line above the limit, however much white space a line contains", () => {
    const subject = `a${" ".repeat(3000)}b`
    for (const line of raw(message({ subject })).split("\r\n")) assert.isAtMost(line.length, 998)
    return Effect.runPromise(
      Effect.map(parse(message({ subject })), (email) => assert.strictEqual(email.subject, subject)),
    )
  })

  it("has the same bytes when composed again", () => {
    const value = message({ html: "<p>ü</p>", attachments: [{ filename: "a.txt", content: Buffer.from("x") }] })
    assert.isTrue(Buffer.from(composed(value).bytes).equals(composed(value).bytes))
  })

  it("does not end early when its text contains the boundary", () => {
    const boundaries = ["mix", "alt", "rel"].map((kind) => `--=_${message().id}_${kind}`)
    const text = `${boundaries.join("\n")}\n${boundaries.map((line) => `${line}--`).join("\n")}\n`
    return Effect.runPromise(
      Effect.map(
        parse(
          message({
            text,
            html: text,
            attachments: [
              { filename: "inner.eml", contentType: "message/rfc822", content: Buffer.from(`Subject: x\n\n${text}`) },
            ],
          }),
        ),
        (email) => {
          assert.strictEqual(lines(email.text), lines(text))
          assert.strictEqual(lines(email.html), lines(text))
          assert.strictEqual(email.attachments.length, 1)
        },
      ),
    )
  })
})

describe("a text part", () => {
  it.effect("is derived from HTML when only HTML is given", function* () {
    const { text: _, ...rest } = message({
      html: "<h1>Hello</h1><p>Pay <a href='https://acme.test/1'>here</a> &amp; now</p><img src=x>",
    })
    const email = yield* parse(rest)
    assert.strictEqual(lines(email.text), "Hello\n\nPay here [https://acme.test/1] & now")
  })

  it("is left out when it is empty and there is HTML", () => {
    assert.notInclude(raw(message({ text: "", html: "<p>x</p>" })), "text/plain")
  })

  it("is empty when neither text nor HTML is given", () => {
    const { text: _, ...rest } = message()
    assert.match(raw(rest), /Content-Type: text\/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n\r\n$/)
  })

  const encoding = (text: string) => /Content-Transfer-Encoding: (\S+)/.exec(raw(message({ text })))?.[1]
  it("uses the shortest encoding that fits its characters", () => {
    assert.strictEqual(encoding("plain"), "7bit")
    assert.strictEqual(encoding("x".repeat(79)), "quoted-printable")
    assert.strictEqual(encoding("trailing "), "quoted-printable")
    assert.strictEqual(encoding("Dobrý den, the parcel is on its way"), "quoted-printable")
    assert.strictEqual(encoding("日本語の本文"), "base64")
    assert.strictEqual(encoding("x".repeat(MAX_QUOTED_BYTES)), "quoted-printable")
    assert.strictEqual(encoding("x".repeat(MAX_QUOTED_BYTES + 1)), "base64")
  })
})

describe("headers", () => {
  const header = (value: Message.Message, name: string) =>
    new RegExp(`^${name}: ((?:.|\r\n[ \t])*)\r$`, "m").exec(raw(value))?.[1]?.replace(/\r\n/g, "")

  it("fold so that unfolding gives the value back", () => {
    const value = `${"word  ".repeat(40)}\tend`
    assert.strictEqual(header(message({ headers: { "X-Long": value } }), "X-Long"), value)
    for (const line of raw(message({ headers: { "X-Long": value }, subject: value })).split("\r\n"))
      assert.isAtMost(line.length, 78)
  })

  it("contain one-click unsubscribe on request, unless the customer sets their own", () => {
    const url = "https://u.acme.test/1?x=%20"
    const asked = message({ unsubscribeUrl: url })
    assert.strictEqual(header(asked, "List-Unsubscribe"), `<${url}>`)
    assert.strictEqual(header(asked, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click")
    const own = message({ unsubscribeUrl: url, headers: { "list-unsubscribe": "<mailto:u@acme.test>" } })
    assert.notInclude(raw(own), "List-Unsubscribe-Post")
    assert.notInclude(raw(own), url)
    assert.notInclude(raw(message()), "List-Unsubscribe")
  })

  it("have the email id in Message-ID and the time of creation in Date", () => {
    assert.strictEqual(header(message(), "Message-ID"), `<${message().id}@acme.test>`)
    assert.strictEqual(composed(message()).messageId, `${message().id}@acme.test`)
    assert.strictEqual(header(message(), "Date"), "Sat, 21 Nov 2026 10:15:20 +0000")
  })

  it("keep a UTF-8 local part, and the message then requires SMTPUTF8", () => {
    const value = message({ to: [{ address: address("žofie@bücher.example"), name: "Žofie" }] })
    assert.isTrue(composed(value).smtpUtf8)
    assert.include(raw(value), "<žofie@xn--bcher-kva.example>")
    assert.isFalse(composed(message({ to: [{ address: address("x@bücher.example") }] })).smtpUtf8)
    // Bcc recipients appear in no header, so they matter only to the envelope.
    assert.isFalse(composed(message({ bcc: [{ address: address("ž@a.test") }] })).smtpUtf8)
  })

  it("quote a local part whose dots need it", () => {
    const dotted = { address: address('"first..last"@docomo.ne.jp') }
    const mail = raw(message({ to: [dotted], cc: [{ ...dotted, name: "Ana" }] }))
    assert.include(mail, '\r\nTo: "first..last"@docomo.ne.jp\r\nCc: Ana <"first..last"@docomo.ne.jp>\r\n')
  })

  it("name every recipient, and the envelope has each once", () => {
    const ana = { address: address("ana@example.org") }
    assert.deepStrictEqual(composed(message({ to: [ana], cc: [ana], bcc: [ana] })).envelope.to, [ana.address])
  })
})

describe("a file's type", () => {
  const type = (fields: Partial<Message.Attachment>) =>
    /Content-Type: ((?:application|image|message)\/[^;\r]+)/.exec(
      raw(message({ attachments: [{ filename: "f", content: Buffer.from("x"), ...fields }] })),
    )?.[1]

  it("is the declared type, else follows from the file name, else is application/octet-stream", () => {
    assert.strictEqual(type({ contentType: "image/x-own" }), "image/x-own")
    assert.strictEqual(type({ filename: "A.PDF" }), "application/pdf")
    assert.strictEqual(type({ filename: "constructor" }), "application/octet-stream")
    assert.strictEqual(type({}), "application/octet-stream")
  })

  it.for([
    ['application/pdf; name="a.pdf"', "application/pdf;\r\n name="],
    ["text/calendar; NAME=a.ics; method=REQUEST", "text/calendar; method=REQUEST;\r\n name="],
    ['text/plain;name="a; b";charset=utf-8', "text/plain;charset=utf-8;\r\n name="],
    ['text/plain; x="; name=y"', 'text/plain; x="; name=y";\r\n name='],
  ] as const)("names the file once in %s", ([contentType, written]) => {
    const bytes = raw(message({ attachments: [{ filename: "b", content: Buffer.from("x"), contentType }] }))
    assert.include(bytes, `Content-Type: ${written}"b"\r\n`)
  })

  it("is message/rfc822 only when the file needs no encoding", () => {
    assert.strictEqual(
      type({ contentType: "message/rfc822", content: Buffer.from("Subject: x\n\ny") }),
      "message/rfc822",
    )
    assert.strictEqual(
      type({ contentType: "message/rfc822", content: Buffer.from("Subject: ü\n\ny") }),
      "application/octet-stream",
    )
    assert.strictEqual(type({ contentType: "multipart/mixed" }), "application/octet-stream")
  })
})

describe("a message that is tracked", () => {
  const tracking = { open: "https://t.test/t/o/1", click: (url: string) => `https://t.test/t/c/${url.length}` }
  const html = '<a href="https://x.test/">shop</a> <a href="https://x.test/off?a&amp;b">off</a>'

  it("has the same bytes when composed again, and differs from the untracked mail only in its HTML", () => {
    const { text: _, ...untold } = message({ html })
    const tracked = { ...untold, tracking }
    assert.strictEqual(raw(tracked), raw(tracked))
    const [before, after] = [untold, tracked].map((each) => raw(each).split(/\r\n--=_/u))
    assert.deepStrictEqual(
      before?.map((part, nth) => part === after?.[nth]),
      [true, true, false, true],
    )
    assert.strictEqual(raw({ ...untold, tracking: undefined }), raw(untold))
    assert.strictEqual(raw({ ...untold, tracking: {} }), raw(untold))
  })

  it.effect("keeps the unsubscribe link of its headers untracked", function* () {
    const off = "https://x.test/off?a&b"
    const ways = [{ unsubscribeUrl: off }, { headers: { "list-unsubscribe": `<mailto:off@x.test>, <${off}>` } }]
    for (const way of ways) {
      const parsed = yield* parse(message({ html, tracking, ...way }))
      assert.include(parsed.html ?? "", 'href="https://t.test/t/c/15"')
      assert.include(parsed.html ?? "", 'href="https://x.test/off?a&amp;b"')
    }
  })
})
