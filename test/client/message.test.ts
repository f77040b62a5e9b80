import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createElement } from "react"
import { assert, describe, it } from "vitest"
import { type AttachmentInput, type MessageInput, Waybill, WaybillError } from "../../packages/client/src/Waybill.ts"
import { KEY, serverWith } from "./support.ts"
import { NOWHERE } from "../support/nowhere.ts"

const EMAIL = { from: "hi@acme.test", to: "ana@example.org", subject: "Hi" } as const
const OK = { status: 200 }

type Body = Readonly<Record<string, unknown>>

/** Sends a message and returns the body that the server receives. */
const sentBody = async (over: Partial<MessageInput>): Promise<Body> => {
  await using server = await serverWith([OK])
  await new Waybill(KEY, server).emails.send({ ...EMAIL, ...over })
  return JSON.parse(server.seen[0]?.body ?? "") as Body
}

/** Returns what a call is refused with. No request reaches the server. */
const refused = async (call: (waybill: Waybill) => Promise<unknown>): Promise<WaybillError> => {
  await using server = await serverWith([OK])
  const error = await call(new Waybill(KEY, server)).then(
    () => assert.fail("it was not refused"),
    (error: unknown) => (error instanceof WaybillError ? error : assert.fail(String(error))),
  )
  assert.lengthOf(server.seen, 0)
  return error
}
const refusedSend = (over: object) => refused((waybill) => waybill.emails.send({ ...EMAIL, ...over }))
const fieldOf = ({ code, details, reason }: WaybillError) => [code, reason, details.map(({ path }) => path).join(",")]
const invalid = (path: string) => ["invalid_request", "validation_failed", path]

const BYTES = Uint8Array.of(0, 200, 255, 10, 13, 128)
const BASE64 = Buffer.from(BYTES).toString("base64")

