import { Duration, Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import * as tls from "node:tls"
import { HANDSHAKES_PER_SECOND, MAX_BURST } from "../../../apps/server/src/smtp/Handshakes.ts"
import type * as Submission from "../../../apps/server/src/smtp/Submission.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { freePort } from "../../support/process/service.ts"
import * as Smtp from "./support.ts"

const TIMEOUT = Duration.seconds(30)
/** Less than the time that a stop may take if a connection stays open. */
const STOP_TIMEOUT = Duration.seconds(15)
/** Number of handshakes on each of the two ports: together three times the number that may begin at once. */
const HANDSHAKES_PER_PORT = 30

/** Listens on both ports. */
const submission = Effect.fnUntraced(function* (options: Partial<Submission.Options> = {}) {
  const tlsPort = yield* Effect.promise(() => freePort())
  const port = yield* Smtp.submission({
    tls: { ...Smtp.CERTIFICATE, port: tlsPort },
    isLocal: () => false,
    ...options,
  })
  return { port, tlsPort }
})

const SECURE = { secure: true, ignoreTLS: false, tls: { ca: Smtp.CA, servername: "localhost" } }

const mail = (acme: Smtp.Customer) => ({
  from: `Acme <hi@${acme.domain}>`,
  to: "ana@example.org",
  subject: "Your receipt",
  text: "Thank you.",
})

/** A TCP connection that is destroyed with the test. */
const connection = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = net.connect(port, "127.0.0.1")
      socket.on("error", () => undefined)
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  )

const untilClosed = (socket: net.Socket) =>
  Effect.promise(async () => {
    socket.resume()
    if (!socket.closed) await once(socket, "close")
  })

