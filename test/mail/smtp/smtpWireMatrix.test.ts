import { Effect } from "effect"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as Transport from "@waybill/mail/transport/Transport"
import { assert, describe, it } from "../../support/effectTest.ts"
import type { Action, Phase } from "../../support/mail/smtpScript.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { impatient, large, outgoing, PATIENT, relayTo, short, type Wait } from "../transport/outgoing.ts"

const TO = ["ana@example.test", "ben@example.test", "cy@example.test"]

/** Timeout that a client reaches when the server is silent at a phase. */
const WAITS = {
  greeting: "greeting_ms",
  ehlo: "ehlo_ms",
  mail: "mail_ms",
  rcpt: "rcpt_ms",
  data: "data_ms",
  body: "end_of_data_ms",
  dot: "end_of_data_ms",
} as const

const deliver = (
  server: SmtpServer.SmtpServer,
  message = outgoing(),
  to: ReadonlyArray<string> = TO,
  wait?: Wait,
  ms?: number,
) =>
  Transport.Transport.use((transport) => transport.deliver(message, to)).pipe(
    Effect.provide(RelayTransport.layer(relayTo(server), { name: "waybill.test", timeouts: impatient(wait, ms) })),
  )

const at =
  (phase: Phase, action: Action, index = 0): NonNullable<SmtpServer.Options["script"]> =>
  (now) =>
    now.phase === phase && now.index === index ? action : undefined

const all = (outcome: string) => TO.map(() => outcome)

