import { Counted } from "../../../../apps/server/src/smtp/session/Counted.ts"
import { DotStuffed } from "../../../../apps/server/src/smtp/session/DotStuffed.ts"
import { Input, MAX_LINE_BYTES, MAX_WAITING_BYTES } from "../../../../apps/server/src/smtp/session/Input.ts"
import { MessageStream } from "../../../../apps/server/src/smtp/session/MessageStream.ts"
import { dice } from "../../../support/dice.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** An input whose lines are answered at once, unless `isSlow`. Content comes after DATA, and after a number of bytes. */
const harness = (isSlow = false) => {
  const heard: Array<string> = []
  const calls: Array<string> = []
  let stream: MessageStream | undefined
  const begin = () => (stream = new MessageStream(() => input.read()))
  const end = () => {
    const chunks: Array<Buffer> = []
    stream?.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream?.on("end", () => {
      heard.push(`<${Buffer.concat(chunks).toString("latin1")}>`)
      input.next()
    })
    stream?.end()
  }
  const input = new Input({
    onLine: (line) => {
      heard.push(line)
      if (line === "DATA") input.expect(new DotStuffed(begin()), end)
      if (/^\d+$/u.test(line)) input.expect(new Counted(Number(line), begin()), end)
      if (!isSlow) input.next()
    },
    onTooLong: () => {
      calls.push("too long")
      input.close()
    },
    onDefect: (cause) => calls.push(String(cause)),
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
  })
  return { calls, heard, input, stream: () => stream }
}

/** What a message means whose bytes have all come, by RFC 5321 §4.5.2 and for bare line ends. */
const meaning = (text: string) => {
  const end = text.startsWith(".\r\n") ? 0 : text.indexOf("\r\n.\r\n") + 2
  const content = text.slice(0, end).replaceAll(/(^|\n)\.\./gu, "$1.")
  return [
    `<${content}>`,
    ...text
      .slice(end + 3)
      .split(/\r?\n/u)
      .slice(0, -1),
  ]
}

/** Gives pieces of a text to an input, in turns of their own. */
const feed = async (input: Input, text: string, sizes: () => number) => {
  for (let at = 0; at < text.length;) {
    const size = sizes()
    input.take(Buffer.from(text.slice(at, at + size), "latin1"))
    at += size
    await turn()
  }
  await turn()
}

describe("the input of SMTP", () => {
  // threat: smuggling
  it("finds the same content and the same end however the bytes are split", async () => {
    const { below, pick } = dice(1)
    for (let nth = 0; nth < 400; nth++) {
      const content = Array.from({ length: below(24) }, () => pick(["\r\n", "\r", "\n", ".", "..", "a"])).join("")
      const text = `${content}\r\n.\r\nNOOP\r\n`
      const { heard, input } = harness()
      const longest = 1 + below(6)
      await feed(input, `DATA\r\n${text}`, () => 1 + below(longest))
      assert.deepStrictEqual(heard, ["DATA", ...meaning(text)], JSON.stringify(content))
    }
  })

  it("finds them in one piece, and in pieces of one byte", async () => {
    for (const content of ["", "\r\n", "..\r\n", ".\r\n..", "a\r\n.\rb", "\n..\r\n\n.", "\r\n.\n.\r\n."])
      for (const size of [1, 1000]) {
        const text = `${content}\r\n.\r\nNOOP\r\n`
        const { heard, input } = harness()
        await feed(input, `DATA\r\n${text}`, () => size)
        assert.deepStrictEqual(heard, ["DATA", ...meaning(text)], JSON.stringify(content))
      }
  })

  it("reads as many bytes as a chunk has, whatever they are", async () => {
    for (const size of [1, 3, 1000]) {
      const { heard, input } = harness()
      await feed(input, "9\r\n\r\n.\r\nNOOPNOOP\r\n", () => size)
      assert.deepStrictEqual(heard, ["9", "<\r\n.\r\nNOOP>", "NOOP"])
    }
  })

  it("refuses a line that is too long, with and without an end, and reads nothing after it", async () => {
    for (const end of ["", "\r\n"]) {
      const { calls, heard, input } = harness()
      await feed(input, `${"x".repeat(MAX_LINE_BYTES)}\r\n${"x".repeat(MAX_LINE_BYTES + 1)}${end}NOOP\r\n`, () => 1000)
      assert.deepStrictEqual([heard.map((line) => line.length), calls], [[MAX_LINE_BYTES], ["too long"]])
    }
  })

  it("lets a client wait while a command is processed, and goes on after it", () => {
    const { calls, heard, input } = harness(true)
    input.take(Buffer.from("RCPT\r\nNOOP\r\n"))
    input.take(Buffer.alloc(MAX_WAITING_BYTES - 6, "\r\n"))
    assert.deepStrictEqual([heard, calls], [["RCPT"], []])
    input.take(Buffer.from("\n"))
    assert.deepStrictEqual(calls, ["pause"])
    input.next()
    assert.deepStrictEqual(
      [heard, calls],
      [
        ["RCPT", "NOOP"],
        ["pause", "resume"],
      ],
    )
  })

  // threat: memory-budgets
  it("lets a client wait while its message is not read", async () => {
    const { calls, heard, input, stream } = harness()
    const size = 8 * 64 * 1024
    input.take(Buffer.from(`${size}\r\n`))
    for (let nth = 0; nth < 8; nth++) input.take(Buffer.alloc(64 * 1024, "x"))
    assert.deepStrictEqual(calls, ["pause"])
    assert.isAtMost(stream()?.readableLength ?? Infinity, 64 * 1024)
    stream()?.resume()
    while (heard.length < 2) await turn()
    assert.deepStrictEqual([stream()?.byteLength, calls], [size, ["pause", "resume"]])
  })

  it("gives others their turn among many commands, and loses none", async () => {
    const { heard, input } = harness()
    input.take(Buffer.from("NOOP\r\n".repeat(1000)))
    assert.isBelow(heard.length, 1000)
    while (heard.length < 1000) await turn()
  })

  // threat: plain-text
  it("forgets all that has come before TLS", () => {
    const { heard, input } = harness(true)
    input.take(Buffer.from("STARTTLS\r\nRSET\r\nNO"))
    input.clear()
    input.take(Buffer.from("EHLO x\r\n"))
    assert.deepStrictEqual(heard, ["STARTTLS", "EHLO x"])
  })
})
