import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { Duration, Effect } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import { networkInterfaces } from "node:os"
import * as tls from "node:tls"
import { HANDSHAKES_PER_SECOND, MAX_BURST } from "../../../apps/server/src/smtp/Handshakes.ts"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import * as Smtp from "../../server/smtp/support.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const IDLE_CLIENTS = 1000
const PER_ADDRESS = 100
/** Three times the number of handshakes that may begin at once. */
const HANDSHAKES = 60
/** Timeout after which a test counts as hanging. */
const TIMEOUT = Duration.seconds(30)

const hasV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1") ?? false)

/** Opens connections that stay idle, from loopback addresses that no other test uses. */
const idleConnections = (port: number, count: number, { text = "", perAddress = PER_ADDRESS } = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets: Array<net.Socket> = []
      for (let nth = 0; nth < count; nth++) {
        const localAddress = `127.0.9.${1 + Math.floor(nth / perAddress)}`
        const socket = net.connect({ port, host: "127.0.0.1", localAddress })
        socket.on("error", () => undefined)
        sockets.push(socket)
        await once(socket, "data")
        if (text !== "") socket.write(text)
      }
      return sockets
    }),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy())),
  )

const open = (sockets: ReadonlyArray<net.Socket>) => sockets.filter((socket) => !socket.closed).length

const mail = (acme: Smtp.Customer) => ({
  from: `hi@${acme.domain}`,
  to: "ana@example.org",
  subject: "Your receipt",
  text: "Thank you.",
})

/** Captures the first message of a TLS client, to be sent without the rest of the handshake. */
const clientHello = Effect.promise(async () => {
  const server = net.createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as net.AddressInfo
  const client = tls.connect({ port, host: "127.0.0.1" })
  client.on("error", () => undefined)
  const [socket] = (await once(server, "connection")) as [net.Socket]
  const [hello] = (await once(socket, "data")) as [Buffer]
  socket.destroy()
  server.close()
  return hello
})

