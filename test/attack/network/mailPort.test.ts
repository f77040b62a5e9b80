import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import * as Smtp from "../../server/smtp/support.ts"
import { MAX_GUESSES } from "../../../apps/server/src/inbound/Guesses.ts"
import { MAX_REFUSED_RECIPIENTS } from "../../../apps/server/src/smtp/session/MailTransaction.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"
import { idIn } from "../../server/inbound/Sender.ts"

const STRANGERS = 2_000
/** More than all places of clients that are not identified, each with about 8 KiB/s. */
const SLOW_CLIENTS = 450
const DRIP = `${"x".repeat(2_046)}\r\n`
/** Connections that are opened at a time. */
const AT_ONCE = 50
const TIMEOUT = 240_000
const ENVELOPE = ["EHLO mx.example.org", "MAIL FROM:<ana@example.org>", "RCPT TO:<hi@shop.test>"]

const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const port = yield* Effect.promise(freePort)
  const node = yield* ServiceProcess.start(url, { MAIL_PORT: String(port) })
  const { key } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
  const record = (id: string) => Effect.promise(() => node.request("GET", `/v1/inbound/${id}`, { key }))
  return { node, port, record, url }
})

class Running extends Context.Service<Running, Effect.Success<typeof start>>()("test/attack/MailPort") {
  static readonly layer = Layer.effect(Running, start)
}

/** Sends a mail on a new connection, and returns the last reply. */
const deliver = Effect.fnUntraced(function* (port: number, bytes: string | Buffer, from = "127.0.0.1", host?: string) {
  const client = yield* Smtp.raw(port, host, from)
  return yield* Effect.promise(async () => {
    const replies = await client.all([...ENVELOPE, "DATA"])
    if (!replies.at(-1)?.startsWith("354")) return replies.at(-1) ?? ""
    client.write(bytes)
    client.write("\r\n.\r\n")
    return client.reply()
  })
})

const HEAD = "From: ana@example.org\r\nSubject: x\r\n"
const nested = (depth: number) => {
  const open = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  )
  return `${HEAD}${open.join("")}\r\nx`
}
const BOMBS = {
  "10,000 parts": `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\nx\r\n".repeat(10_000)}--b--`,
  "a depth of 1,000": nested(1_000),
  "headers of 1 MiB": `${"X-Field: y\r\n".repeat(90_000)}${HEAD}\r\nx`,
}
/** Ends of a message to a careless server, and no ends here. */
const SMUGGLED = ["\n.\n", "\n.\r\n", "\r\n.\n"]

