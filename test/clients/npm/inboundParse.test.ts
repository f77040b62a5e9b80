import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sendGridForm } from "../../../packages/mail/src/inbound/sendGridForm.ts"

const FOLDER = fileURLToPath(new URL(".", import.meta.url))
const FILE = Buffer.from([0, 10, 13, 200, 255])

interface Attachment {
  readonly filename: string
  readonly type: string
  readonly content: string
}

/** What the README of the package says of its class. */
interface Parser {
  readonly keyValues: () => Readonly<Record<string, string>>
  readonly attachments: (callback: (files: ReadonlyArray<Attachment>) => void) => void
}
type ParserClass = new (config: object, request: object) => Parser

let folder = ""
beforeAll(async () => {
  const { href } = new URL("../../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: FOLDER })
  folder = await mkdtemp(join(tmpdir(), "waybill-parse-"))
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const MAIL = [
  "From: Ana <ana@example.org>",
  'Content-Type: multipart/mixed; boundary="b"',
  "",
  "--b",
  "",
  "Schön.",
  "--b",
  'Content-Disposition: attachment; filename="a.bin"',
  "Content-Transfer-Encoding: base64",
  "",
  FILE.toString("base64"),
  "--b--",
  "",
].join("\r\n")

describe("the package @sendgrid/inbound-mail-parser", () => {
  it("reads the form that has a received mail as it came", async () => {
    const boundary = "0123456789"
    const input = {
      bytes: Buffer.from(MAIL),
      raw: true,
      fields: { from: "Ana <ana@example.org>" },
      attachments: [],
      boundary,
    }
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` }
    const form = await new Response(new Uint8Array(sendGridForm(input)), { headers }).formData()
    const Parse = createRequire(import.meta.url)("@sendgrid/inbound-mail-parser") as ParserClass
    const keys = ["from", "email", "text", "attachments"]
    const parser = new Parse({ keys }, { body: Object.fromEntries(form) as Record<string, string>, files: [] })
    assert.deepStrictEqual(parser.keyValues(), { from: "Ana <ana@example.org>", email: MAIL })
  })

  it("reads the form of a received mail with its files", async () => {
    const boundary = "0123456789"
    const body = sendGridForm({
      bytes: Buffer.from(MAIL),
      raw: false,
      fields: { from: "Ana <ana@example.org>", subject: "Grüße" },
      attachments: [{ filename: "a.bin", content_type: "application/octet-stream", content_id: null }],
      boundary,
    })
    // As middleware for forms does it: texts in the body, files in a folder.
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` }
    const form = await new Response(new Uint8Array(body), { headers }).formData()
    const texts = Object.fromEntries([...form].filter(([, value]) => typeof value === "string"))
    const file = form.get("attachment1") as File
    const path = join(folder, "attachment1")
    await writeFile(path, new Uint8Array(await file.arrayBuffer()))
    const Parse = createRequire(import.meta.url)("@sendgrid/inbound-mail-parser") as ParserClass
    const keys = ["from", "subject", "text", "attachments", "charsets", "headers"]
    const files = [{ path, originalname: file.name, mimetype: file.type }]
    const parser = new Parse({ keys }, { body: texts, files })
    assert.deepInclude(parser.keyValues(), {
      from: "Ana <ana@example.org>",
      subject: "Grüße",
      text: "Schön.",
      attachments: "1",
      charsets: JSON.stringify({ from: "UTF-8", subject: "UTF-8", text: "UTF-8" }),
    })
    let read: ReadonlyArray<Attachment> = []
    parser.attachments((all) => (read = all))
    assert.deepStrictEqual(
      read.map(({ content, filename, type }) => [filename, type, content]),
      [["a.bin", "application/octet-stream", FILE.toString("base64")]],
    )
  })
})
