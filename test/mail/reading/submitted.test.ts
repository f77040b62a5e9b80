import { MAX_CONTENT_ID_USES } from "@waybill/mail/report/readSubmitted"
import * as Submitted from "@waybill/mail/reading/Submitted"
import type { SubmittedFile } from "@waybill/mail/report/SubmittedMessage"
import { Effect } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

interface Part {
  readonly type: string
  readonly more?: ReadonlyArray<string>
  readonly body: string
}

const mail = (parts: ReadonlyArray<Part>) =>
  Buffer.from(
    [
      "From: hi@acme.test",
      "MIME-Version: 1.0",
      'Content-Type: multipart/mixed; boundary="b"',
      "",
      ...parts.flatMap(({ body, more = [], type }) => ["--b", `Content-Type: ${type}`, ...more, "", body]),
      "--b--",
      "",
    ].join("\r\n"),
    "latin1",
  )

const parse = (bytes: Uint8Array) => Effect.catchTag(Submitted.parse(bytes, "acme"), "Busy", Effect.die)

const read = (...parts: ReadonlyArray<Part>) => parse(mail(parts))

const ATTACHED = "Content-Disposition: attachment; filename=a"
const textOf = (file: SubmittedFile | undefined) => Buffer.from(file?.bytes ?? []).toString("utf8")

describe("a submitted file", () => {
  const LINES = ["a,b", "a,b\r\n1,2\r\n", "a,\xff\r\n\r\n"]
  for (const encoding of ["7bit", "8bit", "binary"])
    it.effect(`keeps every byte in ${encoding}`, function* () {
      const more = [ATTACHED, `Content-Transfer-Encoding: ${encoding}`]
      const { files } = yield* read(...LINES.map((body) => ({ type: "text/csv", more, body })))
      assert.deepStrictEqual(
        files.map(({ bytes }) => Buffer.from(bytes).toString("latin1")),
        LINES,
      )
    })

  it.effect("keeps every byte when it is the whole message", function* () {
    for (const encoding of ["7bit", "8bit", "binary"]) {
      const head = `From: hi@acme.test\r\nContent-Type: text/csv\r\nContent-Transfer-Encoding: ${encoding}\r\n${ATTACHED}\r\n\r\n`
      const { files } = yield* parse(Buffer.from(`${head}a,\xff\r\n1,2\r\n`, "latin1"))
      assert.strictEqual(Buffer.from(files[0]?.bytes ?? []).toString("latin1"), "a,\xff\r\n1,2\r\n", encoding)
    }
  })

  it.effect("keeps its last line end in quoted-printable", function* () {
    const more = [ATTACHED, "Content-Transfer-Encoding: quoted-printable"]
    const bodies = ["a,b", "a,b=\r\n1,2\r\n", "a=0Ab=", "a=0D=0A"]
    const { files } = yield* read(...bodies.map((body) => ({ type: "text/csv", more, body })))
    assert.deepStrictEqual(files.map(textOf), ["a,b", "a,b1,2\n", "a\nb", "a\r\n"])
  })

  it.effect("keeps every byte in base64", function* () {
    const more = [ATTACHED, "Content-Transfer-Encoding: BASE64"]
    const bytes = ["a,b\n", "a,b", "\r\n", "\n"]
    const { files } = yield* read(
      ...bytes.map((text) => ({ type: "text/csv", more, body: Buffer.from(text).toString("base64") })),
    )
    assert.deepStrictEqual(files.map(textOf), bytes)
  })

  it.effect("that is a calendar has CRLF line ends and a method", function* () {
    const body = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
    const { files } = yield* read(
      { type: "text/calendar; charset=utf-8; method=request", body },
      {
        type: "application/ics; name=invite.ics",
        more: [ATTACHED, "Content-Transfer-Encoding: base64"],
        body: Buffer.from(body).toString("base64"),
      },
      { type: 'text/calendar; method="x; y=z"', body },
    )
    assert.deepStrictEqual(files.map(textOf), [body, body, body])
    assert.deepStrictEqual(
      files.map(({ contentType }) => contentType),
      ["text/calendar; method=REQUEST", "application/ics", "text/calendar"],
    )
  })

  it.effect("has a content id only if the HTML uses it", function* () {
    const image = (id: string) => ({ type: "image/png", more: [`Content-ID: ${id}`], body: "x" })
    const body = `<img src="cid:logo@acme.test"><img src=CID:b%40acme.test><td style="background:url(cid:c&#64;d)">`
    const ids = ["<logo@acme.test>", " b@acme.test ", "<c@d>", "<f_m2x7>", "<not an id>", "<>", "<acme.test>"]
    const { files } = yield* read({ type: "text/html", body }, ...ids.map(image))
    assert.deepStrictEqual(
      files.map(({ contentId }) => contentId),
      ["logo@acme.test", "b@acme.test", "c@d", null, null, null, null],
    )
    assert.isNull((yield* read(image("<logo@acme.test>"))).files[0]?.contentId ?? null)
    // Only a bounded number of content ids is looked at.
    const many = { type: "text/html", body: `${"cid:other ".repeat(MAX_CONTENT_ID_USES)}${body}` }
    assert.isNull((yield* read(many, image("<logo@acme.test>"))).files[0]?.contentId)
  })

  it.effect("is not made of an AMP alternative", function* () {
    const amp = { type: "text/x-amp-html", body: "<html amp4email></html>" }
    const { files } = yield* read({ type: "text/plain", body: "hi" }, amp, { ...amp, more: [ATTACHED] })
    assert.deepStrictEqual(
      files.map(({ contentType, filename }) => [contentType, filename]),
      [["text/x-amp-html", "a"]],
    )
  })
})

