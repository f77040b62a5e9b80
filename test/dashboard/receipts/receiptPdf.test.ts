import { createHash } from "node:crypto"
import { inflateSync } from "node:zlib"
import { assert, describe, it } from "vitest"
import * as PdfPage from "../../../apps/dashboard/src/receipts/PdfPage.ts"
import * as ReceiptFacts from "../../../apps/dashboard/src/receipts/ReceiptFacts.ts"
import * as ReceiptPdf from "../../../apps/dashboard/src/receipts/ReceiptPdf.ts"
import { delivered, named, received, receiptOf, redacted } from "./receiptOf.ts"

const MARGIN = 48
const PLACES = { checkpoint: "https://mail.example.com/log/checkpoint", verify: "https://mail.example.com/verify" }
const FILE = { name: "receipt.json", bytes: new TextEncoder().encode('{"object":"receipt"}') }

interface Drawn {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
}

/** A brush for which each letter is as wide as the text is high. */
const brush: PdfPage.Brush = {
  measure: (text, size) => [...text].length * size,
  draw: (text, size) => ({ width: [...text].length * size, height: size * PdfPage.LINE, pixels: new Uint8Array(16) }),
}

const page = async (receipt: ReceiptFacts.ShownReceipt) => {
  const bytes = Buffer.from(await (await ReceiptPdf.make(receipt, FILE, PLACES, brush)).arrayBuffer())
  const file = bytes.toString("latin1")
  const drawn: Array<Drawn> = []
  for (const [, font, size, x, y, hex = ""] of file.matchAll(/\/(F[12]) (\S+) Tf (\S+) (\S+) Td <(\w*)> Tj/gu)) {
    const text = new TextDecoder("windows-1252").decode(Buffer.from(hex, "hex"))
    const width = PdfPage.widthOf(text, { size: Number(size), bold: font === "F2" })
    drawn.push({ text, x: Number(x), y: Number(y), width })
  }
  for (const [, hex = "", width, x, y] of file.matchAll(/<feff(\w+)>>> BDC q (\S+) 0 0 \S+ (\S+) (\S+) cm/gu))
    drawn.push({
      text: Buffer.from(hex, "hex").swap16().toString("utf16le"),
      x: Number(x),
      y: Number(y),
      width: Number(width),
    })
  return { bytes, file, drawn, text: drawn.map(({ text }) => text).join("\n") }
}

/** Texts that leave the margins of the page, or that lie over another one of the same line. */
const overflowing = (drawn: ReadonlyArray<Drawn>) =>
  drawn.filter(
    (one) =>
      one.x < MARGIN - 0.1 ||
      one.x + one.width > PdfPage.WIDTH - MARGIN + 0.1 ||
      one.y < MARGIN / 2 ||
      one.y > PdfPage.HEIGHT - MARGIN / 2 ||
      drawn.some((other) => other !== one && other.y === one.y && other.x > one.x && other.x < one.x + one.width),
  )

const HOSTILE = [
  ") Tj ET /Root (",
  "<script>alert(1)</script>",
  "\u202egpj.exe\u202c",
  "a\u0000b\r\nBcc: x",
  "\ud800",
  "W".repeat(998),
  "請求書".repeat(200),
  "👩‍👩‍👧‍👦".repeat(100),
  "مرحبا".repeat(100),
  "",
]

