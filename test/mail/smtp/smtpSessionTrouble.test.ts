import { Effect, Redacted } from "effect"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import { MAX_UNREAD_REPLIES, SmtpWire } from "@waybill/mail/smtp/SmtpWire"
import * as Transport from "@waybill/mail/transport/Transport"
import * as net from "node:net"
import * as readline from "node:readline"
import { assert, describe, it } from "../../support/effectTest.ts"
import type { Action } from "../../support/mail/smtpScript.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { impatient, outgoing, PATIENT, relayTo, short, type Wait } from "../transport/outgoing.ts"

const TO = ["ana@example.test", "ben@example.test"]
const LOGIN = { user: "u", password: Redacted.make("p") }

/** A session over TLS with a login, as most relays require. */
const securely = (
  server: SmtpServer.SmtpServer,
  { mails = 1, ms, wait }: { readonly mails?: number; readonly wait?: Wait | undefined; readonly ms?: number } = {},
): Effect.Effect<ReadonlyArray<ReadonlyArray<Transport.RecipientOutcome>>> =>
  Transport.Transport.use((transport) => Effect.replicateEffect(transport.deliver(outgoing(), TO), mails)).pipe(
    Effect.provide(
      RelayTransport.layer(
        relayTo(server, { host: "localhost", tls: { mode: "required", verify: true }, login: LOGIN }),
        { name: "waybill.test", timeouts: impatient(wait, ms), ca: SmtpServer.authority },
      ),
    ),
  )

for (const pipelining of [true, false]) {
  const listen = (script: NonNullable<SmtpServer.Options["script"]>) =>
    SmtpServer.listen({
      pipelining,
      starttls: SmtpServer.certified,
      auth: { user: "u", password: "p" },
      script,
    })

  describe(pipelining ? "a session with PIPELINING" : "a session without PIPELINING", () => {
    for (const phase of ["starttls", "auth"] as const) {
      const at = (action: Action) =>
        Effect.gen(function* () {
          const server = yield* listen((now) => (now.phase === phase ? action : undefined))
          const wait = phase === "auth" ? "auth_ms" : "tls_ms"
          const [outcomes = []] = yield* securely(server, { wait: action === "hang" ? wait : undefined })
          assert.deepStrictEqual(
            outcomes.map(({ recipient }) => recipient),
            TO,
          )
          assert.isFalse(server.lines.some((line) => line.startsWith("MAIL")))
          assert.deepStrictEqual(server.violations, [])
          return outcomes
        })

      for (const action of ["drop", "close", "hang"] as const) {
        it.effect(`${action} at ${phase} defers and counts as an attempt`, function* () {
          for (const outcome of yield* at(action)) {
            // A failure at STARTTLS may be caused by an attacker, so either category is right.
            const category = phase === "starttls" && action !== "hang" ? /tls|connection/u : /connection|tls/u
            assert.match(short(outcome) ?? "", /^deferred /u)
            assert.match(outcome.category ?? "", category)
            assert.isFalse(outcome.no_attempt)
            assert.strictEqual(outcome.suppress, "never")
          }
        })
      }

      it.effect(`421 at ${phase} pauses the site and counts as no attempt`, function* () {
        for (const outcome of yield* at("421 4.7.0 closing down")) {
          assert.deepStrictEqual(
            [outcome.status, outcome.code, outcome.no_attempt, outcome.retry_after_ms],
            ["deferred", 421, true, 60_000],
          )
        }
      })
    }

    /** Sends two mails of which the first is refused, so that RSET is sent between them. */
    const twice = (action: Action) =>
      Effect.gen(function* () {
        let refusals = TO.length
        const server = yield* listen(({ connection, phase }) => {
          if (phase === "rcpt" && refusals-- > 0) return "550 5.1.1 no such user"
          return phase === "rset" && connection === 0 ? action : undefined
        })
        const [first = [], second = []] = yield* securely(server, {
          mails: 2,
          wait: action === "hang" ? "mail_ms" : undefined,
          // The same timeout applies to the replies to MAIL, which arrive.
          ms: 3_000,
        })
        assert.deepStrictEqual(
          first.map(short),
          TO.map(() => "bounced invalid_recipient"),
        )
        return { server, second }
      })

    for (const action of ["drop", "close", "hang", "450 4.3.0 not now", "500 5.5.2 what?"] as const) {
      it.effect(`${action} at RSET closes the session, and the next mail opens another`, function* () {
        const { second, server } = yield* twice(action)
        assert.deepStrictEqual(
          second.map(short),
          TO.map(() => "delivered"),
        )
        assert.deepStrictEqual([server.mails.length, server.connections().opened], [1, 2])
      })
    }

    it.effect("421 at RSET pauses the site and counts as no attempt", function* () {
      const { second, server } = yield* twice("421 4.3.2 closing down")
      assert.deepStrictEqual(
        second.map(({ no_attempt, status }) => [status, no_attempt]),
        TO.map(() => ["deferred", true]),
      )
      assert.strictEqual(server.mails.length, 0)
    })

    for (const action of ["drop", "hang", "stall", "500 5.5.2 what?"] as const) {
      it.effect(`${action} at QUIT does not change the outcome or delay the end`, function* () {
        const server = yield* listen(({ phase }) => (phase === "quit" ? action : undefined))
        const [outcomes = []] = yield* securely(server, { wait: "quit_ms" })
        assert.deepStrictEqual(
          outcomes.map(short),
          TO.map(() => "delivered"),
        )
        assert.strictEqual(server.mails.length, 1)
      })
    }
  })
}

