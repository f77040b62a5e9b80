import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as Domains from "@waybill/store/readmodels/Domains"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Effect, Option } from "effect"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

const TIMEOUT = { timeout: 300_000 }
const TWICE = "twice.test"

layer(World.layer, { excludeTestServices: true })("a domain that accounts in two cells have verified", (it) => {
  it.effect(
    "receives for the one that verified it first, and waits while a cell cannot say",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_b", server.url())
      const first = yield* senderIn("cell_b", TWICE)
      const second = yield* senderIn("public", TWICE)
      const receiver = (known?: Domains.KnownReceiver) => Domains.receiver(TWICE, true, known)
      for (const known of [undefined, { account_id: second.account_id, isFresh: false }])
        assert.deepStrictEqual(yield* receiver(known), Option.some(first.account_id))
      yield* server.stop
      assert.instanceOf(yield* Effect.flip(receiver()), StoreUnavailable)
      for (const isFresh of [true, false]) {
        const known = { account_id: second.account_id, isFresh }
        assert.deepStrictEqual(yield* receiver(known), Option.some(second.account_id))
      }
    },
    TIMEOUT,
  )
})
