import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Sandbox from "@waybill/store/content/Sandbox"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { Clock, Effect, Layer, Option } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const to = (...addresses: ReadonlyArray<string>) => ({ to: addresses.map((address) => ({ address })) })
const capture = Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer))

const start = Effect.fnUntraced(function* (relay?: SmtpServer.SmtpServer) {
  const { url } = yield* Database.Fresh
  const kept = yield* Layer.build(capture)
  const layers = { capture: Layer.succeedContext(kept) }
  yield* Layer.build(
    World.worker(url, relay === undefined ? layers : { ...layers, relay: World.relay(relay) }, {
      nextAttempt: World.retrySoon,
    }),
  )
})

const statuses = (ref: World.MessageRef) =>
  Effect.map(World.settled(ref), ({ state }) =>
    state._tag === "Message" ? state.recipients.map(({ status }) => status) : [],
  )

const chooses = Effect.fnUntraced(function* (from: World.SendingDomain, transport: DomainState.TransportChoice) {
  const store = yield* EventStore
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const ref = { account_id: from.account_id, stream_id: from.domain_id }
  yield* Effect.orDie(store.commit(Domain, ref, Domain.chooseTransport(now, transport)))
})

layer(World.layer, { excludeTestServices: true })("the choice of a transport", (it) => {
  it.effect("keeps mail in the sandbox, also from a domain without a key", function* () {
    yield* start()
    const from = yield* World.verifiedDomain("nokey.test", undefined, false)
    const ref = yield* World.send(from, to("ana@example.org", "bob@example.org"))
    assert.deepStrictEqual(yield* statuses(ref), ["delivered", "delivered"])
    const kept = Option.getOrThrow(yield* Sandbox.find(ref.account_id, ref.stream_id))
    assert.deepStrictEqual(
      [kept.recipients, kept.subject, Buffer.from(kept.bytes).toString().includes("DKIM-Signature")],
      [["ana@example.org", "bob@example.org"], "Your receipt", false],
    )
  })

  it.effect("carries the simulator's outcomes through the whole service", function* () {
    yield* start()
    const from = yield* World.verifiedDomain()
    const roles = ["delivered", "bounced", "deferred", "complained", "suppressed"]
    const addresses = roles.map((name) => `${name}@sim.test`)
    // Once more, since a simulator that suppressed its recipient would work only once.
    for (const _ of [1, 2]) {
      const ref = yield* World.send(from, to(...addresses))
      yield* World.settled(ref)
      assert.deepStrictEqual((yield* World.timeline(ref)).toSorted(), [
        "EmailBounced",
        "EmailComplained",
        "EmailDeferred",
        "EmailDeferred",
        "EmailDelivered",
        "EmailDelivered",
        "EmailDelivered",
        "EmailQueued",
        "EmailSuppressed",
      ])
      assert.deepStrictEqual(yield* statuses(ref), ["delivered", "bounced", "delivered", "complained", "suppressed"])
      const simulated = (yield* World.history(ref)).history.flatMap(({ event }) =>
        "simulated" in event ? [[event._tag, "would_suppress" in event ? event.would_suppress : null]] : [],
      )
      assert.sameDeepMembers(simulated, [
        ["EmailBounced", "hard_bounce"],
        ["EmailComplained", "complaint"],
        ["EmailSuppressed", null],
      ])
    }
    assert.deepStrictEqual((yield* Suppressions.list({ account_id: from.account_id, limit: 10 })).data, [])
  })

  it.effect("follows the domain before the instance", function* () {
    const server = yield* SmtpServer.listen()
    yield* start(server)
    const from = yield* World.verifiedDomain()
    const relayed = yield* World.send(from)
    yield* World.settled(relayed)
    yield* chooses(from, "capture")
    const captured = yield* World.send(from)
    yield* World.settled(captured)
    assert.deepStrictEqual(
      [server.mails.length, Option.isSome(yield* Sandbox.find(from.account_id, relayed.stream_id))],
      [1, false],
    )
    const kept = Option.getOrThrow(yield* Sandbox.find(from.account_id, captured.stream_id))
    assert.include(Buffer.from(kept.bytes).toString(), "DKIM-Signature")
  })

  it.effect("defers mail of a domain whose transport is not configured", function* () {
    yield* start()
    const from = yield* World.verifiedDomain()
    yield* chooses(from, "relay")
    const ref = yield* World.send(from)
    const { state } = yield* World.settled(ref)
    const [recipient] = state._tag === "Message" ? state.recipients : []
    assert.include(recipient?.smtp?.response ?? "", `no transport "relay"`)
    assert.isTrue((yield* World.timeline(ref)).includes("EmailDeferred"))
  })
})
