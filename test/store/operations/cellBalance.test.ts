import type { AccountId } from "@waybill/domain/values/Id"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as CellBalance from "@waybill/store/operations/CellBalance"
import { Sql } from "@waybill/store/postgres/Sql"
import { Cells } from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Clock, Effect, Layer } from "effect"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"

const load = (account: string, cell: string, mails: number): CellBalance.AccountLoad => ({
  account_id: account as AccountId,
  cell,
  mails,
})
const moves = (
  cells: Readonly<Record<string, "open" | "full" | "draining">>,
  accounts: ReadonlyArray<CellBalance.AccountLoad>,
) => CellBalance.propose(new Map(Object.entries(cells)), accounts).map(({ account_id, to }) => `${account_id} to ${to}`)

describe("a proposal", () => {
  it("evens out the mail of cells with few moves", () => {
    const accounts = [load("a", "x", 500), load("b", "x", 300), load("c", "x", 200), load("d", "y", 0)]
    assert.deepStrictEqual(moves({ x: "open", y: "open" }, accounts), ["a to y"])
  })

  it("leaves cells alone that differ by little, and one account that is most of the load", () => {
    assert.deepStrictEqual(moves({ x: "open", y: "open" }, [load("a", "x", 105), load("b", "y", 100)]), [])
    assert.deepStrictEqual(moves({ x: "open", y: "open" }, [load("a", "x", 1_000), load("b", "y", 10)]), [])
  })

  it("empties a cell that is draining, and gives nothing to one that is full", () => {
    const accounts = [load("a", "x", 5), load("b", "x", 0), load("c", "z", 0)]
    assert.deepStrictEqual(moves({ x: "draining", y: "open", z: "full" }, accounts), ["a to y", "b to y"])
  })

  it("names no more moves than can be looked through", () => {
    const accounts = Array.from({ length: 100 }, (_, nth) => load(`a${nth}`, "x", 10))
    assert.lengthOf(moves({ x: "draining", y: "open" }, accounts), CellBalance.MAX_MOVES)
  })
})

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

layer(Store, { excludeTestServices: true })("waybill cells balance", (it) => {
  it.effect(
    "shows moves, and makes them only with --apply",
    function* () {
      yield* CellSchema.make("cell_b")
      const month = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 7)
      const withMail = Effect.fnUntraced(function* (cell: string, mails: number) {
        const account_id = yield* World.accountIn(cell)
        const sql = yield* Sql
        yield* inCell(
          cell,
          sql`INSERT INTO monthly_usage (account_id, month, accepted) VALUES (${account_id}, ${month}, ${mails})`,
        )
        return account_id
      })
      const [large, small] = [yield* withMail("public", 400), yield* withMail("public", 300)]
      const none = yield* withMail("cell_b", 1)
      const { of, refresh } = yield* Cells
      const shown = yield* CommandLine.toEnd("cells", "balance")
      assert.include(shown.output, small)
      assert.notInclude(shown.output, large)
      yield* refresh
      assert.strictEqual(yield* of(small), "public")
      const applied = yield* CommandLine.toEnd("cells", "balance", "--apply")
      assert.strictEqual(applied.code, 0, applied.output)
      yield* refresh
      assert.deepStrictEqual([yield* of(large), yield* of(small), yield* of(none)], ["public", "cell_b", "cell_b"])
      assert.include((yield* CommandLine.toEnd("cells", "balance")).output, "about as much mail")
    },
    { timeout: 120_000 },
  )
})
