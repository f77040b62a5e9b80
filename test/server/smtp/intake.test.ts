import { PassThrough } from "node:stream"
import type { SMTPServerDataStream } from "smtp-server"
import * as Intake from "../../../apps/server/src/smtp/Intake.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const stream = (): SMTPServerDataStream => Object.assign(new PassThrough(), { byteLength: 0, sizeExceeded: false })

const receive = (intake: Intake.Intake, chunks: ReadonlyArray<string>, end = true, kept?: Intake.Kept) => {
  const source = stream()
  const taken = new Promise<Intake.Received>((resolve) => intake.receive(source, resolve, kept))
  for (const chunk of chunks) source.write(chunk)
  if (end) source.end()
  return { source, taken }
}

const said = (taken: Intake.Received): string =>
  taken._tag === "Whole" ? taken.bytes.toString() : taken._tag === "Refused" ? `${taken.reply.code}` : "gone"

describe("SMTP intake", () => {
  it("limits the bytes of all messages until they are processed", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: false, maxBytesHeld: 10 })
    const first = await receive(intake, ["123456"]).taken
    assert.strictEqual(said(await receive(intake, ["12345"]).taken), "452")
    assert.strictEqual(said(await receive(intake, ["1234"]).taken), "1234")
    if (first._tag === "Whole") first.release()
    assert.strictEqual(said(await receive(intake, ["12345"]).taken), "12345")
  })

  it("refuses a declared size that does not fit beside what it holds", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: false, maxBytesHeld: 20 })
    const kept = { bytes: 8, maxHeld: 10 }
    const first = await receive(intake, ["123"], true, kept).taken
    assert.deepStrictEqual([intake.refuses(7, kept), intake.refuses(17)], [undefined, undefined])
    assert.deepStrictEqual([intake.refuses(8, kept)?.code, intake.refuses(18)?.code], [452, 452])
    // What is beyond the kept beginning takes no space.
    assert.deepStrictEqual([intake.refuses(99, { bytes: 8 }), intake.refuses(99)?.code], [undefined, 452])
    if (first._tag === "Whole") first.release()
    assert.isUndefined(intake.refuses(20))
  })

  it("releases the bytes of a client that disconnects", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: false, maxBytesHeld: 8 })
    const { source, taken } = receive(intake, ["12345678"], false)
    await new Promise((resolve) => setImmediate(resolve))
    source.destroy()
    assert.strictEqual(said(await taken), "gone")
    assert.strictEqual(said(await receive(intake, ["12345678"]).taken), "12345678")
  })

  it("refuses a message that is too large and holds none of it", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: false, maxBytesHeld: 8 })
    assert.strictEqual(said(await receive(intake, ["1234", "56789", "more and more"]).taken), "552")
    assert.strictEqual(said(await receive(intake, ["12345678"]).taken), "12345678")
  })

  it("keeps only the beginning of a message if that is enough", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: false, maxBytesHeld: 5 })
    assert.strictEqual(said(await receive(intake, ["123", "4567", "89"], true, { bytes: 5 }).taken), "12345")
  })

  // threat: domain-reports
  it("leaves space for others beside messages that anybody may send", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: false, maxBytesHeld: 20 })
    const kept = { bytes: 8, maxHeld: 10 }
    const first = await receive(intake, ["123456789"], true, kept).taken
    assert.strictEqual(said(first), "12345678")
    assert.strictEqual(said(await receive(intake, ["123"], true, kept).taken), "452")
    assert.strictEqual(said(await receive(intake, ["1234567890"]).taken), "1234567890")
    if (first._tag === "Whole") first.release()
    assert.strictEqual(said(await receive(intake, ["123"], true, kept).taken), "123")
  })

  it("makes a bare LF a CRLF and refuses a bare CR, wherever chunks are split", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: true })
    const verdicts = await Promise.all(
      [
        ["a\r\n"],
        ["a\r", "\n"],
        ["a\n"],
        ["a", "\n.\n", "b"],
        ["\n\n"],
        ["a\r\n\n"],
        ["a"],
        ["a\r"],
        ["a\rb"],
        ["a\r\r\n"],
      ].map(async (chunks) => said(await receive(intake, chunks).taken)),
    )
    assert.deepStrictEqual(verdicts, [
      "a\r\n",
      "a\r\n",
      "a\r\n",
      "a\r\n.\r\nb",
      "\r\n\r\n",
      "a\r\n\r\n",
      "a",
      "554",
      "554",
      "554",
    ])
  })

  it("counts the bytes that line ends add, and holds none of a message that they make too large", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: true, maxBytesHeld: 10 })
    assert.strictEqual(said(await receive(intake, ["1\n2\n3\n"]).taken), "552")
    const first = await receive(intake, ["1\n2\n"]).taken
    assert.strictEqual(said(first), "1\r\n2\r\n")
    assert.strictEqual(said(await receive(intake, ["123\n"]).taken), "452")
    if (first._tag === "Whole") first.release()
    assert.strictEqual(said(await receive(intake, ["123456\n"]).taken), "123456\r\n")
  })
})
