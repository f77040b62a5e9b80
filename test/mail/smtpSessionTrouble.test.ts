import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as RelayTransport from "@waybill/mail/RelayTransport"
import * as Transport from "@waybill/mail/Transport"
import * as SmtpServer from "../support/smtpServer.ts"
import { IMPATIENT, outgoing, relayTo, short } from "./outgoing.ts"

const TO = ["ana@example.test", "ben@example.test"]
const LOGIN = { user: "u", password: Redacted.make("p") }

/** Over TLS and with a login, as most relays want it. */
const securely = (
  server: SmtpServer.SmtpServer,
  mails = 1,
): Effect.Effect<ReadonlyArray<ReadonlyArray<Transport.Outcome>>> =>
  Transport.Transport.use((transport) => Effect.replicateEffect(transport.deliver(outgoing(), TO), mails)).pipe(
    Effect.provide(
      RelayTransport.layer(
        relayTo(server, { host: "localhost", tls: { mode: "required", verify: true }, login: LOGIN }),
        { name: "waybill.test", timeouts: IMPATIENT, ca: SmtpServer.authority },
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
      const at = (action: SmtpServer.Action) =>
        Effect.gen(function* () {
          const server = yield* listen((now) => (now.phase === phase ? action : undefined))
          const [outcomes = []] = yield* securely(server)
          assert.deepStrictEqual(
            outcomes.map(({ recipient }) => recipient),
            TO,
          )
          assert.isFalse(server.lines.some((line) => line.startsWith("MAIL")))
          assert.deepStrictEqual(server.violations, [])
          return outcomes
        })

      for (const action of ["drop", "close", "hang"] as const) {
        it.effect(`that meets a ${action} at ${phase} defers, and counts as a try`, () =>
          Effect.gen(function* () {
            for (const outcome of yield* at(action)) {
              // What fails at STARTTLS may be somebody in between: the log says so.
              const category = phase === "starttls" && action !== "hang" ? /tls|connection/u : /connection|tls/u
              assert.match(short(outcome) ?? "", /^deferred /u)
              assert.match(outcome.category ?? "", category)
              assert.isFalse(outcome.no_attempt)
              assert.strictEqual(outcome.suppress, "never")
            }
          }),
        )
      }

      it.effect(`that is told 421 at ${phase} pauses, at no attempt's cost`, () =>
        Effect.gen(function* () {
          for (const outcome of yield* at("421 4.7.0 closing down")) {
            assert.deepStrictEqual(
              [outcome.status, outcome.code, outcome.no_attempt, outcome.retry_after_ms],
              ["deferred", 421, true, 60_000],
            )
          }
        }),
      )
    }

    /** Two mails, of which the first is refused: between them stands RSET. */
    const twice = (action: SmtpServer.Action) =>
      Effect.gen(function* () {
        let refusals = TO.length
        const server = yield* listen(({ connection, phase }) => {
          if (phase === "rcpt" && refusals-- > 0) return "550 5.1.1 no such user"
          return phase === "rset" && connection === 0 ? action : undefined
        })
        const [first = [], second = []] = yield* securely(server, 2)
        assert.deepStrictEqual(
          first.map(short),
          TO.map(() => "bounced invalid_recipient"),
        )
        return { server, second }
      })

    for (const action of ["drop", "close", "hang", "450 4.3.0 not now", "500 5.5.2 what?"] as const) {
      it.effect(`that meets ${action} at RSET is left, and the next mail takes another`, () =>
        Effect.gen(function* () {
          const { second, server } = yield* twice(action)
          assert.deepStrictEqual(
            second.map(short),
            TO.map(() => "delivered"),
          )
          assert.deepStrictEqual([server.mails.length, server.connections().opened], [1, 2])
        }),
      )
    }

    it.effect("that is told 421 at RSET pauses, at no attempt's cost", () =>
      Effect.gen(function* () {
        const { second, server } = yield* twice("421 4.3.2 closing down")
        assert.deepStrictEqual(
          second.map(({ no_attempt, status }) => [status, no_attempt]),
          TO.map(() => ["deferred", true]),
        )
        assert.strictEqual(server.mails.length, 0)
      }),
    )

    for (const action of ["drop", "hang", "stall", "500 5.5.2 what?"] as const) {
      it.effect(`that meets ${action} at QUIT has delivered all the same, and its end does not wait`, () =>
        Effect.gen(function* () {
          const server = yield* listen(({ phase }) => (phase === "quit" ? action : undefined))
          const [outcomes = []] = yield* securely(server)
          assert.deepStrictEqual(
            outcomes.map(short),
            TO.map(() => "delivered"),
          )
          assert.strictEqual(server.mails.length, 1)
        }),
      )
    }
  })
}
