import { Duration, Effect, Layer } from "effect"
import type { SendMailOptions } from "nodemailer"
import { assert, layer } from "../../support/effectTest.ts"
import { mimeShapes } from "../../support/mail/mimeShapes.ts"
import { receivedMail, type ReceivedMail } from "../../support/mail/receivedMail.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { Fresh } from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "./support.ts"

const SHAPES = 120
const lf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8").replaceAll("\r\n", "\n")
const utf8 = (text: string) => Buffer.from(text)

/** Sends mails to the submission listener, and returns what an SMTP server at the other end got of each. */
const passed = Effect.fnUntraced(function* (mails: (acme: Smtp.Customer) => ReadonlyArray<SendMailOptions>) {
  const port = yield* Smtp.submission()
  const acme = yield* Smtp.customer({ plan: "business" })
  const { url } = yield* Fresh
  const server = yield* SmtpServer.listen({})
  yield* Layer.build(World.worker(url, { relay: World.relay(server) }))
  return yield* Effect.forEach(mails(acme), (mail) =>
    Effect.gen(function* () {
      const reply = yield* Smtp.send(port, acme.secret, mail)
      const id = /msg_\w+/u.exec(reply)?.[0]
      assert.isDefined(id, reply)
      yield* World.settled({ account_id: acme.account_id, stream_id: id as never }, Duration.seconds(30))
      const bytes = server.mails.find(({ messageId }) => messageId.startsWith(id ?? "-"))?.bytes
      return receivedMail(bytes ?? Buffer.alloc(0))
    }),
  )
})

const basics = (acme: Smtp.Customer) => ({ from: `hi@${acme.domain}`, to: "ana@example.org", subject: "s" })
const filesOf = ({ parts }: ReceivedMail) =>
  parts
    .filter(({ filename }) => filename !== undefined)
    .map(({ bytes, filename }) => [filename, bytes.toString("latin1")])
const bodiesOf = ({ parts }: ReceivedMail) =>
  parts.filter(({ filename }) => filename === undefined).map(({ bytes, type }) => [type.split(";")[0], lf(bytes)])

/** A message whose only body is written by hand. */
const raw = (acme: Smtp.Customer, ...lines: ReadonlyArray<string>) => ({
  envelope: { from: "", to: "ana@example.org" },
  raw: Buffer.from([`From: hi@${acme.domain}`, "To: ana@example.org", ...lines].join("\r\n"), "latin1"),
})

