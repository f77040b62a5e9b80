import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "../../../support/effectTest.ts"
import { freePort } from "../../../support/process/service.ts"
import { CERTIFICATE } from "../support.ts"
import * as TestListener from "./TestListener.ts"

/**
 * Dialogues with the replies that clients have known since 1.0. A line begins with who speaks: the server (S), the client
 * (C), or the client byte by byte (B); in lower case, nothing ends the line. T begins TLS. `<x*300>` is x 300 times, and a
 * reply that ends with … has further lines.
 */
const TRANSCRIPT = readFileSync(new URL("../../../fixtures/smtp/dialogues.txt", import.meta.url), "utf8")

const spread = (text: string) =>
  text.replaceAll(/<([^<>*]+)\*(\d+)>/gu, (_, part: string, count: string) => part.repeat(Number(count)))

/** Returns the bytes of a line, in which escapes are those of JSON. */
const bytesOf = (text: string) =>
  spread(JSON.parse(`"${text.replaceAll('"', '\\"')}"`) as string).replaceAll("\\r\\n", "\r\n")

const parse = (text: string) =>
  text
    .trim()
    .split("\n\n")
    .map((part) => {
      const [title = "", ...lines] = part.split("\n")
      const [, on = "", name = ""] = /^# (\w+): (.*)$/u.exec(title) ?? []
      const all = lines.flatMap((line) => {
        const [, times, rest] = /^S: (\d+) times (.*)$/u.exec(line) ?? []
        return times === undefined ? [line] : Array.from({ length: Number(times) }, () => `S: ${rest}`)
      })
      return { on, name, lines: all }
    })

const listeners = Effect.gen(function* () {
  const secure = yield* Effect.promise(() => freePort())
  const isLocal = () => false
  return new Map([
    ["mail", yield* TestListener.listen()],
    ["submission", yield* TestListener.listen({ hasLogin: true })],
    ["clear", yield* TestListener.listen({ hasLogin: true, isLocal })],
    ["remote", yield* TestListener.listen({ hasLogin: true, isLocal, tls: { ...CERTIFICATE, port: secure } })],
    ["secure", secure],
  ])
})

const speak = async (client: TestListener.LineClient, line: string) => {
  const [who, text] = [line.slice(0, 1), line.slice(3)]
  if (who === "T") return client.secure()
  const bytes = Buffer.from(bytesOf(text) + (who === who.toUpperCase() ? "\r\n" : ""))
  if (who.toUpperCase() === "C") return void client.socket.write(bytes)
  for (const byte of bytes) {
    client.socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe("the dialogue of SMTP", () => {
  const dialogues = parse(TRANSCRIPT)

  it.live("is the one that clients know, in all of the transcript", function* () {
    assert.isAbove(dialogues.length, 80)
    const ports = yield* listeners
    for (const { lines, name, on } of dialogues) {
      const client = yield* TestListener.connect(ports.get(on) ?? 0, on === "secure")
      assert.deepStrictEqual(yield* Effect.promise(() => client.reply()), ["220 mx.test ESMTP"])
      let reply: Array<string> = []
      for (const line of lines) {
        if (!line.startsWith("S: ")) {
          yield* Effect.promise(() => speak(client, line))
          continue
        }
        if (reply.length === 0) reply = [...(yield* Effect.promise(() => client.reply()))]
        const expected = spread(line.slice(3))
        if (expected.endsWith("…")) reply = reply.slice(-1)
        const found = reply.shift() ?? ""
        if (expected.endsWith("…")) assert.isTrue(found.startsWith(expected.slice(0, -1)), `${name}: ${found}`)
        else assert.strictEqual(found, expected, name)
      }
      assert.deepStrictEqual(reply, [], name)
    }
  })
})
