import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Leases from "@waybill/store/outbox/Leases"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const CLAIM = {
  kind: "delivery",
  owner: "worker",
  token: "token",
  limit: 1,
  without: new Set<string>(),
  after: "",
} as const

layer(World.layer, { excludeTestServices: true })(
  "the lease of a mail that takes longer than its account's move",
  (it) => {
    it.effect("is renewed in the new cell, by its token alone", function* () {
      yield* CellSchema.make("cell_b")
      const account_id = yield* World.accountIn("cell_b")
      const sent = yield* World.send(yield* World.verifiedDomain("acme.test", account_id))
      const { rows } = yield* inCell("cell_b", Leases.claim(CLAIM))
      // The worker claimed it in the former cell, where it is no more.
      assert.deepStrictEqual([...(yield* Leases.renew(rows))], [])
      assert.deepStrictEqual([...(yield* Leases.renewMoved(rows))], [sent.stream_id])
      const others = rows.map((row) => ({ ...row, token: "other" }))
      assert.deepStrictEqual([...(yield* Leases.renewMoved(others))], [])
    })
  },
)
