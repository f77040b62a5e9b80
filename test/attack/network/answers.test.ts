import * as AnswerBudget from "@waybill/mail/dns/AnswerBudget"
import * as MtaStsFetch from "@waybill/mail/dns/MtaStsFetch"
import * as SmtpConnection from "@waybill/mail/smtp/SmtpConnection"
import { SmtpWire } from "@waybill/mail/smtp/SmtpWire"
import { Duration, Effect, Result } from "effect"
import * as tls from "node:tls"
import * as WebhookCaller from "../../../apps/server/src/worker/webhooks/WebhookCaller.ts"
import * as WebhookExchange from "../../../apps/server/src/worker/webhooks/WebhookExchange.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as Floods from "../../support/mail/floods.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { networks } from "../../support/web/Webhooks.ts"

/** Deadline of a call. An answer that ends only at the deadline has used a core until then. */
const DEADLINE = Duration.seconds(20)
const NO_CONTENT = "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n"
const secrets = [`whsec_${Buffer.alloc(24, 1).toString("base64")}`]

const makeCall = Effect.map(
  WebhookCaller.make({ allowedNetworks: networks("127.0.0.0/8"), timeout: DEADLINE }),
  (call) => (port: number) =>
    call({ url: `http://127.0.0.1:${port}/`, id: "evt_1", body: "{}", secrets, svixHeaders: false, ecdsa: false }).pipe(
      Effect.provide(dnsZones({})),
    ),
)

const until = (isDone: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5))
  })

const INTERIM = `more than ${AnswerBudget.MAX_INTERIM_ANSWERS} interim responses (1xx)`
const WIRE = `the response is larger than ${WebhookExchange.MAX_WIRE_BYTES / 1024} KB on the wire`

/** Expected status and error of a webhook delivery; a status that came before the flood is kept. */
const EXPECTED: Readonly<
  Record<keyof typeof Floods.HTTP_FLOODS, readonly [status: number | null, error: RegExp | string | null]>
> = {
  "103 Early Hints": [null, INTERIM],
  "100 Continue": [null, INTERIM],
  "102 Processing with a long header": [null, INTERIM],
  "line ends before the status line": [null, WIRE],
  "header fields": [null, /Header overflow/u],
  "a header field without end": [null, /Header overflow/u],
  "a reason without end": [null, /Header overflow/u],
  "chunk extensions": [200, null],
  "zeros before a chunk's size": [200, null],
  "trailer fields": [200, null],
  "a body in chunks": [200, null],
  "a body till the end of the connection": [200, null],
  "one answer after the other": [204, null],
  "no HTTP at all": [null, /Parse Error/u],
  "101 Switching Protocols": [null, "the connection ended without an answer"],
}

describe("an endless answer", () => {
  for (const [name, flood] of Object.entries(Floods.HTTP_FLOODS)) {
    it.live(`of a webhook's endpoint is ended long before its deadline: ${name}`, function* () {
      const { port } = yield* Floods.listen(flood)
      const attempt = yield* (yield* makeCall)(port)
      const [status, error] = EXPECTED[name as keyof typeof EXPECTED]
      assert.strictEqual(attempt.status, status)
      if (error instanceof RegExp) assert.match(attempt.error ?? "", error)
      else assert.strictEqual(attempt.error, error)
      assert.isBelow(attempt.duration_ms, Duration.toMillis(DEADLINE) / 2)
    })
  }

  // threat: endless-answers
  it.live(
    "of a webhook's endpoint is ended if the answer comes before the request or after a complete answer",
    function* () {
      const call = yield* makeCall
      const early = yield* Floods.listen(Floods.HTTP_FLOODS["103 Early Hints"], { atOnce: true })
      assert.strictEqual((yield* call(early.port)).error, INTERIM)
      const keptConnection = yield* Floods.listen(Floods.HTTP_FLOODS["103 Early Hints"], { before: [NO_CONTENT] })
      assert.strictEqual((yield* call(keptConnection.port)).status, 204)
      const second = yield* call(keptConnection.port)
      assert.deepStrictEqual([second.status, second.error], [null, INTERIM])
      // The failure does not count as an expired kept connection, which would be called again.
      assert.strictEqual(keptConnection.connections(), 1)
    },
  )

  it.live("of a webhook's endpoint on an idle kept connection closes that connection", function* () {
    const call = yield* makeCall
    for (const name of ["103 Early Hints", "line ends before the status line", "one answer after the other"] as const) {
      const server = yield* Floods.listen(Floods.HTTP_FLOODS[name], { before: [NO_CONTENT], unasked: true })
      assert.strictEqual((yield* call(server.port)).status, 204)
      yield* until(() => server.open() === 0)
    }
  })

  it.live("does not include a few interim answers before the final one", function* () {
    const interimAnswers = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(AnswerBudget.MAX_INTERIM_ANSWERS)
    const { port } = yield* Floods.listen({ forever: "x" }, { before: [interimAnswers + NO_CONTENT] })
    const attempt = yield* (yield* makeCall)(port)
    assert.deepStrictEqual([attempt.status, attempt.error], [204, null])
  })

  for (const [name, flood] of Object.entries(Floods.HTTP_FLOODS)) {
    it.live(`of an MTA-STS policy's host is ended long before its deadline: ${name}`, () =>
      Effect.gen(function* () {
        const { port } = yield* Floods.listen(flood, { tls: SmtpServer.certified })
        const fetch = yield* MtaStsFetch.make({
          port,
          allowed: networks("127.0.0.0/8"),
          ca: SmtpServer.authority,
        })
        const fetched = yield* Effect.result(fetch("acme.test"))
        assert(Result.isFailure(fetched))
        assert.notInclude(fetched.failure.reason, "no answer within")
      }).pipe(Effect.provide(dnsZones({ "mta-sts.acme.test": { A: ["127.0.0.1"] } }))),
    )
  }
})