describe("the page of a receipt", () => {
  it("says what happened, to whom, when, and what the server replied", async () => {
    const { drawn, text } = await page(receiptOf())
    for (const part of [
      "Your invoice 2026-1129",
      "Acme Billing <billing@acme.test>",
      "ana@example.org",
      "Delivered",
      "2026-11-29 18:10:02 UTC",
      "mx1.example.org [192.0.2.7] answered: 250 2.0.0 OK: queued as 9F12 · TLSv1.3",
      "11 to 12, of 20852163",
      "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
      "witness.example.com/w1 at 2023-03-20 12:25:47 UTC",
    ])
      assert.include(text, part)
    assert.include(text.replaceAll("\n", " "), "It does not prove that a person read the email.")
    assert.deepStrictEqual(overflowing(drawn), [])
  })

  it("is a whole PDF with the receipt attached", async () => {
    const { bytes, file } = await page(receiptOf())
    assert.match(file, /^%PDF-1\.7\n/u)
    const start = Number(/startxref\n(\d+)\n%%EOF\n$/u.exec(file)?.[1])
    const entries = file.slice(start).matchAll(/^(\d{10}) 00000 n /gmu)
    const objects = Array.from(entries, ([, at]) => file.slice(Number(at), Number(at) + 8))
    assert.isAbove(objects.length, 8)
    for (const [nth, object] of objects.entries()) assert.match(object, new RegExp(`^${nth + 1} 0 obj\n`, "u"))
    const attached = bytes.indexOf("stream\n", bytes.indexOf("/EmbeddedFile/")) + "stream\n".length
    assert.deepStrictEqual(new Uint8Array(inflateSync(bytes.subarray(attached))), FILE.bytes)
  })

  it.each([1, 10, 50, 51, 120, 500])("holds %i recipients, or says how many are left out", async (count) => {
    const to = Array.from({ length: count }, (_, n) => `somebody.with.a.long.address.${n}@department.example.org`)
    const { drawn, text } = await page(receiptOf({ to }))
    assert.deepStrictEqual(overflowing(drawn), [])
    const shown = drawn.filter(({ text, x }) => x === MARGIN && text.startsWith("somebody")).length
    if (count <= 50) assert.strictEqual(shown, count)
    else if (shown < count) assert.include(text, `and ${count - shown} more, in the attached file`)
  })

  it.each(HOSTILE)("keeps its form with hostile text %#", async (hostile) => {
    const events = [delivered(hostile, 12), delivered("bo@example.org", 13)]
    const { drawn, file } = await page(
      receiptOf({ subject: hostile, from: named("eve@example.org", hostile), to: [hostile, "bo@example.org"], events }),
    )
    assert.deepStrictEqual(overflowing(drawn), [])
    const plain = await page(
      receiptOf({ to: ["x", "bo@example.org"], events: [delivered("x", 12), delivered("bo@example.org", 13)] }),
    )
    const formOf = (text: string) =>
      text
        .replaceAll(/<feff\w*>/gu, "")
        .match(/\/Type|\/Root|endobj/gu)
        ?.filter((name) => name !== "endobj").length
    const pictures = (text: string) => [...text.matchAll(/\/Subtype\/Image/gu)].length
    // Only pictures of text come beside the objects of any receipt.
    assert.strictEqual((formOf(file) ?? 0) - pictures(file), formOf(plain.file))
  })

  it("draws what the standard fonts lack, and names it for readers that speak or copy", async () => {
    const subject = "請求書 2026-1129"
    const { drawn, file } = await page(receiptOf({ subject, to: ["用户@例え.テスト"] }))
    assert.isAbove([...file.matchAll(/\/Subtype\/Image/gu)].length, 1)
    assert.isTrue(drawn.some(({ text }) => text.includes(subject)))
    assert.include((await page(receiptOf({ subject: "Résumé – “Größe” €5" }))).text, "Résumé – “Größe” €5")
  })

  it("shows hidden characters, and keeps the direction of a text from its neighbours", () => {
    const { subject } = ReceiptFacts.of(receiptOf({ subject: "\u202egpj.exe\u202c" }))
    assert.strictEqual(subject, "[U+202E]gpj.exe[U+202C]")
    assert.strictEqual(ReceiptFacts.of(receiptOf({ subject: "مرحبا" })).subject, "\u2068مرحبا\u2069")
  })

  it("says what a receipt does not show: redacted fields, and erased ones", async () => {
    const hidden = ReceiptFacts.of(redacted())
    assert.deepStrictEqual(
      hidden.outcomes.map(({ recipient }) => recipient),
      ["(redacted)", "(redacted)"],
    )
    assert.include((await page(redacted())).text, "(redacted)")
    const { entry, index } = receiptOf().events[0] ?? assert.fail()
    const erased = ReceiptFacts.of({ ...receiptOf(), events: [{ entry, index }] })
    assert.strictEqual(erased.subject, "(erased)")
    assert.deepStrictEqual(erased.outcomes, [])
  })

  it("calls mail that was kept in the sandbox not sent", () => {
    const kept = delivered("ana@example.org", 12, { mx: "capture" })
    const [outcome] = ReceiptFacts.of(receiptOf({ events: [kept] })).outcomes
    assert.deepInclude(outcome, {
      outcome: "Not sent",
      detail: "Kept in the sandbox of the service and sent to nobody",
    })
  })

  it("says where a received mail came from, and what else the log has of it", async () => {
    const { outcomes, others } = ReceiptFacts.of(received())
    const [{ detail, outcome, recipient } = assert.fail()] = outcomes
    assert.deepStrictEqual(
      [recipient, outcome, detail],
      ["support@acme.test", "Received", "From mx.example.org [192.0.2.1] · TLSv1.3"],
    )
    assert.strictEqual(others, "Inbound replied")
    assert.deepStrictEqual(overflowing((await page(received())).drawn), [])
  })

  it("is the same for the same receipt", async () => {
    const hashes = await Promise.all(
      [1, 2].map(async () =>
        createHash("sha256")
          .update((await page(receiptOf())).bytes)
          .digest("hex"),
      ),
    )
    assert.strictEqual(hashes[0], hashes[1])
  })
})
