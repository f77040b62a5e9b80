import * as Account from "@waybill/domain/account/Account"
import * as Domain from "@waybill/domain/domain/Domain"
import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Layer, Option, Schema } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const TIMEOUT = 60_000
const Row = Schema.fromJsonString(Schema.Struct({ name: Schema.String, transport: Schema.String }))

const waybill = (...args: ReadonlyArray<string>) => CommandLine.toEnd("domains", ...args)

/** Creates the account that the commands require. */
const sender = Effect.gen(function* () {
  const from = yield* World.verifiedDomain()
  const { commit } = yield* EventStore
  const { account_id } = from
  const born = Account.create(yield* NewIds.now, account_id, "Acme", "business")
  yield* Effect.orDie(commit(Account, { account_id, stream_id: account_id }, born))
  return from
})

layer(World.layer, { excludeTestServices: true })("waybill domains transport", (it) => {
  it.effect(
    "changes a domain's transport from the next delivery on, and back",
    function* () {
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen()
      const capture = Layer.unwrap(Effect.map(Sandbox.recorder, SandboxTransport.layer))
      const kept = yield* Layer.build(capture)
      yield* Layer.build(World.worker(url, { capture: Layer.succeedContext(kept), relay: World.relay(server) }))
      const from = yield* sender
      const captured = Effect.gen(function* () {
        const ref = yield* World.send(from)
        yield* World.settled(ref)
        return Option.isSome(yield* Sandbox.find(from.account_id, ref.stream_id))
      })
      assert.isFalse(yield* captured)
      const chosen = yield* waybill(
        "transport",
        "--account",
        from.account_id,
        from.name.toUpperCase(),
        "sandbox",
        "--json",
      )
      assert.strictEqual(chosen.code, 0, chosen.output)
      const row = yield* Schema.decodeEffect(Row)(chosen.output)
      assert.deepStrictEqual([row.name, row.transport], [from.name, "sandbox"])
      assert.isTrue(yield* captured)
      assert.strictEqual((yield* waybill("transport", "--account", from.account_id, from.domain_id, "default")).code, 0)
      assert.isFalse(yield* captured)
      assert.strictEqual(server.mails.length, 2)

      const { load } = yield* EventStore
      const { history } = yield* load(Domain, { account_id: from.account_id, stream_id: from.domain_id })
      assert.deepStrictEqual(
        history
          .map(({ event }) => event as Domain.Event)
          .map((event) => (event._tag === "DomainTransportChanged" ? event.transport : event._tag)),
        ["DomainAdded", "DomainVerified", "capture", null],
      )
    },
    TIMEOUT,
  )

  it.effect(
    "records no second event for the same choice, and warns about transports that cannot work",
    function* () {
      const from = yield* sender
      for (const _ of [1, 2]) {
        const { code, output } = yield* waybill("transport", "--account", from.account_id, from.name, "relay")
        assert.strictEqual(code, 0, output)
        assert.include(output, "SMTP_URL is not set here")
        assert.include(output, "acme.test is a reserved name")
      }
      const { load } = yield* EventStore
      const { history } = yield* load(Domain, { account_id: from.account_id, stream_id: from.domain_id })
      assert.strictEqual(history.filter(({ event }) => event._tag === "DomainTransportChanged").length, 1)
      const { output } = yield* waybill("list", "--account", from.account_id)
      assert.match(output, /acme\.test +verified +relay/)
    },
    TIMEOUT,
  )

  it.effect(
    "refuses an unknown domain and an unknown transport",
    function* () {
      const from = yield* sender
      const strange = yield* waybill("transport", "--account", from.account_id, "strange.test", "relay")
      assert.deepStrictEqual([strange.code, strange.output.includes("No domain with this name")], [1, true])
      assert.notStrictEqual((yield* waybill("transport", "--account", from.account_id, from.name, "pigeon")).code, 0)
    },
    TIMEOUT,
  )
})