describe("a multipart inside another", () => {
  const within = (type: string, body: string) => read({ type, body }, { type: "text/csv", more: [ATTACHED], body: "a" })
  const WORDS = "--c\r\n\r\nDear Ana\r\n--c--"

  for (const type of ["multipart/alternative; boundary=d", "multipart/mixed"])
    it.effect(`is refused when its boundary is missing: ${type}`, function* () {
      const { reason } = yield* Effect.flip(within(type, WORDS))
      assert.strictEqual(reason, "empty_multipart")
    })

  it.effect("may have parts or be empty", function* () {
    assert.strictEqual((yield* within("multipart/mixed; boundary=c", WORDS)).text, "Dear Ana")
    for (const body of ["", "\r\n \r\n", "--c--"])
      assert.lengthOf((yield* within("multipart/mixed; boundary=c", body)).files, 1)
  })
})

describe("a submitted name", () => {
  it.effect("may be folded before a tab", function* () {
    const folded = `From: "Acme,\r\n\tof old" <hi@acme.test>\r\nTo: Ana\r\n\tMaria\r\n\t<ana@example.org>\r\n\r\nhi\r\n`
    const { from, to } = yield* parse(Buffer.from(folded))
    assert.deepStrictEqual(from, [{ address: "hi@acme.test", name: "Acme, of old" }])
    assert.deepStrictEqual(to, [{ address: "ana@example.org", name: "Ana Maria" }])
  })
})

describe("bytes beyond ASCII", () => {
  const FROM = "From: Gr\xf6\xdfe <hi@acme.test>\r\nSubject: caf\xe9\r\nX-A: \x80\r\n"
  const take = (text: string) => parse(Buffer.from(text, "latin1"))

  for (const type of ["", "Content-Type: text/plain\r\n", "content-type : text/html;\r\n format=fixed\r\n"])
    it.effect(`without a declared charset are windows-1252: "${type.trim()}"`, function* () {
      const { from, headers, html, subject, text } = yield* take(`${FROM}${type}\r\n\x93na\xefve\x94\r\n`)
      assert.deepStrictEqual([from[0]?.name, subject, headers[0]?.value], ["Größe", "café", "€"])
      assert.strictEqual((html ?? text)?.trim(), "“naïve”")
    })

  it.effect("have the declared charset", function* () {
    const { subject, text } = yield* take(`${FROM}Content-Type: text/plain;\r\n charset=iso-8859-2\r\n\r\n\xb9\r\n`)
    assert.deepStrictEqual([subject, text], ["café", "š"])
  })

  for (const charset of [
    "(of old) charset=iso-8859-2",
    "charset*=us-ascii'en'iso-8859-2",
    'charset (x) = "iso-8859-2"',
  ])
    it.effect(`have the declared charset ${charset}`, function* () {
      const { text } = yield* take(`${FROM}Content-Type: text/plain; ${charset}\r\n\r\n\xb9\r\n`)
      assert.strictEqual(text, "š")
    })

  it.effect("are replaced when they are invalid in every charset", function* () {
    const { subject } = yield* take("From: hi@acme.test\r\nSubject: a\x81\x40b\r\n\r\nhi\r\n")
    assert.strictEqual(subject, "a\ufffd@b")
  })

  it.effect("are UTF-8 when they are valid UTF-8", function* () {
    const { subject, text } = yield* parse(Buffer.from("From: hi@acme.test\r\nSubject: café\r\n\r\n“š”\r\n"))
    assert.deepStrictEqual([subject, text], ["café", "“š”"])
  })

  it.effect("are unchanged in a file", function* () {
    const more = [ATTACHED, "Content-Transfer-Encoding: 8bit"]
    const { files } = yield* read({ type: "application/x-own", more, body: "\xe9\x00\xff" })
    assert.deepStrictEqual([...(files[0]?.bytes ?? [])], [0xe9, 0, 0xff])
  })
})
