import { Effect, Exit, Layer, Scope } from "effect"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

interface Fact {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the timeline of a message", (it) => {
  it.effect("shows every attempt with reply, host, TLS and duration, and a lost attempt", function* () {
    const { call } = yield* signUp({ domains: ["acme.test"] })
    let waits = false
    const server = yield* SmtpServer.listen({
      starttls: SmtpServer.certified,
      script: ({ connection, phase, transaction }) => {
        if (phase !== "dot" || connection > 0) return undefined
        if (transaction === 0) return "451 4.3.0 Try this one again, please"
        waits = true
        return "hang"
      },
    })
    const { url } = yield* Database.Fresh
    const relay = RelayTransport.layer(
      {
        host: "localhost",
        port: server.port,
        tls: { mode: "required", verify: true },
        login: undefined,
        confirm: "none",
        connections: 1,
      },
      { name: "waybill.test", ca: SmtpServer.authority },
    )
    const worker = Effect.gen(function* () {
      const scope = yield* Scope.fork(yield* Effect.scope)
      const layers = World.worker(url, { relay }, { nextAttempt: World.retrySoon, stopWithin: "300 millis" })
      yield* Layer.buildWithScope(layers, scope)
      return Scope.close(scope, Exit.void)
    })
    const stop = yield* worker
    const sent = yield* call("POST", "/v1/email/send", {
      from: "hi@acme.test",
      to: "ana@example.org",
      subject: "x",
      text: "x",
    })
    const path = `/v1/email/logs/${sent.json.id}`
    yield* World.until(
      Effect.sync(() => waits),
      (hangs) => hangs,
    )
    // The node is killed while the second attempt waits for its reply, and another one starts.
    yield* stop
    yield* worker
    const { json: record } = yield* World.until(call("GET", path), ({ json }) => json.status === "delivered")
    const { json } = yield* call("GET", `${path}/events`)
    const facts = json.data as ReadonlyArray<Fact>
    assert.deepStrictEqual(
      facts.map(({ type }) => type),
      ["email.queued", "email.delivery_delayed", "email.attempt_lost", "email.delivered"],
    )
    const [, deferred, lost, delivered] = facts
    assert.deepInclude(deferred?.data, {
      recipient: "ana@example.org",
      code: 451,
      enhanced_code: "4.3.0",
      response: "Try this one again, please",
      mx: "localhost",
      tls: "TLSv1.3",
      attempt: 1,
    })
    assert.deepInclude(lost?.data, { recipient: "ana@example.org", attempt: 2 })
    assert.deepInclude(delivered?.data, { code: 250, mx: "localhost", tls: "TLSv1.3", attempt: 3 })
    for (const fact of [deferred, delivered]) assert.isAtLeast(Number(fact?.data["duration_ms"]), 0)
    assert.deepStrictEqual([record.attempts, record.recipients[0].attempts], [3, 3])
    assert.deepInclude(record.recipients[0].smtp, { code: 250, mx: "localhost", tls: "TLSv1.3" })
    // Each attempt sent the same mail with the same Message-ID.
    assert.strictEqual(server.counts.get(`${sent.json.id}@acme.test`), 1)
  })
})
