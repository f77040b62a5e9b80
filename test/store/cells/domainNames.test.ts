import * as Domain from "@waybill/domain/domain/Domain"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as AccountNames from "@waybill/store/routing/directory/AccountNames"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Sql } from "@waybill/store/postgres/Sql"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as Domains from "@waybill/store/readmodels/Domains"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Duration, Effect, Option } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { senderIn } from "../../server/cells/support.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const receiver = (name: string) => Domains.receiver(name, true)

/** Domains in the directory, without their accounts. */
const listed = Effect.gen(function* () {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly name: string }>`SELECT name FROM account_names WHERE kind = 'domain' ORDER BY name`
  return rows.map(({ name }) => name.split(" ")[0])
})

const move = (account_id: World.SendingDomain["account_id"], to: string) =>
  AccountMove.move(account_id, to, { noticedAfter: Duration.millis(100) })

layer(World.layer, { excludeTestServices: true })("domains in the directory of cells", (it) => {
  it.effect("lead to their account through its moves, until it removes them", function* () {
    const { commit } = yield* EventStore
    yield* CellSchema.make("cell_b")
    yield* CellSchema.make("cell_c")
    const { account_id, domain_id } = yield* senderIn("public", "moving.test")
    for (const to of ["cell_b", "cell_c", "public", "cell_c"]) {
      yield* move(account_id, to)
      assert.deepStrictEqual(yield* receiver("moving.test"), Option.some(account_id))
    }
    // A name that begins alike is another one.
    assert.deepStrictEqual(yield* receiver("moving"), Option.none())
    yield* Effect.orDie(commit(Domain, { account_id, stream_id: domain_id }, Domain.remove(yield* NewIds.now)))
    assert.deepStrictEqual(yield* receiver("moving.test"), Option.none())
  })

  it.effect("are made those of the cell's accounts, again and again", function* () {
    const sql = yield* Sql
    const { commit } = yield* EventStore
    yield* CellSchema.make("cell_d")
    const kept = yield* senderIn("cell_d", "kept.test")
    const removed = yield* senderIn("cell_d", "removed.test")
    const ref = { account_id: removed.account_id, stream_id: removed.domain_id }
    yield* Effect.orDie(commit(Domain, ref, Domain.remove(yield* NewIds.now)))
    yield* inCell("cell_d", AccountNames.listDomains())
    assert.includeMembers([...(yield* listed)], ["kept.test", "removed.test"])
    // As after an upgrade, or a restore of home: nobody knows yet whether nobody receives.
    yield* sql`DELETE FROM account_names WHERE kind = 'domain' AND account_id = ${kept.account_id}`
    yield* sql`UPDATE cells SET domains_listed_at = NULL WHERE name = 'cell_d'`
    assert.instanceOf(yield* Effect.flip(receiver("nobody.test")), StoreUnavailable)
    for (const _ of [1, 2]) {
      yield* inCell("cell_d", AccountNames.listDomains())
      assert.deepStrictEqual(yield* receiver("nobody.test"), Option.none())
      assert.deepStrictEqual(yield* receiver("kept.test"), Option.some(kept.account_id))
      assert.include(yield* listed, "kept.test")
      assert.notInclude(yield* listed, "removed.test")
      yield* sql`UPDATE cells SET domains_listed_at = now() - interval '2 hours' WHERE name = 'cell_d'`
    }
  })
})
