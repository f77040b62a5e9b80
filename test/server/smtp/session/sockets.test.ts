import { Deferred, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { assert, describe, it } from "../../../support/effectTest.ts"
import { CERTIFICATE } from "../support.ts"
import * as TestListener from "./TestListener.ts"

const BEGUN = ["EHLO x", "MAIL FROM:<a@b.test>", "RCPT TO:<c@d.test>", "DATA"]

const greeted = (port: number) =>
  Effect.tap(TestListener.connect(port), (client) => Effect.promise(() => client.reply()))

const say = (client: TestListener.LineClient, ...lines: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    let last = ""
    for (const line of lines) last = await client.say(line)
    return last
  })

const closed = ({ socket }: TestListener.LineClient) =>
  Effect.promise(async () => {
    if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve))
  })

/** Sends a command now and then until the test ends. */
const goesOn = ({ socket }: TestListener.LineClient) =>
  Effect.acquireRelease(
    Effect.sync(() => setInterval(() => socket.write("NOOP\r\n"), 20)),
    (timer) => Effect.sync(() => clearInterval(timer)),
  )

const isServed = Effect.fnUntraced(function* (port: number) {
  assert.match(yield* say(yield* greeted(port), ...BEGUN, "x\r\n."), /^250 2\.0\.0 "x/u)
})

describe("the socket of an SMTP session", () => {
  it.live("may be reset while a command or a message is processed", function* () {
    for (const during of ["recipient", "message"] as const) {
      const begun = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const wait = Deferred.succeed(begun, undefined).pipe(
        Effect.andThen(Deferred.await(goOn)),
        Effect.andThen(Deferred.succeed(ended, undefined)),
      )
      let isFirst = true
      const once = Effect.suspend(() => {
        const wasFirst = isFirst
        isFirst = false
        return wasFirst ? Effect.asVoid(wait) : Effect.void
      })
      const handlers =
        during === "recipient" ? { recipient: () => once } : { message: () => Effect.as(once, '2.0.0 "x') }
      const port = yield* TestListener.listen({ handlers })
      const client = yield* greeted(port)
      client.socket.write(`${BEGUN.join("\r\n")}\r\nx\r\n.\r\n`)
      yield* Deferred.await(begun)
      client.socket.resetAndDestroy()
      yield* closed(client)
      yield* Deferred.succeed(goOn, undefined)
      yield* Deferred.await(ended)
      if (during === "message") assert.match(yield* say(yield* greeted(port), ...BEGUN, "x\r\n."), /^250 2\.0\.0 "x/u)
      else yield* isServed(port)
    }
  })

  it.live("closes when its client ends its side, in a command or in a message", function* () {
    const port = yield* TestListener.listen()
    for (const text of ["NOO", "EHLO x", `${BEGUN.join("\r\n")}\r\nhalf of a message`]) {
      const client = yield* greeted(port)
      client.socket.end(text)
      yield* closed(client)
    }
    yield* isServed(port)
  })

  // threat: memory-budgets
  it.live("closes when its client sends commands and reads no replies", function* () {
    const port = yield* TestListener.listen({ limits: { idle: Duration.millis(300), maxRecipients: Infinity } })
    const client = yield* greeted(port)
    yield* say(client, ...BEGUN.slice(0, 2))
    client.socket.pause()
    // More replies than the buffers of both sockets hold.
    for (let nth = 0; nth < 1_000_000; nth += 10_000)
      client.socket.write(Array.from({ length: 10_000 }, (_, at) => `RCPT TO:<${nth + at}@d.test>\r\n`).join(""))
    // A client that reads nothing learns by writing that its connection is gone.
    yield* goesOn(client)
    yield* closed(client)
    yield* isServed(port)
  })

  it.live("is closed with a reply when nothing comes, but not while a command is processed", function* () {
    const idle = Duration.millis(150)
    const recipient = () => Effect.sleep(Duration.times(idle, 4))
    const port = yield* TestListener.listen({ limits: { idle }, handlers: { recipient } })
    const client = yield* greeted(port)
    assert.strictEqual(yield* say(client, ...BEGUN.slice(0, 3)), "250 2.1.5 Accepted")
    assert.deepStrictEqual(yield* Effect.promise(() => client.reply()), ["421 4.4.2 Timeout - closing connection"])
    yield* closed(client)
  })

  it.live("is closed after a last reply, also if its client goes on", function* () {
    const port = yield* TestListener.listen({ limits: { idle: Duration.millis(300) } })
    const client = yield* greeted(port)
    client.socket.allowHalfOpen = true
    yield* goesOn(client)
    assert.strictEqual(yield* say(client, "QUIT"), "221 2.0.0 Bye")
    yield* closed(client)
  })

  // threat: plain-text
  it.live("is closed without a reply in the clear by a client that goes on without TLS, or breaks it", function* () {
    const port = yield* TestListener.listen({ tls: CERTIFICATE })
    const plain = yield* greeted(port)
    assert.match(yield* say(plain, "STARTTLS"), /^220 /u)
    assert.strictEqual(yield* say(plain, "EHLO x"), "(closed)")

    const broken = yield* greeted(port)
    const { socket } = broken
    assert.match(yield* say(broken, "STARTTLS"), /^220 /u)
    broken.secure()
    assert.match(yield* say(broken, "EHLO x"), /^250 /u)
    socket.write("QUIT\r\n")
    yield* closed(broken)
    yield* isServed(port)
  })

  it.live("is told that the service stops when its message is answered", function* () {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const message = () =>
      Deferred.succeed(begun, undefined).pipe(Effect.andThen(Deferred.await(goOn)), Effect.as('2.0.0 "x'))
    const scope = yield* Scope.make()
    const limits = { stopWithin: Duration.minutes(5) }
    const port = yield* Scope.provide(TestListener.listen({ handlers: { message }, limits }), scope)
    const client = yield* greeted(port)
    yield* say(client, ...BEGUN)
    client.socket.write("x\r\n.\r\n")
    yield* Deferred.await(begun)
    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* Deferred.succeed(goOn, undefined)
    const replies = yield* Effect.promise(async () => [...(await client.reply()), ...(await client.reply())])
    assert.deepStrictEqual(replies, ['250 2.0.0 "x', "421 4.4.2 Server shutting down"])
    yield* Fiber.join(stopping)
  })

  it.live("hears that its message is stored, also when its time is over meanwhile", function* () {
    const identifiedWithin = Duration.millis(100)
    const message = () => Effect.as(Effect.sleep(Duration.times(identifiedWithin, 3)), '2.0.0 "x')
    const limits = { identifiedWithin, identifiedWithinCrowded: identifiedWithin }
    const client = yield* greeted(yield* TestListener.listen({ handlers: { message }, limits }))
    client.socket.write(`${BEGUN.join("\r\n")}\r\nx\r\n.\r\n`)
    const replies = yield* Effect.promise(async () => {
      const all: Array<string> = []
      while (all.length < 5) all.push((await client.reply()).at(-1) ?? "")
      return all
    })
    assert.strictEqual(replies.at(-1), '250 2.0.0 "x')
  })

  it.live("is asked for space for each recipient by itself", function* () {
    const asked: Array<number> = []
    const keep = ({ recipients }: { readonly recipients: ReadonlyArray<string> }) => {
      asked.push(recipients.length)
      return { bytes: 100 }
    }
    const client = yield* greeted(yield* TestListener.listen({ keep }))
    const to = (nth: number) => `RCPT TO:<c${nth}@d.test>`
    yield* say(client, "EHLO x", "MAIL FROM:<a@b.test> SIZE=10", to(1), to(2), to(3))
    assert.deepStrictEqual(asked, [1, 1, 1])
  })
})
