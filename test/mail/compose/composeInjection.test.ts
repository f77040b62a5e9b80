import type { Address } from "@waybill/domain/values/Address"
import * as Compose from "@waybill/mail/compose/Compose"
import type * as Message from "@waybill/mail/compose/Message"
import { Effect, Result, Schema } from "effect"
import PostalMime from "postal-mime"
import { assert, describe, it } from "../../support/effectTest.ts"
import { address, message } from "./composeMessage.ts"

const refusal = (fields: Partial<Message.Message>) => {
  const result = Compose.compose(message(fields))
  return Result.isFailure(result) ? `${result.failure.field}: ${result.failure.reason}` : "composed"
}
/** Values that an event written by an older release may contain. */
const unchecked = (text: string) => text as Address

const BREAKS = ["\r\nBcc: evil@x.test", "\nBcc: evil@x.test", "\rBcc: evil@x.test", "\0", "\r\n\r\nbody", "\r\n .\r\n"]

describe("a line break or NUL", () => {
  for (const text of BREAKS) {
    // threat: injected-lines
    it(`${JSON.stringify(text)} is refused in every field`, () => {
      const evil = `x${text}`
      assert.strictEqual(refusal({ subject: evil }), "subject: line_break")
      assert.strictEqual(refusal({ from: { address: address("a@b.test"), name: evil } }), "from: line_break")
      assert.strictEqual(refusal({ to: [{ address: unchecked(`a@b.test${text}`) }] }), "to: line_break")
      assert.strictEqual(refusal({ cc: [{ address: address("a@b.test"), name: evil }] }), "cc: line_break")
      assert.strictEqual(refusal({ bcc: [{ address: unchecked(`${text}a@b.test`) }] }), "bcc: line_break")
      assert.strictEqual(refusal({ replyTo: [{ address: address("a@b.test"), name: evil }] }), "reply_to: line_break")
      assert.strictEqual(refusal({ headers: { "X-A": evil } }), "headers.X-A: line_break")
      assert.match(refusal({ headers: { [`X-A${text}`]: "v" } }), /^headers\..*: line_break$/)
      assert.strictEqual(
        refusal({ attachments: [{ filename: evil, content: new Uint8Array() }] }),
        "attachments.filename: line_break",
      )
      assert.strictEqual(
        refusal({ attachments: [{ filename: "f", contentType: `text/plain${text}`, content: new Uint8Array() }] }),
        "attachments.content_type: bad_content_type",
      )
      assert.strictEqual(
        refusal({ html: "x", attachments: [{ filename: "f", contentId: evil, content: new Uint8Array() }] }),
        "attachments.content_id: bad_content_id",
      )
      assert.strictEqual(refusal({ unsubscribeUrl: `https://a.test/${text}` }), "unsubscribe_url: bad_unsubscribe_url")
    })
  }
})

describe("a header", () => {
  // threat: forged-headers
  it("that the service sets itself is refused, in upper and lower case", () => {
    for (const name of [
      "From",
      "to",
      "CC",
      "bcc",
      "Subject",
      "date",
      "message-id",
      "DKIM-Signature",
      "Return-Path",
      "received",
      "MIME-Version",
      "Content-Type",
      "content-anything",
    ]) {
      assert.strictEqual(refusal({ headers: { [name]: "x" } }), `headers.${name}: header_owned`)
    }
  })

  it("with an invalid name is refused", () => {
    for (const name of ["", "X A", "X:", "Bcc ", " Bcc", "X-ü", "X\t", "x".repeat(77)]) {
      assert.match(refusal({ headers: { [name]: "x" } }), /bad_header_name$/, name)
    }
  })

  it("that may occur only once is refused when repeated", () => {
    assert.strictEqual(
      refusal({ headers: { "Reply-To": "a@b.test" }, replyTo: [{ address: address("a@b.test") }] }),
      "headers.Reply-To: header_repeated",
    )
    assert.strictEqual(
      refusal({ headers: { References: "<a@b>", references: "<c@d>" } }),
      "headers.references: header_repeated",
    )
    assert.strictEqual(refusal({ headers: { "Reply-To": "a@b.test" } }), "composed")
  })

  it("that is too long to fold is refused, and a subject too long to fold is encoded", () => {
    assert.strictEqual(refusal({ headers: { "X-A": "x".repeat(901) } }), "headers.X-A: unbroken_run")
    assert.strictEqual(refusal({ headers: { "X-A": "x".repeat(900) } }), "composed")
    assert.strictEqual(refusal({ headers: { "X-A": "x ".repeat(900) } }), "composed")
    assert.strictEqual(refusal({ headers: { "X-A": `a${" ".repeat(900)}b` } }), "composed")
    assert.strictEqual(refusal({ headers: { "X-A": `a${" ".repeat(901)}b` } }), "headers.X-A: unbroken_run")
    assert.strictEqual(refusal({ subject: "x".repeat(2000) }), "composed")
    assert.strictEqual(
      refusal({ unsubscribeUrl: `https://a.test/${"x".repeat(900)}` }),
      "unsubscribe_url: unbroken_run",
    )
  })
})

