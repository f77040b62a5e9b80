import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as DomainReports from "@waybill/store/domainreports/DomainReports"
import * as Domains from "@waybill/store/readmodels/Domains"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Effect, Option } from "effect"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

const TIMEOUT = { timeout: 600_000 }
const TWICE = "twice.test"

layer(World.layer, { excludeTestServices: true })("receiving domains of accounts on servers", (it) => {
  it.effect(
    "are found by the directory alone: only a server whose account has verified the domain is asked",
    function* () {
      const [server, unrelated] = [yield* CellServers.make, yield* CellServers.make]
      yield* ServerCell.make("cell_b", server.url())
      yield* ServerCell.make("cell_c", unrelated.url())
      const first = yield* senderIn("cell_b", TWICE)
      const second = yield* senderIn("public", TWICE)
      const other = yield* senderIn("cell_c", "other.test")
      const receiver = (name: string, known?: Domains.KnownReceiver) => Domains.receiver(name, true, known)
      yield* unrelated.stop
      // No process has looked for these before.
      for (const known of [undefined, { account_id: second.account_id, isFresh: false }])
        assert.deepStrictEqual(yield* receiver(TWICE, known), Option.some(first.account_id))
      assert.deepStrictEqual(yield* receiver("nobody.test"), Option.none())
      assert.deepStrictEqual((yield* DomainReports.targets([TWICE])).missing, [])
      assert.instanceOf(yield* Effect.flip(receiver("other.test")), StoreUnavailable)
      assert.deepStrictEqual((yield* DomainReports.targets([TWICE, "other.test"])).missing, ["cell_c"])
      yield* server.stop
      yield* unrelated.start
      yield* World.until(Effect.option(receiver("other.test")), Option.isSome)
      assert.deepStrictEqual(yield* receiver("other.test"), Option.some(other.account_id))
      assert.instanceOf(yield* Effect.flip(receiver(TWICE)), StoreUnavailable)
      for (const isFresh of [true, false])
        assert.deepStrictEqual(
          yield* receiver(TWICE, { account_id: second.account_id, isFresh }),
          Option.some(second.account_id),
        )
    },
    TIMEOUT,
  )
})