layer(Running.layer.pipe(Layer.provideMerge(World.layer)), { excludeTestServices: true, timeout: "120 seconds" })(
  "the mail port",
  (it) => {
    // threat: smtp-connections
    it.effect(
      "takes mail beside 2,000 clients that hold connections, and keeps who is sending",
      function* () {
        const { node, port } = yield* Running
        const sending = yield* Smtp.raw(port)
        yield* Effect.promise(() => sending.all([...ENVELOPE, "DATA"]))
        sending.write(`${HEAD}\r\n${"Hello\r\n".repeat(100_000)}`)
        const goesOn = setInterval(() => sending.write("Hello\r\n".repeat(2_000)), 250)
        yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(goesOn)))
        const sockets: Array<net.Socket> = []
        yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
        yield* Effect.forEach(
          Array.from({ length: STRANGERS }, (_, nth) => nth),
          (nth) =>
            Effect.promise(async () => {
              const localAddress = `127.1.${1 + Math.floor(nth / 250)}.${1 + (nth % 250)}`
              const socket = net.connect({ port, host: "127.0.0.1", localAddress })
              socket.on("error", () => undefined)
              sockets.push(socket)
              await Promise.race([once(socket, "data"), once(socket, "close")])
              socket.write("EHLO x\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<hi@shop.test>\r\n")
              // Every other one holds its connection in the middle of a message.
              if (nth % 2 === 0) socket.write("DATA\r\n")
            }),
          { concurrency: AT_ONCE, discard: true },
        )
        // A stranger in the middle of a message holds its place for ten seconds, and a mail server that finds none tries again.
        yield* World.until(deliver(port, `${HEAD}\r\nnew`), (reply) => reply.startsWith("250 2.0.0"))
        clearInterval(goesOn)
        sending.write(".\r\n")
        assert.match(yield* Effect.promise(() => sending.reply()), /^250 2\.0\.0/u)
        assert.strictEqual((yield* Effect.promise(() => fetch(`${node.url}/healthz`))).status, 200)
      },
      TIMEOUT,
    )

    // threat: smtp-connections
    it.effect(
      "takes mail beside 450 clients whose messages never end, each a little faster than nothing",
      function* () {
        const { port } = yield* Running
        const sockets: Array<net.Socket> = []
        const drip = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write(DRIP)), 250)
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            clearInterval(drip)
            sockets.forEach((socket) => socket.destroy())
          }),
        )
        yield* Effect.forEach(
          Array.from({ length: SLOW_CLIENTS }, (_, nth) => nth),
          (nth) =>
            Effect.promise(async () => {
              const socket = net.connect({
                port,
                host: "127.0.0.1",
                localAddress: `127.3.${nth % 250}.${1 + (nth >> 8)}`,
              })
              socket.on("error", () => undefined).on("data", () => undefined)
              await Promise.race([once(socket, "data"), once(socket, "close")])
              socket.write(`${ENVELOPE.join("\r\n")}\r\nDATA\r\n${HEAD}\r\n`)
              sockets.push(socket)
            }),
          { concurrency: AT_ONCE, discard: true },
        )
        yield* World.until(deliver(port, `${HEAD}\r\nnew`), (reply) => reply.startsWith("250 2.0.0"))
      },
      TIMEOUT,
    )

    // threat: address-guessing
    it.effect(
      "puts off a network that goes through a list of names, and no other",
      function* () {
        const { port } = yield* Running
        const guesser = "127.2.0.1"
        for (let guesses = 0; guesses < MAX_GUESSES; guesses += MAX_REFUSED_RECIPIENTS) {
          const client = yield* Smtp.raw(port, undefined, guesser)
          const names = Array.from(
            { length: MAX_REFUSED_RECIPIENTS },
            (_, nth) => `RCPT TO:<n${guesses + nth}@shop.test>`,
          )
          const unknown = names.map((name) => name.replace("shop.test", "unknown.test"))
          const replies = yield* Effect.promise(() => client.all([...ENVELOPE.slice(0, 2), ...unknown]))
          assert.isTrue(
            replies.slice(2).every((reply) => reply.startsWith("550 5.1.1")),
            replies.join("\n"),
          )
        }
        const more = yield* Smtp.raw(port, undefined, "127.2.0.3")
        const names = Array.from({ length: MAX_REFUSED_RECIPIENTS + 1 }, () => "RCPT TO:<z@unknown.test>")
        const replies = yield* Effect.promise(() => more.all([...ENVELOPE.slice(0, 2), ...names]))
        assert.match(replies.at(-1) ?? "", /^421 4\.7\.0/u)
        const late = yield* Smtp.raw(port, undefined, guesser)
        assert.match((yield* Effect.promise(() => late.all(ENVELOPE))).at(-1) ?? "", /^450 4\.7\.1/u)
        assert.match(yield* deliver(port, `${HEAD}\r\nother`, "127.2.0.2"), /^250 /u)
      },
      TIMEOUT,
    )

    // threat: bombs
    it.effect(
      "keeps a mail that is too much to read whole, and says that it is not complete",
      function* () {
        const { port, record } = yield* Running
        for (const [name, bytes] of Object.entries(BOMBS)) {
          const { json } = yield* record(idIn(yield* deliver(port, bytes)))
          assert.deepInclude(json, { complete: false, size_bytes: bytes.length + 2 }, name)
        }
      },
      TIMEOUT,
    )

    // threat: smuggling
    it.effect(
      "ends a message at CRLF, dot, CRLF only, and refuses a bare CR",
      function* () {
        const { port, record } = yield* Running
        const second = "MAIL FROM:<eve@example.org>\r\nRCPT TO:<hi@shop.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nx"
        for (const end of SMUGGLED) {
          const { json } = yield* record(idIn(yield* deliver(port, `${HEAD}\r\none${end}${second}`)))
          assert.include(json.text, "smuggled", JSON.stringify(end))
        }
        assert.match(yield* deliver(port, `${HEAD}\r\none\r.\r${second}`), /^554 5\.6\.0/u)
      },
      TIMEOUT,
    )

    it.effect(
      "takes mail over IPv6 (skipped without ::1)",
      function* () {
        const { record, url } = yield* Running
        const hasV6 = yield* Effect.promise(
          () =>
            new Promise<boolean>((resolve) => {
              const probe = net.createServer().listen(0, "::1")
              probe.on("listening", () => probe.close(() => resolve(true)))
              probe.on("error", () => resolve(false))
            }),
        )
        if (!hasV6) return
        const port = yield* Effect.promise(freePort)
        yield* ServiceProcess.start(url, { HOST: "::1", MAIL_PORT: String(port) })
        const { json } = yield* record(idIn(yield* deliver(port, `${HEAD}\r\nsix`, "::1", "::1")))
        assert.strictEqual(json.envelope.remote_ip, "0:0:0:0:0:0:0:1")
      },
      TIMEOUT,
    )
  },
)
