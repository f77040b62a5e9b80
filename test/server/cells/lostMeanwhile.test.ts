import * as CellName from "@waybill/store/routing/CellName"
import * as Cells from "@waybill/store/routing/Cells"
import * as Placement from "@waybill/store/cells/Placement"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Reachable from "@waybill/store/routing/Reachable"
import * as Replay from "@waybill/store/rebuild/versions/Replay"
import { Deferred, Duration, Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { BO, CELLS, LEFT_OUT, TIMEOUT, lockTables, run, senderIn, suppress } from "./support.ts"

const cellsWithMail = Effect.gen(function* () {
  for (const cell of CELLS.slice(1)) yield* CellSchema.make(cell)
  const senders = yield* Effect.forEach(CELLS, (cell) => senderIn(cell))
  for (const { account_id } of senders) yield* suppress(account_id)
})

layer(World.layer, { excludeTestServices: true })("projections beside a cell whose tables are locked", (it) => {
  it.effect(
    "work on the others, name it, and fail",
    function* () {
      yield* cellsWithMail
      // The cell answers, because that it does is asked of other tables.
      yield* lockTables("cell_b", "suppressions", "projection_versions")
      for (const command of [
        ["status"],
        ["verify", "suppressions"],
        ["rebuild", "suppressions"],
        ["swap", "suppressions"],
      ]) {
        const { code, errors, output } = yield* run("projections", ...command, "--json").pipe(
          Effect.provideService(Replay.LOCK_LIMIT, Duration.millis(500)),
        )
        assert.strictEqual(code, 1, output)
        assert.include(errors, LEFT_OUT)
        assert.include(output, "cell_c")
      }
    },
    TIMEOUT,
  )
})

layer(World.layer, { excludeTestServices: true })("work on a cell that is lost meanwhile", (it) => {
  it.effect("is given up, also if it would not end", function* () {
    let asked = 0
    const isGivenUp = yield* Deferred.make<void>()
    const { results, unreachable } = yield* Reachable.inEach([
      {
        name: "cell_b",
        answers: Effect.succeed(true),
        work: Effect.succeed(1),
      },
      {
        name: "cell_c",
        answers: Effect.suspend(() => Effect.succeed(++asked === 1)),
        work: Effect.onInterrupt(Effect.never, () => Deferred.succeed(isGivenUp, undefined)),
      },
    ]).pipe(Effect.provideService(Reachable.ASK_EVERY, Duration.millis(1)))
    assert.deepStrictEqual([results, unreachable], [[["cell_b", 1]], ["cell_c"]])
    yield* Deferred.await(isGivenUp)
  })
})

layer(World.layer, { excludeTestServices: true })("a new account", (it) => {
  it.effect("gets no cell that does not answer", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_b")
    yield* sql`UPDATE cells SET made_at = now() - interval '1 minute'`
    yield* World.account()
    const place = Effect.flatMap(NewIds.newId("AccountId"), (id) => Placement.place(id))
    assert.strictEqual(yield* place, "cell_b")
    yield* lockTables("cell_b", "accounts")
    assert.strictEqual(yield* place, "public")
  })
})

layer(World.layer, { excludeTestServices: true })("an erasure beside a rebuild", (it) => {
  it.effect(
    "erases in the other cells, names the one with the rebuild, and fails",
    function* () {
      yield* cellsWithMail
      const { url } = yield* Database.Fresh
      const rebuilding = Replay.lockReadModel("suppressions").pipe(
        Effect.andThen(run("erase", BO, "--yes", "--json")),
        Effect.scoped,
        // A rebuild of a cell on a node of Citus has its locks there.
        Effect.provide(Replay.Replay.layer(CellName.urlOf(url, "cell_b"), yield* Cells.urlOf(url, "cell_b"))),
      )
      const beside = yield* rebuilding
      assert.strictEqual(beside.code, 1, beside.output)
      assert.include(beside.errors, "The cell cell_b was left out: suppressions is being rebuilt")
      assert.deepInclude(JSON.parse(beside.output), {
        streams: 2,
        refused: [{ cell: "cell_b", why: "suppressions is being rebuilt: try again when the rebuild has ended" }],
      })
      const after = yield* run("erase", BO, "--yes", "--json")
      assert.strictEqual(after.code, 0, after.errors)
      assert.deepInclude(JSON.parse(after.output), { streams: 1 })
    },
    TIMEOUT,
  )
})