describe("an address", () => {
  // threat: injected-lines
  it("that parses as another address, or as two, is refused", () => {
    const bad = [
      "",
      "a",
      "@b.test",
      "a@",
      "a@b.test, evil@x.test",
      "a@b.test>",
      "<a@b.test",
      "a@b.test>, <evil@x.test",
      "a b@c.test",
      "a@b.test\t",
      '"a"@b.test',
      "a@b.test;",
      "(x)a@b.test",
      "@x.test:a@b.test",
      "a@[192.0.2.1]",
      '"a..b"@c.test',
      "a@B.test",
      "a@bücher.example",
      "a@b.test (c)",
    ]
    for (const text of bad) assert.strictEqual(refusal({ to: [{ address: unchecked(text) }] }), "to: bad_address", text)
  })

  it("list without a recipient is refused", () => {
    assert.strictEqual(refusal({ to: [] }), "to: no_recipient")
    assert.strictEqual(refusal({ to: [], bcc: [{ address: address("a@b.test") }] }), "composed")
  })
})

describe("a file", () => {
  it("with an invalid media type is refused", () => {
    for (const contentType of [
      "",
      "text",
      "text/",
      "/plain",
      "text/plain;",
      "text/plain; x",
      "text/plain, text/html",
      "text/pl ain",
      'text/plain; a="b',
      `a/${"b".repeat(400)}`,
    ]) {
      assert.strictEqual(
        refusal({ attachments: [{ filename: "f", contentType, content: new Uint8Array() }] }),
        "attachments.content_type: bad_content_type",
        contentType,
      )
    }
    for (const contentType of [
      "text/plain",
      "text/plain; charset=utf-8",
      'text/calendar; method=REQUEST; charset="utf-8"',
      "application/vnd.a+b",
    ]) {
      assert.strictEqual(
        refusal({ attachments: [{ filename: "f", contentType, content: new Uint8Array() }] }),
        "composed",
        contentType,
      )
    }
  })
})

describe("any input", () => {
  const Nasty = Schema.Array(
    Schema.Union([
      Schema.Literals([
        "\r\n",
        "\n",
        "\r",
        "\0",
        "Bcc: evil@x.test",
        "Content-Type: text/html",
        ",",
        "<evil@x.test>",
        '"',
        "\\",
        ":",
        ";",
        "=?utf-8?B?DQpCY2M6IGV2aWxAeC50ZXN0?=",
        "\u2028",
        "\u0085",
        "é",
        " ",
      ]),
      Schema.String,
    ]),
  )

  it.effect.prop(
    "reaches the envelope's recipients and shows the fields it was given",
    { parts: Nasty, place: Schema.Literals(["subject", "name", "header", "filename", "text"]) },
    ({ parts, place }) =>
      Effect.gen(function* () {
        const text = parts.join("").toWellFormed()
        const result = Compose.compose(
          message({
            ...(place === "subject" ? { subject: text } : {}),
            ...(place === "text" ? { text } : {}),
            ...(place === "name" ? { to: [{ address: address("ana@example.org"), name: text }] } : {}),
            ...(place === "header" ? { headers: { "X-Note": text } } : {}),
            ...(place === "filename" ? { attachments: [{ filename: text, content: new Uint8Array() }] } : {}),
          }),
        )
        if (Result.isFailure(result)) return
        const email = yield* Effect.promise(() => PostalMime.parse(result.success.bytes))
        assert.deepStrictEqual(result.success.envelope.to, [address("ana@example.org")])
        assert.deepStrictEqual(
          email.to?.map((entry) => entry.address),
          ["ana@example.org"],
        )
        const names = email.headers.map((header) => header.key)
        assert.deepStrictEqual(
          names.filter((name) => name !== "x-note"),
          [
            "date",
            "from",
            "to",
            "subject",
            "message-id",
            "mime-version",
            "content-type",
            ...(place === "filename" ? [] : ["content-transfer-encoding"]),
          ],
        )
      }),
    { arbitrary: { runs: 500 } },
  )
})