for (const pipelining of [true, false]) {
  describe(pipelining ? "with PIPELINING" : "without PIPELINING", () => {
    const given = (script: NonNullable<SmtpServer.Options["script"]>, message = outgoing(), wait?: Wait, ms?: number) =>
      Effect.gen(function* () {
        const server = yield* SmtpServer.listen({ script, pipelining })
        const outcomes = yield* deliver(server, message, TO, wait, ms)
        assert.deepStrictEqual(server.violations, [])
        assert.deepStrictEqual(
          outcomes.map((outcome) => outcome.recipient),
          TO,
        )
        return { server, outcomes, kinds: outcomes.map(short) }
      })

    it.effect("a working server receives the envelope and the exact bytes", function* () {
      const { kinds, outcomes, server } = yield* given(() => undefined)
      assert.deepStrictEqual(kinds, all("delivered"))
      const [mail, ...others] = server.mails
      assert.deepStrictEqual(others, [])
      assert.strictEqual(mail?.from, "b-1@bounce.acme.test")
      assert.deepStrictEqual(mail?.to, TO)
      assert.deepStrictEqual(mail?.bytes.toString(), Buffer.from(outgoing().bytes).toString())
      assert.strictEqual(mail?.helo, "waybill.test")
      assert.strictEqual(outcomes[0]?.response, "OK queued as 1")
      assert.strictEqual(outcomes[0]?.code, 250)
      assert.strictEqual(outcomes[0]?.enhanced_code, "2.0.0")
    })

    for (const phase of ["connect", "greeting", "ehlo", "mail", "rcpt", "data", "body", "dot"] as const) {
      it.effect(`a drop at ${phase} defers and stores nothing`, function* () {
        const message = phase === "body" ? outgoing({ bytes: large() }) : outgoing()
        const { kinds, server } = yield* given(at(phase, "drop"), message)
        assert.deepStrictEqual(kinds, all(phase === "dot" ? "deferred lost_answer" : "deferred connection"))
        assert.deepStrictEqual(server.mails, [])
      })
    }

    for (const phase of ["greeting", "ehlo", "mail", "rcpt", "data", "body", "dot"] as const) {
      it.effect(`silence at ${phase} defers after the timeout`, function* () {
        const message = phase === "body" ? outgoing({ bytes: large() }) : outgoing()
        const { kinds } = yield* given(at(phase, "hang"), message, WAITS[phase])
        // After the end of the data a silent server may have accepted the message.
        const ambiguous = phase === "dot" || phase === "body"
        assert.deepStrictEqual(kinds, all(ambiguous ? "deferred lost_answer" : "deferred connection"))
      })

      it.effect(`421 at ${phase} pauses the site and counts as no attempt`, function* () {
        const message = phase === "body" ? outgoing({ bytes: large() }) : outgoing()
        const { kinds, outcomes, server } = yield* given(at(phase, "421 4.3.2 closing down"), message)
        assert.deepStrictEqual(new Set(outcomes.map((outcome) => outcome.status)), new Set(["deferred"]))
        assert.deepStrictEqual(new Set(outcomes.map((outcome) => outcome.code)), new Set([421]), String(kinds))
        assert.isTrue(outcomes.every((outcome) => outcome.no_attempt && outcome.retry_after_ms === 60_000))
        assert.deepStrictEqual(server.mails, [])
      })
    }

    it.effect("a server that stops reading in the middle of the body has not accepted the message", function* () {
      const { kinds } = yield* given(at("body", "stall"), outgoing({ bytes: large(16_000_000) }), "block_ms")
      assert.deepStrictEqual(kinds, all("deferred connection"))
    })

    it.effect("before the end of the message a refusal counts, an acceptance does not", function* () {
      const yes = yield* given(at("body", "250 2.0.0 fine"), outgoing({ bytes: large() }))
      assert.deepStrictEqual(yes.kinds, all("deferred connection"))
      const no = yield* given(at("body", "552 5.3.4 message too large"), outgoing({ bytes: large() }))
      assert.deepStrictEqual(no.kinds, all("bounced too_large"))
      assert.deepStrictEqual([...yes.server.mails, ...no.server.mails], [])
    })

    it.effect("421 at the second recipient applies to all recipients", function* () {
      const { outcomes, server } = yield* given(at("rcpt", "421 4.7.0 enough", 1))
      assert.deepStrictEqual(
        outcomes.map((outcome) => `${outcome.status} ${outcome.code}`),
        all("deferred 421"),
      )
      assert.deepStrictEqual(server.mails, [])
    })

    it.effect("a reply lost after the end of the message is reported as lost_answer", function* () {
      for (const action of ["store-then-drop", "store-then-hang"] as const) {
        // Long enough for the message to arrive, although the server sends no reply.
        const { kinds, server } = yield* given(at("dot", action), outgoing(), "end_of_data_ms", 3_000)
        assert.deepStrictEqual(kinds, all("deferred lost_answer"))
        assert.strictEqual(server.mails.length, 1)
      }
    })

    for (const phase of ["mail", "rcpt", "data", "dot"] as const) {
      it.effect(`a 5xx at ${phase} bounces the recipients concerned, with the server's text`, function* () {
        const { outcomes, server } = yield* given(at(phase, "554 5.7.1 Our policy\nforbids it"))
        const touched = phase === "rcpt" ? outcomes.slice(0, 1) : outcomes
        for (const outcome of touched) {
          assert.strictEqual(outcome.status, "bounced")
          assert.strictEqual(outcome.response, "Our policy forbids it")
          assert.strictEqual(outcome.enhanced_code, "5.7.1")
        }
        assert.deepStrictEqual(
          server.mails.map((mail) => mail.to),
          phase === "rcpt" ? [TO.slice(1)] : [],
        )
      })

      it.effect(`a 4xx at ${phase} defers`, function* () {
        const { outcomes } = yield* given(at(phase, "451 4.3.0 later"))
        const touched = phase === "rcpt" ? outcomes.slice(0, 1) : outcomes
        assert.isTrue(touched.every((outcome) => outcome.status === "deferred" && !outcome.no_attempt))
      })
    }

    it.effect("fifty recipients get fifty outcomes", function* () {
      const to = Array.from({ length: 50 }, (_, i) => `r${i}@example.test`)
      const script: SmtpServer.Options["script"] = ({ index, phase }) =>
        phase !== "rcpt"
          ? undefined
          : index % 5 === 1
            ? "550 5.1.1 no such user"
            : index % 5 === 3
              ? "450 4.2.0 later"
              : undefined
      const server = yield* SmtpServer.listen({ pipelining, script })
      const outcomes = yield* deliver(server, outgoing(), to)
      assert.deepStrictEqual(
        outcomes.map((outcome) => [outcome.recipient, outcome.status]),
        to.map((address, i) => [address, i % 5 === 1 ? "bounced" : i % 5 === 3 ? "deferred" : "delivered"]),
      )
      assert.deepStrictEqual(
        server.mails.map((mail) => mail.to),
        [to.filter((_, i) => i % 5 !== 1 && i % 5 !== 3)],
      )
    })

    it.effect("without an accepted recipient no body is sent, and the connection is reused", function* () {
      let refusals = 3
      const server = yield* SmtpServer.listen({
        pipelining,
        script: ({ phase }) => (phase === "rcpt" && refusals-- > 0 ? "550 5.1.1 no such user" : undefined),
      })
      const results = yield* Transport.Transport.use((transport) =>
        Effect.all([transport.deliver(outgoing(), TO), transport.deliver(outgoing(), TO)]),
      ).pipe(Effect.provide(RelayTransport.layer(relayTo(server), { name: "waybill.test", timeouts: PATIENT })))
      assert.deepStrictEqual(
        results.map((outcomes) => outcomes.map(short)),
        [all("bounced invalid_recipient"), all("delivered")],
      )
      assert.deepStrictEqual(
        server.lines.filter((line) => !line.startsWith("RCPT") && !line.startsWith("MAIL")),
        ["EHLO waybill.test", ...(pipelining ? ["DATA"] : []), "RSET", "DATA", "QUIT"],
      )
      assert.strictEqual(server.mails.length, 1)
      assert.strictEqual(server.connections().opened, 1)
    })

    it.effect("a server that accepts DATA without recipients gets no message", function* () {
      for (const phase of ["mail", "rcpt"] as const) {
        const { kinds, server } = yield* given((now) =>
          now.phase === phase ? "550 5.1.1 no such user" : now.phase === "data" ? "354 go on" : undefined,
        )
        assert.deepStrictEqual(kinds, all("bounced invalid_recipient"))
        assert.deepStrictEqual(server.mails, [])
        // Anything sent after the 354 would be the body.
        if (pipelining) assert.strictEqual(server.lines.at(-1), "DATA")
      }
    })

    for (const reply of [
      "452 4.5.3 Too many recipients",
      "552 Too many recipients",
      "550 5.5.3 That will do",
    ] as const) {
      it.effect(`recipients above a server's limit follow in a second transaction: ${reply}`, function* () {
        const { kinds, server } = yield* given(({ index, phase }) =>
          phase === "rcpt" && index >= 2 ? reply : undefined,
        )
        assert.deepStrictEqual(kinds, all("delivered"))
        assert.deepStrictEqual(
          server.mails.map((mail) => mail.to),
          [TO.slice(0, 2), TO.slice(2)],
        )
      })

      it.effect(`all recipients are deferred when a limit leaves none: ${reply}`, function* () {
        const { kinds } = yield* given(({ phase }) => (phase === "rcpt" ? reply : undefined))
        assert.deepStrictEqual(kinds, all("deferred unavailable"))
      })
    }
  })
}

