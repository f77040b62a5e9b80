import * as Charsets from "@waybill/mail/mime/Charsets"
import * as MimeReader from "@waybill/mail/mime/MimeReader"
import * as MimeTree from "@waybill/mail/mime/MimeTree"
import { MAX_GROUP_DEPTH, readSubmitted } from "@waybill/mail/report/readSubmitted"
import { readdirSync, readFileSync } from "node:fs"
import PostalMime, { type Attachment, decodeWords } from "postal-mime"
import { assert, describe, it } from "../../support/effectTest.ts"
import { documents } from "../../support/process/documents.ts"
import { htmlBesideText } from "../../support/mail/mailForms.ts"
import * as Pathological from "../../support/mail/pathological.ts"

/** A tenth of it is taken; line by line, or with each start of a link tried with all ends, it is two seconds and more. */
const MOST_MS = 1_000
const HEAD = "From: a@b.test\r\n"
const read = (text: string) => MimeReader.read(Buffer.from(text, "latin1"))
const bytesOf = (content: string | ArrayBuffer | Uint8Array | undefined) =>
  Buffer.from(typeof content === "string" ? Buffer.from(content) : new Uint8Array(content ?? new ArrayBuffer(0)))
const filesOf = (mail: MimeReader.Mail) =>
  mail.files.map(({ content, contentId, filename, mimeType }) => ({
    content: Buffer.from(content),
    contentId,
    filename,
    mimeType,
  }))

/** Compares the reader with postal-mime, which reads line by line. */
const compare = async (bytes: Buffer, name: string) => {
  const expected = await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: MimeTree.MAX_DEPTH })
  const mail = MimeReader.read(bytes)
  assert.deepStrictEqual([mail.html, mail.text], [expected.html, expected.text], name)
  const { inReplyTo, references, subject } = expected
  assert.deepStrictEqual([mail.inReplyTo, mail.references, mail.subject], [inReplyTo, references, subject], name)
  assert.deepStrictEqual(
    mail.headers.map(({ key, originalKey, value }) => ({ key, originalKey, value })),
    expected.headers,
    name,
  )
  assert.deepStrictEqual(
    filesOf(mail),
    expected.attachments.map(({ content, contentId, filename, mimeType }) => ({
      content: bytesOf(content),
      contentId,
      filename,
      mimeType,
    })),
    name,
  )
}