const returnPath = { domain: World.RETURN_PATH.domain, secretKeys: [World.RETURN_PATH.secretKey] }

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("SMTP with many idle connections", (it) => {
  // threat: smtp-connections
  it.effect("serves a client with a key beside 1,000 clients without a login, and keeps earlier logins", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const loggedIn = yield* Smtp.raw(port)
    assert.match(
      (yield* Effect.promise(() => loggedIn.all(["EHLO x", Smtp.plain(acme.secret)]))).at(-1) ?? "",
      /^235 /u,
    )
    const crowd = yield* idleConnections(port, IDLE_CLIENTS)
    assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^250 2\.0\.0 Ok: queued as /u)
    assert.match(yield* Effect.promise(() => loggedIn.say("NOOP")), /^250 /u)
    yield* World.until(
      Effect.sync(() => open(crowd)),
      (left) => left <= 500,
      TIMEOUT,
    )
  })

  it.effect("a full listener closes an idle client, not one that is sending a message", function* () {
    const port = yield* Smtp.submission({ limits: { maxConnections: 2, maxUnidentified: 2 } })
    const acme = yield* Smtp.customer()
    const busy = yield* Smtp.raw(port)
    const from = `hi@${acme.domain}`
    const commands = ["EHLO x", Smtp.plain(acme.secret), `MAIL FROM:<${from}>`, "RCPT TO:<ana@example.org>", "DATA"]
    assert.match((yield* Effect.promise(() => busy.all(commands))).at(-1) ?? "", /^354 /u)
    busy.write(`From: ${from}\r\n`)
    const idle = yield* Smtp.raw(port)
    assert.match((yield* Effect.promise(() => idle.all(["EHLO x", Smtp.plain(acme.secret)]))).at(-1) ?? "", /^235 /u)
    const newClient = yield* Smtp.raw(port)
    assert.match(yield* Effect.promise(() => newClient.say("EHLO x")), /^250 /u)
    yield* Effect.promise(() => idle.untilClosed())
    busy.write("\r\nx\r\n.\r\n")
    assert.match(yield* Effect.promise(() => busy.reply()), /^250 2\.0\.0 /u)
  })

  it.effect("clients without a login get less time when connections are scarce", function* () {
    const limits = {
      maxUnidentified: 4,
      identifiedWithinCrowded: Duration.millis(300),
      identifiedWithin: Duration.minutes(5),
    }
    const port = yield* Smtp.submission({ limits })
    const two = yield* idleConnections(port, 2)
    yield* Effect.sleep("600 millis")
    assert.strictEqual(open(two), 2)
    // The total is now more than half of the limit of four.
    const more = yield* idleConnections(port, 2)
    yield* World.until(
      Effect.sync(() => open(more)),
      (left) => left === 0,
      TIMEOUT,
    )
  })

  it.effect("disconnects a client that sends many commands and never logs in", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission()
      const client = yield* Smtp.raw(port)
      assert.match(yield* Effect.promise(() => client.say("EHLO x")), /^250 /u)
      client.write("NOOP\r\n".repeat(20))
      yield* Effect.promise(() => client.untilClosed())
    }).pipe(Effect.timeout(TIMEOUT)),
  )

  // threat: smtp-connections
  it.effect("accepts reports beside clients that fill the listener for reports", function* () {
    const limits = {
      maxConnections: 20,
      maxUnidentified: 15,
      maxConnectionsPerAddress: 200,
      maxUnidentifiedPerAddress: 200,
    }
    const port = yield* MailListener.listen({
      host: "127.0.0.1",
      port: 0,
      name: "mx.test",
      inbound: Smtp.REPORTS_ONLY,
      returnPath,
      limits,
    })
    const of = { account_id: `acc_${"0".repeat(26)}`, emailId: "msg_01m7ysmwp0e41861050r3gg28a" as never }
    const address = ReturnPath.make(World.RETURN_PATH.secretKey, returnPath.domain, { ...of, recipientIndex: 0 })
    const earlier = yield* Smtp.raw(port)
    yield* Effect.promise(() => earlier.all(["EHLO x", "MAIL FROM:<>", `RCPT TO:<${address}>`]))
    // Each connection has its own address: among clients of one group the oldest would be closed first.
    yield* idleConnections(port, 60, { text: "EHLO x\r\n", perAddress: 1 })
    const newClient = yield* Smtp.raw(port)
    for (const client of [earlier, newClient]) {
      const lines = client === earlier ? [] : ["EHLO x", "MAIL FROM:<>", `RCPT TO:<${address}>`]
      const replies = yield* Effect.promise(() => client.all([...lines, "DATA", "Subject: bounce\r\n\r\nno\r\n."]))
      assert.match(replies.at(-1) ?? "", /^250 2\.6\.0 /u)
    }
  })

  // threat: smtp-connections
  it.effect("disconnects unfinished TLS handshakes like clients without a login", function* () {
    const hello = yield* clientHello
    const limits = {
      identifiedWithin: Duration.millis(500),
      maxConnectionsPerAddress: 4,
      maxUnidentifiedPerAddress: 4,
    }
    const port = yield* Smtp.submission({ tls: Smtp.CERTIFICATE, isLocal: () => false, limits })
    const acme = yield* Smtp.customer()
    const stalled: Array<Smtp.Raw> = []
    for (const bytes of [Buffer.alloc(0), Buffer.from([0x16]), hello.subarray(0, 40), hello]) {
      const client = yield* Smtp.raw(port)
      assert.match((yield* Effect.promise(() => client.all(["EHLO x", "STARTTLS"]))).at(-1) ?? "", /^220 /u)
      client.write(bytes)
      stalled.push(client)
    }
    for (const client of stalled) yield* Effect.promise(() => client.untilClosed())
    const options = { ignoreTLS: false, requireTLS: true, tls: { ca: Smtp.CA, servername: "localhost" } }
    const sent = Smtp.send(port, acme.secret, mail(acme), options)
    assert.match(yield* sent, /^250 2\.0\.0 Ok: queued as /u)
  })

  it.effect("closes an unfinished TLS handshake for a new client", function* () {
    const hello = yield* clientHello
    const limits = { maxUnidentified: 3 }
    const port = yield* Smtp.submission({ tls: Smtp.CERTIFICATE, isLocal: () => false, limits })
    const stalled: Array<Smtp.Raw> = []
    for (let nth = 0; nth < 3; nth++) {
      const client = yield* Smtp.raw(port)
      yield* Effect.promise(() => client.all(["EHLO x", "STARTTLS"]))
      client.write(hello)
      stalled.push(client)
    }
    const newClient = yield* Smtp.raw(port)
    assert.match(yield* Effect.promise(() => newClient.say("EHLO x")), /^250 /u)
    yield* Effect.promise(() => stalled[0]?.untilClosed() ?? Promise.resolve())
    assert.isFalse(stalled[1]?.closed)
  })

  it.effect("starts a limited number of TLS handshakes per second and queues the others", function* () {
    const port = yield* Smtp.submission({ tls: Smtp.CERTIFICATE, isLocal: () => false })
    const clients = yield* Effect.forEach(Array.from({ length: HANDSHAKES }), () =>
      Effect.tap(Smtp.raw(port), (client) => Effect.promise(() => client.say("EHLO x"))),
    )
    const startedAt = performance.now()
    const replies = yield* Effect.promise(() => Promise.all(clients.map((client) => client.say("STARTTLS"))))
    // One clock tick is subtracted from the minimum duration.
    assert.isAtLeast(performance.now() - startedAt, ((HANDSHAKES - MAX_BURST) / HANDSHAKES_PER_SECOND) * 1_000 - 100)
    for (const reply of replies) assert.match(reply, /^220 /u)
  })

  // threat: smtp-connections
  it.effect("refuses every TLS renegotiation", function* () {
    const port = yield* Smtp.submission({ tls: Smtp.CERTIFICATE, isLocal: () => false })
    const answer = yield* Effect.promise(async () => {
      const plain = net.connect(port, "127.0.0.1")
      for (const line of ["EHLO x\r\n", "STARTTLS\r\n"]) {
        await once(plain, "data")
        plain.write(line)
      }
      await once(plain, "data")
      const socket = tls.connect({ socket: plain, ca: Smtp.CA, servername: "localhost", maxVersion: "TLSv1.2" })
      await once(socket, "secureConnect")
      const message = await new Promise<string>((resolve) => {
        socket.on("error", ({ message }) => resolve(message))
        socket.renegotiate({}, (error) => resolve(error === null ? "done" : error.message))
      })
      socket.destroy()
      return message
    })
    assert.match(answer, /no[_ ]renegotiation/iu)
  })

  it.effect.skipIf(!hasV6)("recognizes loopback over IPv6 and IPv4-mapped addresses (skipped without ::1)", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission({ host: "::" })
      for (const [host, allowed, other] of [
        ["::1", "::1/128", "127.0.0.0/8"],
        ["127.0.0.1", "127.0.0.0/8", "::/0"],
      ] as const) {
        // A key is accepted without TLS only from this machine.
        const allowedCustomer = yield* Smtp.customer({ allowed_ips: [allowed] })
        const refusedCustomer = yield* Smtp.customer({ allowed_ips: [other] })
        const client = yield* Smtp.raw(port, host)
        const replies = yield* Effect.promise(() =>
          client.all(["EHLO x", Smtp.plain(refusedCustomer.secret), Smtp.plain(allowedCustomer.secret)]),
        )
        assert.match(replies[1] ?? "", /^535 5\.7\.8 .* not allowed from this address/u)
        assert.match(replies[2] ?? "", /^235 /u)
      }
    }),
  )
})