describe("one bounced recipient never harms another", () => {
  const suppressed = (phase: Phase, to: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ script: at(phase, "550 5.1.1 no such user") })
      return (yield* deliver(server, outgoing(), to)).map((outcome) => outcome.suppress)
    })
  it.effect("a reply suppresses an address only if it concerns that address alone", function* () {
    assert.deepStrictEqual(yield* suppressed("rcpt", TO), ["now", "never", "never"])
    assert.deepStrictEqual(yield* suppressed("dot", TO), ["never", "never", "never"])
    assert.deepStrictEqual(yield* suppressed("dot", TO.slice(0, 1)), ["now"])
    assert.deepStrictEqual(yield* suppressed("mail", TO.slice(0, 1)), ["never"])
  })
})

describe("a session that cannot be opened", () => {
  it.effect("is never final for the recipients, even with a 5xx", function* () {
    for (const phase of ["greeting", "ehlo"] as const) {
      const server = yield* SmtpServer.listen({ script: at(phase, "554 5.7.1 you are on a blocklist") })
      const outcomes = yield* deliver(server)
      assert.isTrue(
        outcomes.every((outcome) => outcome.status === "deferred" && outcome.suppress === "never"),
        phase,
      )
    }
  })

  it.effect("a refused connection defers", function* () {
    const gone = yield* Effect.scoped(SmtpServer.listen())
    assert.deepStrictEqual((yield* deliver(gone)).map(short), all("deferred connection"))
  })

  it.effect("a server without EHLO is greeted with HELO", function* () {
    const server = yield* SmtpServer.listen({ helo_only: true, pipelining: false })
    assert.deepStrictEqual((yield* deliver(server)).map(short), all("delivered"))
    assert.deepStrictEqual(server.mails[0]?.to, TO)
  })

  it.effect("a server that does not speak SMTP defers", function* () {
    const server = yield* SmtpServer.listen({ script: at("greeting", "9HTTP/1.1 400 Bad Request") })
    assert.deepStrictEqual((yield* deliver(server)).map(short), all("deferred connection"))
  })
})