describe("MimeReader", () => {
  it("returns the same as postal-mime of crafted and of random messages", async () => {
    let compared = 0
    for (const { name, text } of documents(Pathological.MIME, 11, 400, 3_000)) {
      // Text derived from HTML is an intended difference, and so is what follows a quoted string.
      // Mended: marks of flowed quotes, spaces behind a soft break, and an empty type.
      if (/format=flowed[^]*>|=[ \t]+\r?\n|content-type:[ \t]*(?:;|\r?\n\S|$)/iu.test(text)) continue
      if ((/text\/html/u.test(text) && /multipart/u.test(text)) || text.includes('filename*0*="')) continue
      await compare(Buffer.from(text, "latin1"), name)
      compared++
    }
    assert.isAbove(compared, 200)
  })

  it("returns the same as postal-mime of all mail of the fixtures", async () => {
    const folders = ["reports", "compose"].map((name) => new URL(`../../fixtures/${name}/`, import.meta.url))
    const files = folders.flatMap((folder) =>
      readdirSync(folder).flatMap((name) => (name.endsWith(".eml") ? [new URL(name, folder)] : [])),
    )
    assert.isAbove(files.length, 30)
    for (const file of files) await compare(readFileSync(file), file.pathname)
  })

  it("reads parameters and comments of headers as postal-mime does", async () => {
    const values = [
      'text/csv; name="a;b\\"c"; name=d',
      "text/csv (a (b) c); name=Invoice(1).pdf",
      "text/csv; name=a (b); x",
      "text/csv; name=(a); charset=utf-8",
      "TEXT/CSV; flag; NAME = a b ",
      'text/csv; name*0="a "; name*1=b; name*2*=%20c',
      "text/csv; name*=iso-8859-1'en'%E9%zz",
      "text/csv; name*1*=%AC; name*0*=utf-8''%E2%82",
      "text/csv; name=C:\\a\\b.csv",
      'text/csv; name="=?utf-8?Q?=C3=A9?="',
      "text/csv; name=a (never closed; charset=x",
    ]
    for (const value of values) {
      const text = `${HEAD}Content-Type: ${value}\r\nContent-Disposition: attachment\r\n\r\nx\r\n`
      await compare(Buffer.from(text), value)
    }
  })

  it("knows the charsets that postal-mime decodes headers by", () => {
    const names = [
      "utf-8",
      "x-big5",
      "cp932",
      "ms-936",
      "ISO_8859-1:1987",
      "x-sjis",
      "tis620",
      "ibm949",
      "csisolatin2",
      "none",
    ]
    for (const name of names)
      assert.strictEqual(
        Charsets.decode(Buffer.from([0xa4, 0xa2, 0x98, 0x81]), name),
        decodeWords(`=?${name}?Q?=A4=A2=98=81?=`),
        name,
      )
    assert.isUndefined(Charsets.find("none"))
  })

  it("ends at more parts, depth or headers than are taken, and holds no more of bombs", () => {
    const multipart = (nth: number) => `Content-Type: multipart/mixed; boundary=b${nth}\r\n\r\n--b${nth}\r\n`
    const parts = (count: number) => `${HEAD}${multipart(0)}${"\r\n--b0\r\n".repeat(count - 2)}`
    const nested = (depth: number) => HEAD + Array.from({ length: depth }, (_, nth) => multipart(nth)).join("")
    const headers = (bytes: number) => `X: ${"x".repeat(bytes - 3)}\r\n\r\n`
    for (const [taken, bomb] of [
      [parts(MimeTree.MAX_PARTS), parts(MimeTree.MAX_PARTS + 1)],
      [nested(MimeTree.MAX_DEPTH), nested(MimeTree.MAX_DEPTH + 1)],
      [headers(MimeTree.MAX_HEADER_BYTES), headers(MimeTree.MAX_HEADER_BYTES + 1)],
    ] as const) {
      assert.isDefined(MimeReader.readIfSimple(Buffer.from(taken)))
      assert.isUndefined(MimeReader.readIfSimple(Buffer.from(bomb)))
    }
    const before = process.threadCpuUsage()
    for (const bomb of [parts(10_000), nested(1_000), headers(1024 * 1024), parts(1_000_000)])
      assert.isUndefined(MimeReader.readIfSimple(Buffer.from(bomb)))
    const { system, user } = process.threadCpuUsage(before)
    assert.isBelow((system + user) / 1_000, MOST_MS)
  })

  it("treats line ends, escapes and padding as postal-mime does", async () => {
    const bodies = [
      "",
      "\r",
      "\n",
      "\r\r\n",
      "a\rb\r\r\nc",
      "=",
      "=\r\n",
      "=4=\r\n1",
      "=41=4\r\n2=zz=\n",
      "a=0D=0A\r\n\r",
      "QQ==QUI=\r\nQUJD",
      "Q\r\n",
      "Q-Q_=\r\n=QQ",
      "====\r\nQUJ",
      "--b\r\n",
      "--b--\r\nx\r\n",
    ]
    for (const encoding of ["7bit", "quoted-printable", "base64", "x-none"])
      for (const body of bodies) {
        const text = `${HEAD}Content-Type: application/x\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`
        const expected = await PostalMime.parse(Buffer.from(text, "latin1"))
        const of = (files: ReadonlyArray<Pick<Attachment, "content">>) =>
          files.map(({ content }) => bytesOf(content).toString("latin1"))
        assert.deepStrictEqual(of(read(text).files), of(expected.attachments), JSON.stringify([encoding, body]))
      }
  })

  it("takes time in proportion to bytes, not to lines or to links of HTML", () => {
    const lines = "x \r\n".repeat(200_000)
    const slow = [
      `${HEAD}Content-Type: text/plain; format=flowed\r\n\r\n${lines}`,
      `${HEAD}Content-Type: application/x\r\n\r\n${lines}`,
      htmlBesideText("a@b.test", `<a ${"href=".repeat(1_000)}`),
    ]
    for (const text of slow) {
      const before = process.threadCpuUsage()
      read(text)
      const { system, user } = process.threadCpuUsage(before)
      assert.isBelow((system + user) / 1_000, MOST_MS, text.slice(0, 80))
    }
  })

  it("takes the sender from the beginning of From and parses no more of it", () => {
    const from = (name: string) => read(`From: ${name} <a@b.test>\r\n\r\nx`).from
    assert.strictEqual(from("x".repeat(4_000)), "a@b.test")
    assert.notStrictEqual(from("x".repeat(4_200)), "a@b.test")
  })

  it("refuses nested groups of addresses", () => {
    const submitted = (to: string) => readSubmitted(Buffer.from(`${HEAD}To: ${to}\r\n\r\nx`))
    assert.isNotString(submitted(`${"a:".repeat(MAX_GROUP_DEPTH)}b@c.test;`))
    assert.strictEqual(submitted(`${"a:".repeat(MAX_GROUP_DEPTH + 1)}b@c.test;`), "nested_groups")
    // A colon in a quoted name opens no group.
    assert.isNotString(submitted(`"${"a:".repeat(MAX_GROUP_DEPTH + 1)}" <b@c.test>`))
  })

  it("derives text from HTML and HTML from text when the parts are not alternatives", () => {
    const mixed = (first: string, second: string) =>
      read(`${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${first}\r\n--b\r\n${second}\r\n--b--\r\n`)
    const text = "Content-Type: text/plain\r\n\r\n1 < 2"
    const html = "Content-Type: text/html\r\n\r\n<p>Dear <b>Ana</b></p>"
    const mail = mixed(text, html)
    assert.deepStrictEqual(
      [mail.text, mail.html],
      ["1 < 2\n\nDear Ana", "<div>1 &lt; 2</div>\n<p>Dear <b>Ana</b></p>\n"],
    )
  })
})
