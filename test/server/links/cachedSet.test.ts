import * as Account from "@waybill/domain/account/Account"
import type { AccountId } from "@waybill/domain/values/Id"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Duration, Effect } from "effect"
import { cachedSet } from "../../../apps/server/src/process/cachedSet.ts"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { lockTables } from "../cells/support.ts"

const followLinks = Effect.fnUntraced(function* (account_id: AccountId, followed: boolean) {
  const { commit } = yield* EventStore
  const change = Account.changeLinks(yield* NewIds.now, followed)
  yield* Effect.orDie(commit(Account, { account_id, stream_id: account_id }, change))
})

layer(World.layer, { excludeTestServices: true })("a cached set of names", (it) => {
  it.effect("has those of all cells at once, and changes with one cell while another one hangs", () =>
    Effect.gen(function* () {
      yield* CellSchema.make("cell_b")
      const [ofFirst, ofOther] = [yield* World.accountIn("public"), yield* World.accountIn("cell_b")]
      for (const account_id of [ofFirst, ofOther]) yield* followLinks(account_id, false)
      const { has } = yield* cachedSet("accounts", Duration.millis(50), Accounts.withLinksStopped())
      assert.deepStrictEqual([ofFirst, ofOther].map(has), [true, true])
      yield* lockTables("cell_b", "accounts")
      yield* followLinks(ofFirst, true)
      yield* World.until(
        Effect.sync(() => has(ofFirst)),
        (isStopped) => !isStopped,
      )
      assert.isTrue(has(ofOther))
    }).pipe(Effect.scoped),
  )
})