layer(Smtp.layer, { excludeTestServices: true })("mail submitted over SMTP", (it) => {
  it.effect("keeps named inline texts and calendars as files, byte for byte", function* () {
    const ics = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nSUMMARY:Gr\xfc\xdfe\nEND:VCALENDAR"
    const files: ReadonlyArray<readonly [filename: string, type: string, bytes: Buffer]> = [
      ["notes.txt", "text/plain", utf8("line\n\nlast\r\n")],
      ["page.html", "text/html; charset=utf-8", utf8("<p>not the body</p>\n")],
      ["latin.csv", "text/csv; charset=iso-8859-1", Buffer.from("gr\xfc\xdfe\n", "latin1")],
      ["invite.ics", "text/calendar; charset=iso-8859-1; method=REQUEST", Buffer.from(ics, "latin1")],
      ["other.ics", "application/ics", utf8("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n\r\n")],
      ["escaped.ics", "text/calendar", utf8("BEGIN:VCALENDAR\nEND:VCALENDAR\n")],
    ]
    const attachments = files.map(([filename, contentType, content]) => ({
      filename,
      contentType,
      content,
      contentDisposition: "inline" as const,
      contentTransferEncoding: "base64" as const,
    }))
    const [mixed, only] = yield* passed((acme) => [
      { ...basics(acme), text: "the body\n", html: "<p>the body</p>", attachments },
      { ...basics(acme), attachments: attachments.slice(0, 1) },
    ])
    assert.deepStrictEqual(
      mixed && filesOf(mixed),
      files.map(([filename, , bytes]) => [filename, bytes.toString("latin1")]),
    )
    assert.deepStrictEqual(mixed && bodiesOf(mixed), [
      ["text/plain", "the body\n"],
      ["text/html", "<p>the body</p>"],
    ])
    const types = mixed?.parts.map(({ type }) => type.replace(/; *name=.*/u, ""))
    assert.deepStrictEqual(types?.slice(2), [
      "text/plain; charset=utf-8",
      "text/html; charset=utf-8",
      "text/csv; charset=iso-8859-1",
      "text/calendar; method=REQUEST; charset=iso-8859-1",
      "application/ics",
      "text/calendar; charset=utf-8",
    ])
    assert.deepStrictEqual(only && filesOf(only), [["notes.txt", "line\n\nlast\r\n"]])
  })

  it.effect("keeps the end of a body in every encoding, and of a file that ends in =0A=", function* () {
    // A message of one text ends in a line break anyway, its own or that of the end of DATA.
    const bodies: ReadonlyArray<readonly [encoding: string, body: string, alone: string, part: string]> = [
      ["quoted-printable", "hi=0A=", "hi\n", "hi\n"],
      ["quoted-printable", "hi=0A=\r\n", "hi\n", "hi\n"],
      ["quoted-printable", "hi=", "hi\n", "hi"],
      ["quoted-printable", "hi\r\n", "hi\n", "hi"],
      ["quoted-printable", "hi\r\n\r\n", "hi\n", "hi\n"],
      ["base64", "aGkK", "hi\n", "hi\n"],
      ["base64", "aGkKCg==", "hi\n\n", "hi\n\n"],
      ["base64", "aGk=", "hi\n", "hi"],
      ["8bit", "hi\r\n\r\n", "hi\n", "hi\n"],
    ]
    const head = (encoding: string) => ["Content-Type: text/plain", `Content-Transfer-Encoding: ${encoding}`, ""]
    const both = yield* passed((acme) => [
      ...bodies.map(([encoding, body]) => raw(acme, "Subject: s", ...head(encoding), body)),
      ...bodies.map(([encoding, body]) =>
        raw(
          acme,
          "Content-Type: multipart/mixed; boundary=b",
          "",
          "--b",
          ...head(encoding),
          body.replace(/(?<!=)\r\n$/u, ""),
          "--b",
          "Content-Type: application/x-own",
          "Content-Disposition: attachment; filename=a",
          "Content-Transfer-Encoding: quoted-printable",
          "",
          "a=0A=",
          "--b--",
          "",
        ),
      ),
    ])
    assert.deepStrictEqual(both.map(bodiesOf), [
      ...bodies.map(([, , alone]) => [["text/plain", alone]]),
      ...bodies.map(([, , , part]) => [["text/plain", part]]),
    ])
    assert.deepStrictEqual(
      both.flatMap(filesOf),
      bodies.map(() => ["a", "a\n"]),
    )
  })

  it.effect(
    "arrives complete in every shape of MIME",
    function* () {
      const shapes = mimeShapes(7_041, SHAPES)
      const received = yield* passed((acme) =>
        shapes.map(({ bytes }) => ({
          envelope: { from: "", to: "ana@example.org" },
          raw: Buffer.concat([
            Buffer.from(`From: hi@${acme.domain}\r\nTo: ana@example.org\r\nSubject: s\r\nMIME-Version: 1.0\r\n`),
            bytes,
            Buffer.from("\r\n"),
          ]),
        })),
      )
      for (const [nth, { bytes, files, html, text }] of shapes.entries()) {
        const mail = received[nth]
        const shape = `shape ${nth}:\n${bytes.toString("latin1")}`
        assert.deepStrictEqual(
          mail && filesOf(mail),
          files.map(({ bytes, filename }) => [filename, bytes.toString("latin1")]),
          shape,
        )
        const bodies = mail === undefined ? [] : bodiesOf(mail)
        // One line break at the end of a single text belongs to the end of DATA.
        const ended = (text: string | undefined) => (mail?.parts.length === 1 ? text?.replace(/\n*$/u, "\n") : text)
        const body = (subtype: string) => ended(bodies.find(([type]) => type === `text/${subtype}`)?.[1])
        assert.strictEqual(body("html"), ended(html), shape)
        if (text !== undefined) assert.strictEqual(body("plain"), ended(text), shape)
      }
    },
    180_000,
  )

  it.effect("keeps the first and the last ids of References that are longer than a header may be", function* () {
    const ids = Array.from({ length: 150 }, (_, nth) => `<${nth}.${"x".repeat(30)}@acme.test>`)
    const [mail, short] = yield* passed((acme) => [
      { ...basics(acme), text: "hi", references: ids },
      { ...basics(acme), text: "hi", references: ids.slice(0, 80) },
    ])
    const references = (mail: ReceivedMail | undefined) => /^References: (.*)$/mu.exec(mail?.head ?? "")?.[1] ?? ""
    const kept = references(mail).split(/\s+/u)
    assert.strictEqual(kept[0], ids[0])
    assert.deepStrictEqual(kept.slice(1), ids.slice(1 - kept.length))
    assert.isAtMost(references(mail).length, 4_000)
    assert.isAbove(references(mail).length, 3_900)
    assert.deepStrictEqual(references(short).split(/\s+/u), ids.slice(0, 80))
  })

  it.effect("keeps a meeting invitation as an alternative of the text, and beside it as a file", function* () {
    const ics = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nSUMMARY:Gr\u00fc\u00dfe\r\nEND:VCALENDAR\r\n"
    const [mail, alone] = yield* passed((acme) => [
      { ...basics(acme), text: "hi", html: "<p>hi</p>", icalEvent: { method: "REQUEST", content: ics } },
      raw(
        acme,
        "Content-Type: multipart/alternative; boundary=b",
        "",
        "--b",
        "",
        "hi",
        "--b",
        "Content-Type: text/calendar; method=CANCEL",
        "",
        "BEGIN:VCALENDAR",
        "END:VCALENDAR",
        "",
        "--b--",
        "",
      ),
    ])
    assert.deepStrictEqual(
      mail?.parts.map(({ bytes, disposition, filename, type }) => [
        type.split("; name")[0],
        disposition,
        filename,
        bytes.toString(),
      ]),
      [
        ["text/plain; charset=utf-8", "", undefined, "hi"],
        ["text/html; charset=utf-8", "", undefined, "<p>hi</p>"],
        ["text/calendar; method=REQUEST; charset=utf-8", "", undefined, ics],
        ["application/ics", "attachment", "invite.ics", ics],
      ],
    )
    assert.match(alone?.head ?? "", /^Content-Type: multipart\/alternative/mu)
    assert.deepStrictEqual(
      alone?.parts.map(({ bytes, type }) => [type, bytes.toString()]),
      [
        ["text/plain; charset=utf-8", "hi"],
        ["text/calendar; method=CANCEL; charset=utf-8", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"],
      ],
    )
  })

  it.effect("keeps fields of one name in their order, with other capitals", function* () {
    const [mail] = yield* passed((acme) => [
      raw(
        acme,
        "Subject: s",
        "Comments: first",
        "X-Trace: a",
        "Comments: second",
        "x-trace: b",
        "Comments: third",
        "X-Trace: c",
        "x: d",
        "x: e",
        "",
        "hi",
      ),
    ])
    const valuesOf = (name: string) =>
      mail?.head.split("\r\n").flatMap((line) => {
        const [field = "", value] = line.split(": ")
        return field.toLowerCase() === name ? [value] : []
      })
    assert.deepStrictEqual(valuesOf("comments"), ["first", "second", "third"])
    assert.deepStrictEqual(valuesOf("x-trace"), ["a", "b", "c"])
    assert.deepStrictEqual(valuesOf("x"), ["d", "e"])
    assert.include(mail?.head, "Comments: first\r\n")
  })

  it.effect("names nobody in To if nobody is shown there", function* () {
    const { to: _, ...others } = basics({ domain: "x" } as Smtp.Customer)
    const [bcc, cc] = yield* passed((acme) => [
      { ...others, from: `hi@${acme.domain}`, bcc: "ana@example.org", text: "hi" },
      { ...others, from: `hi@${acme.domain}`, cc: "ana@example.org", text: "hi" },
    ])
    const people = (mail: ReceivedMail | undefined) =>
      mail?.head.split("\r\n").filter((line) => /^(?:To|Cc):/iu.test(line))
    assert.deepStrictEqual(people(bcc), ["To: undisclosed-recipients:;"])
    assert.deepStrictEqual(people(cc), ["To: undisclosed-recipients:;", "Cc: ana@example.org"])
  })

  it.effect("is refused in words if a charset or an encoding cannot be read", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const part = (type: string, encoding: string, body: string) => [
      `Content-Type: ${type}`,
      `Content-Transfer-Encoding: ${encoding}`,
      "",
      body,
    ]
    const refused: ReadonlyArray<readonly [lines: ReadonlyArray<string>, reply: RegExp]> = [
      [
        part("text/plain; charset=UTF-7", "7bit", "Gr+APwA3w-e"),
        /^554 5\.6\.3 .*charset.*send UTF-8 \(it says UTF-7\)$/u,
      ],
      [part("text/html; charset=utf-32", "base64", "AAAA"), /^554 5\.6\.3 .*charset.* utf-32\)$/u],
      [part("text/plain; charset=hz-gb-2312", "7bit", "~{VPND~}"), /^554 5\.6\.3 /u],
      [part("text/plain; charset=x-none", "8bit", "\xe9"), /^554 5\.6\.3 .* x-none\)$/u],
      [["Subject: =?utf-7?Q?Gr+APw-?=", "", "hi"], /^554 5\.6\.3 .* utf-7\)$/u],
      [["X-Own: =?x-none?Q?=E9?=", "", "hi"], /^554 5\.6\.3 .* x-none\)$/u],
      [
        ["Content-Disposition: attachment; filename*=x-none''%E9", ...part("application/x-own", "base64", "QQ==")],
        /^554 5\.6\.3 /u,
      ],
      [part("text/plain", "x-uuencode", "begin 644 a"), /^554 5\.6\.3 .*transfer encoding.* x-uuencode\)$/u],
    ]
    for (const [lines, reply] of refused) assert.match(yield* Smtp.send(port, acme.secret, raw(acme, ...lines)), reply)
    const taken = [
      part("text/plain; charset=x-none", "7bit", "Hello"),
      part("text/plain; charset=ks_c_5601-1987", "8bit", "\xb0\xa1"),
      part("text/plain; charset=cp932", "8-bit", "\x82\xa0"),
      ["Subject: =?x-none?Q?Hello?=", "", "hi"],
      ["Subject: =?iso-2022-jp?B?GyRCJCIbKEI=?=", "", "hi"],
    ]
    for (const lines of taken) assert.match(yield* Smtp.send(port, acme.secret, raw(acme, ...lines)), /^250 /u)
    const mails = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(
      mails.map(({ body, subject }) => [subject, body.text]),
      [
        ["", "Hello"],
        ["", "가"],
        ["", "あ"],
        ["Hello", "hi"],
        ["あ", "hi"],
      ],
    )
  })
})