/** A TLS connection that has read the greeting. */
const secured = Effect.fnUntraced(function* (port: number, options: tls.ConnectionOptions = {}) {
  const plain = yield* connection(port)
  const socket = tls.connect({ socket: plain, ca: Smtp.CA, servername: "localhost", ...options })
  const [greeting] = yield* Effect.promise(() => once(socket, "data") as Promise<[Buffer]>)
  return { socket, greeting: greeting.toString() }
})

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("SMTP that begins with TLS", (it) => {
  it.effect("accepts mail from nodemailer with secure: true, and offers AUTH but no STARTTLS", function* () {
    const { port, tlsPort } = yield* submission()
    const acme = yield* Smtp.customer()
    assert.match(yield* Smtp.send(tlsPort, acme.secret, mail(acme), SECURE), /^250 2\.0\.0 Ok: queued as /u)
    const startTls = { ...SECURE, secure: false, requireTLS: true }
    assert.match(yield* Smtp.send(port, acme.secret, mail(acme), startTls), /^250 2\.0\.0 Ok: queued as /u)
    assert.lengthOf(yield* Smtp.accepted(acme.account_id), 2)

    const { greeting, socket } = yield* secured(tlsPort)
    assert.strictEqual(greeting, "220 waybill.test ESMTP\r\n")
    const say = (text: string) => {
      socket.write(`${text}\r\n`)
      return Effect.promise(async () => String((await once(socket, "data"))[0]))
    }
    const offered = yield* say("EHLO x")
    assert.include(offered, "250-AUTH PLAIN LOGIN\r\n")
    assert.notInclude(offered, "STARTTLS")
    assert.match(yield* say("STARTTLS"), /^503 5\.5\.1 /u)
    assert.match(yield* say(Smtp.plain("wb_wrong")), /^535 5\.7\.8 /u)
    assert.match(yield* say("MAIL FROM:<a@b.cc>"), /^530 5\.7\.0 /u)
  })

  // threat: plain-text
  it.effect("closes a connection that is not TLS without a reply in plain text, and serves the next one", () =>
    Effect.gen(function* () {
      const { tlsPort } = yield* submission()
      const acme = yield* Smtp.customer()
      for (const text of [
        "EHLO x\r\nMAIL FROM:<a@b.cc>\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x00\x05garbage",
        "\0",
      ]) {
        const socket = yield* connection(tlsPort)
        const received: Array<Buffer> = []
        socket.on("data", (chunk) => received.push(chunk))
        socket.end(text)
        yield* untilClosed(socket)
        assert.notMatch(Buffer.concat(received).toString("latin1"), /\d{3} /u, JSON.stringify(text))
      }
      assert.match(yield* Smtp.send(tlsPort, acme.secret, mail(acme), SECURE), /^250 /u)
    }).pipe(Effect.timeout(TIMEOUT)),
  )

  it.effect("disconnects clients whose handshake does not end in time", () =>
    Effect.gen(function* () {
      const { tlsPort } = yield* submission({ limits: { identifiedWithin: Duration.millis(500) } })
      const stalled = yield* Effect.forEach(["", "\x16", "\x16\x03\x01\x02\0\x01"], (start) =>
        Effect.tap(connection(tlsPort), (socket) => Effect.sync(() => socket.write(start, "latin1"))),
      )
      yield* Effect.forEach(stalled, untilClosed, { concurrency: "unbounded" })
    }).pipe(Effect.timeout(TIMEOUT)),
  )

  it.effect("counts connections of both ports together, and closes an unfinished handshake for a new client", () =>
    Effect.gen(function* () {
      const { port, tlsPort } = yield* submission({ limits: { maxUnidentified: 3 } })
      const acme = yield* Smtp.customer()
      const oldest = yield* connection(tlsPort)
      const plain = [yield* Smtp.raw(port), yield* Smtp.raw(port)]
      assert.match(yield* Smtp.send(tlsPort, acme.secret, mail(acme), SECURE), /^250 /u)
      yield* untilClosed(oldest)
      assert.isFalse(plain[1]?.closed)
    }).pipe(Effect.timeout(TIMEOUT)),
  )

  it.effect("limits handshakes per second over both ports", function* () {
    const { port, tlsPort } = yield* submission()
    const clients = yield* Effect.forEach(Array.from({ length: HANDSHAKES_PER_PORT }), () =>
      Effect.tap(Smtp.raw(port), (client) => Effect.promise(() => client.say("EHLO x"))),
    )
    const startedAt = performance.now()
    const upgraded = Effect.promise(() => Promise.all(clients.map((client) => client.say("STARTTLS"))))
    const implicit = Effect.forEach(Array.from({ length: HANDSHAKES_PER_PORT }), () => secured(tlsPort), {
      concurrency: "unbounded",
    })
    yield* Effect.all([upgraded, implicit], { concurrency: "unbounded" })
    const waiting = 2 * HANDSHAKES_PER_PORT - MAX_BURST
    // One clock tick is subtracted from the minimum duration.
    assert.isAtLeast(performance.now() - startedAt, (waiting / HANDSHAKES_PER_SECOND) * 1_000 - 100)
  })

  it.effect("gives up the turn of a client that disconnects before its handshake", () =>
    Effect.gen(function* () {
      const { tlsPort } = yield* submission()
      for (let nth = 0; nth < 2 * MAX_BURST; nth++) (yield* connection(tlsPort)).destroy()
      const { greeting } = yield* secured(tlsPort)
      assert.match(greeting, /^220 /u)
    }).pipe(Effect.timeout(TIMEOUT)),
  )

  it.effect("refuses TLS renegotiation", function* () {
    const { tlsPort } = yield* submission()
    const { socket } = yield* secured(tlsPort, { maxVersion: "TLSv1.2" })
    const answer = yield* Effect.promise(
      () =>
        new Promise<string>((resolve) => {
          socket.on("error", ({ message }) => resolve(message))
          socket.renegotiate({}, (error) => resolve(error === null ? "done" : error.message))
        }),
    )
    assert.match(answer, /no[_ ]renegotiation/iu)
  })

  it.effect("tells idle clients of both ports that the service stops, and closes unfinished handshakes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { port, tlsPort } = yield* Scope.provide(submission(), scope)
      const plain = yield* Smtp.raw(port)
      const { socket } = yield* secured(tlsPort)
      const stalled = yield* connection(tlsPort)
      const last = Effect.promise(async () => String((await once(socket, "data"))[0]))
      const [reply] = yield* Effect.all([last, Scope.close(scope, Exit.void)], { concurrency: "unbounded" })
      assert.match(reply, /^421 4\.3\.2 /u)
      assert.match(yield* Effect.promise(() => plain.reply()), /^421 4\.3\.2 /u)
      yield* untilClosed(stalled)
    }).pipe(Effect.timeout(STOP_TIMEOUT)),
  )
})
