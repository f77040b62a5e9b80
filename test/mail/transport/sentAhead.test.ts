import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as Transport from "@waybill/mail/transport/Transport"
import { Effect } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { impatient, lines, outgoing, PATIENT, relayTo, short } from "./outgoing.ts"

const MAILS = 8
const idOf = (nth: number) => `${nth}@acme.test`

/** Delivers messages at once over one connection, and returns their outcomes in order. */
const deliverAll = (server: SmtpServer.SmtpServer, timeouts = PATIENT) =>
  Effect.gen(function* () {
    const transport = yield* Transport.Transport
    return yield* Effect.forEach(
      Array.from({ length: MAILS }, (_, nth) => nth),
      (nth) => {
        const bytes = lines("From: hi@acme.test", `Message-ID: <${idOf(nth)}>`, "", "Hello")
        return Effect.map(transport.deliver(outgoing({ bytes }), ["ana@example.org"]), ([outcome]) => short(outcome))
      },
      { concurrency: "unbounded" },
    )
  }).pipe(Effect.provide(RelayTransport.layer(relayTo(server, { connections: 1 }), { name: "waybill.test", timeouts })))

const DELIVERED = Array.from({ length: MAILS }, () => "delivered")
const allOnce = (server: SmtpServer.SmtpServer) => DELIVERED.map((_, nth) => server.counts.get(idOf(nth)))
const ONCE = DELIVERED.map(() => 1)

describe("messages for a busy connection", () => {
  it.live("begin with the end of the one before", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      assert.deepStrictEqual(yield* deliverAll(server), DELIVERED)
      assert.deepStrictEqual(allOnce(server), ONCE)
      assert.strictEqual(server.ahead(), MAILS - 1)
      assert.strictEqual(server.connections().opened, 1)
    }).pipe(Effect.scoped),
  )

  it.live("wait for the answer to the one before, if the server has no PIPELINING", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({ pipelining: false })
      assert.deepStrictEqual(yield* deliverAll(server), DELIVERED)
      assert.deepStrictEqual([server.ahead(), server.violations], [0, []])
    }).pipe(Effect.scoped),
  )

  it.live("are not affected by refusals of others", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ phase, transaction }) =>
          phase === "dot" && transaction === 1
            ? "554 5.7.1 spam"
            : phase === "mail" && transaction === 3
              ? "550 5.1.8 not this sender"
              : phase === "rcpt" && transaction === 5
                ? "550 5.1.1 nobody"
                : undefined,
      })
      const outcomes = yield* deliverAll(server)
      const delivered = outcomes.map((outcome) => (outcome === "delivered" ? 1 : undefined))
      assert.strictEqual(outcomes.filter((outcome) => outcome?.startsWith("bounced")).length, 3, `${outcomes}`)
      assert.deepStrictEqual(allOnce(server), delivered)
      assert.isAbove(server.ahead(), 0)
    }).pipe(Effect.scoped),
  )

  const STORED_TWICE_NEVER = [
    ["an answer is lost", "store-then-drop", "deferred lost_answer"],
    ["the connection ends instead of an answer", "close", "deferred lost_answer"],
  ] as const
  for (const [name, action, expected] of STORED_TWICE_NEVER) {
    it.live(`go over another connection, once each, when ${name}`, () =>
      Effect.gen(function* () {
        const server = yield* SmtpServer.listen({
          script: ({ connection, phase, transaction }) =>
            connection === 0 && phase === "dot" && transaction === 2 ? action : undefined,
        })
        const outcomes = yield* deliverAll(server)
        const [only, ...others] = outcomes.filter((outcome) => outcome !== "delivered")
        assert.deepStrictEqual([only, others], [expected, []])
        const lost = outcomes.indexOf(expected)
        const isStored = action === "store-then-drop"
        assert.deepStrictEqual(
          allOnce(server),
          ONCE.map((once, nth) => (nth === lost && !isStored ? undefined : once)),
        )
      }).pipe(Effect.scoped),
    )
  }

  it.live("are put back without an attempt when the server asks for a pause", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ phase, transaction }) => (phase === "dot" && transaction === 2 ? "421 4.3.2 closing" : undefined),
      })
      const outcomes = yield* deliverAll(server)
      assert.deepStrictEqual(outcomes.toSorted(), [
        "deferred cooling_down",
        "deferred cooling_down",
        "deferred cooling_down",
        "deferred cooling_down",
        "deferred cooling_down",
        "deferred throttled",
        "delivered",
        "delivered",
      ])
    }).pipe(Effect.scoped),
  )

  it.live("wait for their answer no longer than for it alone", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ connection, phase, transaction }) =>
          connection === 0 && phase === "dot" && transaction === 0 ? "store-then-hang" : undefined,
      })
      const outcomes = yield* deliverAll(server, { ...impatient("end_of_data_ms", 1_000), mail_ms: 50 })
      // Had the time of the second message begun with its commands, the first one's answer would have had too little.
      assert.strictEqual(outcomes[0], "deferred lost_answer")
      assert.deepStrictEqual(outcomes.slice(1), DELIVERED.slice(1))
      assert.deepStrictEqual(allOnce(server), ONCE)
    }).pipe(Effect.scoped),
  )
})
