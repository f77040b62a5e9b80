import { Effect, Layer } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { type Answer, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** An SMTP server that receives the whole message and replies only when told to. */
const slowServer = Effect.gen(function* () {
  const answers: Array<() => void> = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, _, done) => stream.resume().on("end", () => answers.push(done)),
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.promise(() => new Promise<void>((resolve) => server.close(resolve))),
  )
  const { port } = server.server.address() as AddressInfo
  return { at: { host: "127.0.0.1", port }, holds: Effect.sync(() => answers.length), answers }
})

/** Creates an account with a domain, and a worker that relays mail. */
const setUp = Effect.fnUntraced(function* (at: Parameters<typeof World.relay>[0]) {
  const customer = yield* signUp({ domains: ["acme.test"] })
  const { url } = yield* Database.Fresh
  yield* Layer.build(World.worker(url, { relay: World.relay(at) }))
  const becomes = (id: string, status: string) => World.until(customer.log(id), (record) => record.status === status)
  return { ...customer, becomes }
})

const refusal = ({ json, status }: Answer) => [status, json.error?.reason, json.error?.message]
const TOO_LATE = [
  422,
  "not_cancelable",
  "This email is being delivered, so it can no longer be canceled or rescheduled.",
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "an email that is being delivered",
  (it) => {
    it.effect("cannot be canceled or rescheduled, because a server may have it already", function* () {
      const server = yield* slowServer
      const { becomes, call, send } = yield* setUp(server.at)
      const id = yield* send()
      yield* World.until(server.holds, (held) => held === 1)
      assert.deepStrictEqual(refusal(yield* call("POST", `/v1/email/${id}/cancel`)), TOO_LATE)
      assert.deepStrictEqual(refusal(yield* call("PATCH", `/v1/email/${id}`, { scheduled_at: inAnHour() })), TOO_LATE)
      server.answers[0]?.()
      const { attempts, version } = yield* becomes(id, "delivered")
      assert.deepStrictEqual([attempts, version, server.answers.length], [1, 2, 1])
      assert.strictEqual((yield* call("GET", "/v1/account")).json.usage.emails, 1)
    })

    it.effect("is resent only to recipients it did not reach, by a key with the scope", function* () {
      const server = yield* SmtpServer.listen({
        script: ({ line, phase }) =>
          phase === "rcpt" && /bo@/u.test(line) ? "550 5.7.1 not by our policy" : undefined,
      })
      const { becomes, call, keyWith, send, world } = yield* setUp(server)
      const id = yield* send({ to: ["ana@example.org", "bo@example.org"] })
      const { recipient_counts } = yield* becomes(id, "delivered")
      assert.deepStrictEqual(recipient_counts, { delivered: 1, bounced: 1 })
      server.setScript(undefined)
      const resend = (key: string) => world.request("POST", `/v1/email/${id}/resend`, { key })
      const forbidden = yield* resend(yield* keyWith({ domain: "other.test" }))
      assert.deepStrictEqual(refusal(forbidden).slice(0, 2), [403, "domain_not_allowed"])
      const { json: copy } = yield* resend(yield* keyWith({ domain: "acme.test" }))
      assert.deepStrictEqual((yield* becomes(copy.id, "delivered")).to, ["bo@example.org"])
      assert.deepStrictEqual(
        server.mails.map(({ to }) => to),
        [["ana@example.org"], ["bo@example.org"]],
      )
      assert.deepStrictEqual(refusal(yield* call("POST", `/v1/email/${copy.id}/resend`)), [
        422,
        "nothing_to_resend",
        "There is nothing to resend: 1 of 1 recipients have received this email.",
      ])
      assert.strictEqual((yield* call("GET", "/v1/account")).json.usage.emails, 3)
    })

    it.effect("cannot be canceled after delivery or while it waits for a retry", function* () {
      const server = yield* SmtpServer.listen({
        script: ({ line, phase }) => (phase === "rcpt" && /bo@/u.test(line) ? "451 4.3.0 not now" : undefined),
      })
      const { becomes, call, send } = yield* setUp(server)
      const emails = { delivered: yield* send(), deferred: yield* send({ to: "bo@example.org" }) }
      for (const [status, id] of Object.entries(emails)) {
        yield* becomes(id, status)
        const words = `Only a queued email can be canceled or rescheduled; this one is ${status}.`
        for (const change of [
          call("POST", `/v1/email/${id}/cancel`),
          call("PATCH", `/v1/email/${id}`, { scheduled_at: inAnHour() }),
        ])
          assert.deepStrictEqual(refusal(yield* change), [422, "not_cancelable", words])
        assert.strictEqual((yield* becomes(id, status)).version, 2)
      }
    })
  },
)