describe("attachments", () => {
  const larger = Uint8Array.of(9, 9, ...BYTES, 9)
  const forms: ReadonlyArray<readonly [string, AttachmentInput, object]> = [
    ["base64", { filename: "a", content: BASE64 }, { filename: "a" }],
    ["a Buffer", { filename: "a", content: Buffer.from(BYTES) }, { filename: "a" }],
    ["a Uint8Array", { filename: "a", content: BYTES }, { filename: "a" }],
    ["a part of a larger buffer", { filename: "a", content: larger.subarray(2, 8) }, { filename: "a" }],
    ["an ArrayBuffer", { filename: "a", content: Uint8Array.from(BYTES).buffer }, { filename: "a" }],
    ["a Blob", { filename: "a", content: new Blob([BYTES]) }, { filename: "a" }],
    [
      "a Blob with a type",
      { filename: "a", content: new Blob([BYTES], { type: "image/png" }), content_id: "logo" },
      { filename: "a", content_type: "image/png", content_id: "logo" },
    ],
    ["a File", { content: new File([BYTES], "a.bin", { type: "x/y" }) }, { filename: "a.bin", content_type: "x/y" }],
    [
      "a File with another name and type",
      { filename: "b", content: new File([BYTES], "a.bin", { type: "x/y" }), content_type: "x/z" },
      { filename: "b", content_type: "x/z" },
    ],
  ]
  it.each(forms)("may be %s", async (_, file, expected) => {
    assert.deepStrictEqual((await sentBody({ attachments: [file] }))["attachments"], [{ ...expected, content: BASE64 }])
  })

  it("may be a path or a file URL, whose name is the default", async () => {
    const folder = await mkdtemp(join(tmpdir(), "waybill-files-"))
    try {
      const path = join(folder, "größe 1.bin")
      await writeFile(path, BYTES)
      const forms = [{ path }, { path: pathToFileURL(path) }, { path: pathToFileURL(path).href, filename: "b.bin" }]
      assert.deepStrictEqual(
        (await sentBody({ attachments: forms }))["attachments"],
        ["größe 1.bin", "größe 1.bin", "b.bin"].map((filename) => ({ filename, content: BASE64 })),
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each([
    ["a file that is not there", { path: `${NOWHERE}/a.pdf` }, "attachments[0].path", "ENOENT"],
    ["a URL of the web", { path: "https://example.org/a.pdf" }, "attachments[0].path", "download"],
    ["a path and content", { path: "a.pdf", content: "QQ==" }, "attachments[0].path", "attachments[0].content"],
    ["a Blob without a name", { content: new Blob([]) }, "attachments[0].filename", "missing"],
    ["bytes without a name", { content: BYTES }, "attachments[0].filename", "missing"],
    ["content of another type", { filename: "a", content: 7 }, "attachments[0].content", "Buffer"],
    ["no content", { filename: "a" }, "attachments[0].content", "Buffer"],
  ])("refuses %s and names the field", async (_, file, path, text) => {
    const error = await refusedSend({ attachments: [file] })
    assert.deepStrictEqual(fieldOf(error), invalid(path))
    assert.include(error.message, text)
  })

  it("names the email of a batch", async () => {
    const attachments = [{ filename: "a", content: BYTES }, { path: `${NOWHERE}/a.pdf` }]
    const error = await refused((waybill) => waybill.emails.sendBatch([EMAIL, { ...EMAIL, attachments }]))
    assert.deepStrictEqual(fieldOf(error), invalid("emails[1].attachments[1].path"))
  })
})

describe("a React element", () => {
  const element = createElement("div", null, "Hello & ", createElement("b", null, "welcome"))

  it("becomes HTML and text", async () => {
    const { html, react, text } = await sentBody({ react: element })
    assert.include(String(html), "<div>Hello &amp; <b>welcome</b></div>")
    assert.deepStrictEqual([text, react], ["Hello & welcome", undefined])
  })

  it("leaves a text that is given", async () => {
    assert.strictEqual((await sentBody({ react: element, text: "Hi" }))["text"], "Hi")
  })

  it("may be in a batch", async () => {
    await using server = await serverWith([OK])
    await new Waybill(KEY, server).emails.sendBatch([{ ...EMAIL, react: element }], { mode: "permissive" })
    const { emails, mode } = JSON.parse(server.seen[0]?.body ?? "") as { emails: ReadonlyArray<Body>; mode: string }
    assert.deepStrictEqual([emails[0]?.["text"], mode], ["Hello & welcome", "permissive"])
  })

  it("is refused beside HTML, and when it cannot be rendered", async () => {
    assert.deepStrictEqual(fieldOf(await refusedSend({ react: element, html: "<p>" })), invalid("react"))
    const broken = createElement(() => {
      throw new Error("no such order")
    })
    const error = await refusedSend({ react: broken })
    assert.deepStrictEqual(fieldOf(error), invalid("react"))
    assert.include(error.message, "no such order")
  })
})

describe("times", () => {
  const TIME = new Date("2030-01-02T03:04:05.678+01:00")
  const ISO = "2030-01-02T02:04:05.678Z"

  it("may be a Date in bodies and queries", async () => {
    assert.strictEqual((await sentBody({ scheduled_at: TIME }))["scheduled_at"], ISO)
    await using server = await serverWith([OK])
    const { apiKeys, emails, logs, stats, webhooks } = new Waybill(KEY, server)
    await emails.reschedule("one", TIME)
    await apiKeys.create({ name: "a", scopes: ["admin"], expires_at: TIME })
    await webhooks.replay("one", { created_after: TIME, created_before: ISO })
    await logs.list({ created_after: TIME, created_before: ISO })
    await logs.get("one", { as_of: TIME })
    await stats.get({ from: TIME, to: TIME })
    assert.deepStrictEqual(
      server.seen.map(({ body, url }) => (body === "" ? url.replace(/^.*\?/u, "") : JSON.parse(body))),
      [
        { scheduled_at: ISO },
        { name: "a", scopes: ["admin"], expires_at: ISO },
        { created_after: ISO, created_before: ISO },
        ...[["created_after", "created_before"], ["as_of"], ["from", "to"]].map((names) =>
          new URLSearchParams(names.map((name) => [name, ISO])).toString(),
        ),
      ],
    )
  })

  it("are refused if a Date is invalid, rather than sent as null", async () => {
    const none = new Date(Number.NaN)
    assert.deepStrictEqual(fieldOf(await refusedSend({ scheduled_at: none })), invalid("scheduled_at"))
    const error = await refused((waybill) => waybill.logs.list({ created_after: none }))
    assert.deepStrictEqual(fieldOf(error), invalid("created_after"))
    assert.strictEqual((await sentBody({ scheduled_at: null }))["scheduled_at"], null)
  })
})
