import * as MimeReader from "@waybill/mail/mime/MimeReader"
import { MAX_GROUP_DEPTH, readSubmitted } from "@waybill/mail/report/readSubmitted"
import PostalMime from "postal-mime"
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

describe("MimeReader", () => {
  it("returns the same as postal-mime, which reads line by line", async () => {
    let compared = 0
    for (const { name, text } of documents(Pathological.MIME, 11, 400, 3_000)) {
      // Text derived from HTML is the one intended difference to postal-mime.
      if (/text\/html/u.test(text) && /multipart/u.test(text)) continue
      const bytes = Buffer.from(text, "latin1")
      const expected = await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: 20 })
      const mail = await MimeReader.read(bytes)
      assert.deepStrictEqual([mail.html, mail.text], [expected.html, expected.text], name)
      assert.deepStrictEqual(
        mail.attachments.map(({ content, filename, mimeType }) => [filename, mimeType, bytesOf(content)]),
        expected.attachments.map(({ content, filename, mimeType }) => [filename, mimeType, bytesOf(content)]),
        name,
      )
      compared++
    }
    assert.isAbove(compared, 200)
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
        const { attachments } = await read(text)
        const of = (files: typeof attachments) => files.map(({ content }) => bytesOf(content).toString("latin1"))
        assert.deepStrictEqual(of(attachments), of(expected.attachments), JSON.stringify([encoding, body]))
      }
  })

  it("takes time in proportion to bytes, not to lines or to links of HTML", async () => {
    const lines = "x \r\n".repeat(200_000)
    const slow = [
      `${HEAD}Content-Type: text/plain; format=flowed\r\n\r\n${lines}`,
      `${HEAD}Content-Type: application/x\r\n\r\n${lines}`,
      htmlBesideText("a@b.test", `<a ${"href=".repeat(1_000)}`),
    ]
    for (const text of slow) {
      const before = process.threadCpuUsage()
      await read(text)
      const { system, user } = process.threadCpuUsage(before)
      assert.isBelow((system + user) / 1_000, MOST_MS, text.slice(0, 80))
    }
  })

  it("takes the sender from the beginning of From and parses no more of it", async () => {
    const from = async (name: string) => (await read(`From: ${name} <a@b.test>\r\n\r\nx`)).from
    assert.strictEqual(await from("x".repeat(4_000)), "a@b.test")
    assert.notStrictEqual(await from("x".repeat(4_200)), "a@b.test")
  })

  it("refuses nested groups of addresses", async () => {
    const submitted = async (to: string) => readSubmitted(Buffer.from(`${HEAD}To: ${to}\r\n\r\nx`))
    assert.isNotString(await submitted(`${"a:".repeat(MAX_GROUP_DEPTH)}b@c.test;`))
    assert.strictEqual(await submitted(`${"a:".repeat(MAX_GROUP_DEPTH + 1)}b@c.test;`), "nested_groups")
    // A colon in a quoted name opens no group.
    assert.isNotString(await submitted(`"${"a:".repeat(MAX_GROUP_DEPTH + 1)}" <b@c.test>`))
  })

  it("derives text from HTML and HTML from text when the parts are not alternatives", async () => {
    const mixed = (first: string, second: string) =>
      read(`${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${first}\r\n--b\r\n${second}\r\n--b--\r\n`)
    const text = "Content-Type: text/plain\r\n\r\n1 < 2"
    const html = "Content-Type: text/html\r\n\r\n<p>Dear <b>Ana</b></p>"
    const mail = await mixed(text, html)
    assert.deepStrictEqual(
      [mail.text, mail.html],
      ["1 < 2\n\nDear Ana", "<div>1 &lt; 2</div>\n<p>Dear <b>Ana</b></p>\n"],
    )
  })
})