describe("a server that sends unsolicited replies", () => {
  /** Replies line by line; `after` adds replies to a verb in the same write. */
  const talkative = (after: (verb: string) => string) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        let closed = 0
        const sockets = new Set<net.Socket>()
        const server = net.createServer((socket) => {
          sockets.add(socket)
          socket.on("error", () => {})
          socket.on("close", () => closed++)
          let body = false
          socket.write("220 hi\r\n")
          readline.createInterface({ input: socket }).on("line", (line) => {
            if (body && line !== ".") return
            const verb = body ? "DOT" : (line.split(/[ :]/u)[0] ?? "")
            body = verb === "DATA"
            socket.write(`${body ? "354 go" : "250 fine"}\r\n${after(verb)}`)
          })
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        return { host: "127.0.0.1", port, closed: () => closed, server, sockets }
      }),
      ({ server, sockets }) =>
        Effect.promise(() => {
          for (const socket of sockets) socket.destroy()
          return new Promise((resolve) => server.close(resolve))
        }),
    )

  const hungUp = (server: { readonly closed: () => number }) =>
    Effect.promise(async () => {
      while (server.closed() === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    })

  const relayed = ({ host, port }: { readonly host: string; readonly port: number }) =>
    RelayTransport.layer(
      { host, port, tls: { mode: "none", verify: false }, login: undefined, confirm: "none", connections: 1 },
      { name: "waybill.test", timeouts: PATIENT },
    )

  it.effect("on an idle connection is disconnected, and memory stays bounded", function* () {
    const server = yield* talkative((verb) => (verb === "DOT" ? "250 and more\r\n" : ""))
    yield* Effect.gen(function* () {
      const transport = yield* Transport.Transport
      const [outcome] = yield* transport.deliver(outgoing(), ["ana@example.test"])
      assert.strictEqual(outcome?.status, "delivered")
      // The test clock does not advance, so the pool has not closed the idle connection.
      yield* hungUp(server)
    }).pipe(Effect.provide(relayed(server)))
  })

  it.effect("during a transaction is disconnected after more replies than commands", function* () {
    const server = yield* talkative(() => "")
    const wire = yield* Effect.promise((signal) =>
      SmtpWire.connect({ host: server.host, port: server.port }, PATIENT.connect_ms, signal),
    )
    yield* Effect.promise(() => wire.read(PATIENT.greeting_ms))
    wire.write("NOOP\r\n".repeat(MAX_UNREAD_REPLIES))
    wire.write("NOOP\r\n")
    yield* hungUp(server)
  })

  it.effect("before the body has not accepted the message", function* () {
    const server = yield* talkative((verb) => (verb === "DATA" ? "250 taken\r\n" : ""))
    const [outcome] = yield* Transport.Transport.use((transport) =>
      transport.deliver(outgoing(), ["ana@example.test"]),
    ).pipe(Effect.provide(relayed(server)))
    assert.strictEqual(short(outcome), "deferred connection")
  })
})