describe("a TLS handshake", () => {
  /** Starts a TLS server that requests new handshakes without end once it has received data. */
  const renegotiatingServer = Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly server: tls.Server; readonly port: number; readonly handshakes: () => number }>(
          (resolve) => {
            let handshakes = 0
            const renegotiateForever = (socket: tls.TLSSocket): void => {
              socket.renegotiate({}, (error) => {
                if (error !== null) return void socket.destroy()
                handshakes++
                renegotiateForever(socket)
              })
            }
            const server = tls.createServer({ ...SmtpServer.certified, maxVersion: "TLSv1.2" }, (socket) => {
              socket.on("error", () => undefined)
              socket.once("data", () => renegotiateForever(socket))
            })
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              const port = typeof address === "object" && address !== null ? address.port : 0
              resolve({ server, port, handshakes: () => handshakes })
            })
          },
        ),
    ),
    ({ server }) => Effect.sync(() => server.close()),
  )

  // threat: endless-answers
  it.live("is made once per connection, also if the server requests renegotiation: webhooks, MTA-STS", () =>
    Effect.gen(function* () {
      const { handshakes, port } = yield* renegotiatingServer
      const allowedNetworks = networks("127.0.0.0/8")
      const call = yield* WebhookCaller.make({
        allowedNetworks,
        ca: SmtpServer.authority.toString(),
        timeout: DEADLINE,
      })
      const attempt = yield* call({
        url: `https://127.0.0.1:${port}/`,
        id: "evt_1",
        body: "{}",
        secrets,
        svixHeaders: false,
        ecdsa: false,
      })
      assert.strictEqual(attempt.status, null)
      const fetch = yield* MtaStsFetch.make({ port, allowed: allowedNetworks, ca: SmtpServer.authority.toString() })
      assert.isTrue(Result.isFailure(yield* Effect.result(fetch("acme.test"))))
      assert.strictEqual(handshakes(), 0)
    }).pipe(Effect.provide(dnsZones({ "mta-sts.acme.test": { A: ["127.0.0.1"] } }))),
  )
})

/** Endless replies of an SMTP server, and why the session is ended. */
const SMTP_FLOODS: ReadonlyArray<readonly [name: string, flood: Floods.Flood, why: RegExp]> = [
  ["a greeting with more and more lines", { forever: "220-mx1.acme.test\r\n" }, /reply too long/u],
  ["a line without end", { forever: "220 x" }, /reply too long/u],
  ["one greeting after the other", { forever: "220 mx1.acme.test\r\n" }, /220 mx1|more replies/u],
  ["interim replies", { forever: "150 soon\r\n" }, /not an SMTP reply/u],
  ["intermediate replies", { forever: "354 go on\r\n" }, /354 go on/u],
  ["line ends", { forever: "\r\n" }, /not an SMTP reply/u],
  [
    "long replies, each within its bound",
    { forever: `220-${"x".repeat(60_000)}\r\n220 x\r\n` },
    /220-xxx|more replies/u,
  ],
]

describe("an endless reply", () => {
  for (const [name, flood, why] of SMTP_FLOODS) {
    it.live(`of an SMTP server ends the session long before its deadline: ${name}`, function* () {
      const { port } = yield* Floods.listen(flood, { atOnce: true })
      const opened = yield* Effect.result(
        SmtpConnection.open({
          host: "mx1.acme.test",
          address: "127.0.0.1",
          port,
          name: "us.test",
          tls: { mode: "opportunistic", verify: false },
        }),
      )
      assert(Result.isFailure(opened))
      assert.match(opened.failure.message, why)
      assert.notStrictEqual(opened.failure.kind, "timeout")
    })
  }

  // threat: endless-answers
  it.live("unread replies are limited in bytes, so that they cannot fill the memory", function* () {
    const { port } = yield* Floods.listen({ forever: `220-${"x".repeat(60_000)}\r\n220 x\r\n` }, { atOnce: true })
    const wire = yield* Effect.promise((signal) => SmtpWire.connect({ host: "127.0.0.1", port }, 10_000, signal))
    yield* Effect.acquireRelease(Effect.void, () => Effect.sync(() => wire.destroy()))
    const codes: Array<number> = []
    const ended = yield* Effect.promise(async () => {
      // Waits without reading until the connection has been ended.
      while (!wire.hasEnded) await new Promise((resolve) => setImmediate(resolve))
      try {
        for (;;) codes.push((await wire.read(10_000)).code)
      } catch (error) {
        return String(error)
      }
    })
    assert.include(ended, "more replies than commands")
    assert.isBelow(codes.length, 10)
  })
})
