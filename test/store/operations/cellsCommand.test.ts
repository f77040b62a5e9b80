import * as Cells from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Placement from "@waybill/store/cells/Placement"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as CellList from "@waybill/store/operations/CellList"
import { Effect, Fiber, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { blockedBackend, otherClient } from "../../support/postgres/otherClient.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as World from "../../support/world/World.ts"

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))
const TIMEOUT = { timeout: 60_000 }

const waybill = (...args: ReadonlyArray<string>) => CommandLine.toEnd("cells", ...args)

const json = (...args: ReadonlyArray<string>) =>
  Effect.map(waybill(...args, "--json"), ({ code, output }) => {
    assert.strictEqual(code, 0, output)
    return JSON.parse(output) as unknown
  })

const refusal = (...args: ReadonlyArray<string>) =>
  Effect.map(waybill(...args), ({ code, output }) => {
    assert.strictEqual(code, 1, output)
    return output
  })

const schemas = Effect.gen(function* () {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly name: string }>`
    SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'cell_%' ORDER BY 1`
  return rows.map(({ name }) => name)
})

layer(Store, { excludeTestServices: true })("cells command", (it) => {
  it.effect(
    "makes, lists, closes, reopens and removes a cell",
    function* () {
      const { refresh } = yield* Cells.Cells
      const made = yield* json("add", "cell_b")
      const columns = { name: "cell_b", state: "open", accounts: 0, emails: 0, lag: 0, node: null }
      assert.deepInclude(made as object, columns)
      yield* refresh
      yield* World.accountIn("cell_b")
      yield* World.account()
      const listed = (yield* json("list")) as Effect.Success<ReturnType<typeof CellList.list>>
      assert.deepStrictEqual(
        listed.map(({ accounts, name, state }) => [name, state, accounts]),
        [
          ["public", "open", 1],
          ["cell_b", "open", 1],
        ],
      )
      for (const { bytes } of listed) assert.isAbove(bytes ?? 0, 0)
      assert.include((yield* waybill("list")).output, "cell_b  open")

      assert.deepStrictEqual(yield* json("close", "cell_b"), { name: "cell_b", state: "full" })
      assert.strictEqual(yield* Placement.place("acc_1"), "public")
      assert.deepStrictEqual(yield* json("open", "cell_b"), { name: "cell_b", state: "open" })
      assert.deepStrictEqual(yield* json("close", "cell_b", "--drain"), { name: "cell_b", state: "draining" })

      yield* json("add", "cell_c")
      assert.deepStrictEqual(yield* json("close", "cell_c"), { name: "cell_c", state: "removed" })
      assert.deepStrictEqual(yield* schemas, ["cell_b"])
      yield* refresh
      assert.deepStrictEqual(yield* (yield* Cells.Cells).names, ["public", "cell_b"])
    },
    TIMEOUT,
  )

  it.effect(
    "goes on with a removal that was stopped",
    function* () {
      const sql = yield* Sql
      yield* CellSchema.make("cell_d")
      yield* sql`DELETE FROM cells WHERE name = 'cell_d'`
      assert.include(yield* refusal("close", "cell_d"), "there is no cell cell_d")
      yield* sql`COMMENT ON SCHEMA cell_d IS 'removed cell'`
      assert.deepStrictEqual(yield* json("close", "cell_d"), { name: "cell_d", state: "removed" })
      assert.notInclude(yield* schemas, "cell_d")
    },
    TIMEOUT,
  )

  it.effect(
    "refuses on a single Postgres what needs Citus",
    function* () {
      const message = "this database is a single Postgres without Citus"
      yield* CellSchema.make("cell_e")
      assert.include(yield* refusal("move", "cell_e", "--node", "node1:5432"), message)
      assert.include(yield* refusal("add", "cell_f", "--node", "node1:5432"), message)
      assert.notInclude(yield* schemas, "cell_f")
    },
    TIMEOUT,
  )

  it.effect(
    "refuses the name of a schema that Postgres, an extension or the work queue has",
    function* () {
      const refused = (name: string) =>
        `the name of a cell, here "${name}", is the name of a schema with another purpose`
      for (const name of [
        "public",
        "pg_toast",
        "pg_a",
        "information_schema",
        "graphile_worker",
        "citus",
        "citus_internal",
        "columnar",
        "columnar_internal",
        "partman",
        "cron",
      ])
        assert.strictEqual((yield* Effect.flip(CellSchema.make(name))).message, refused(name))
      assert.include(yield* refusal("add", "columnar"), refused("columnar"))
    },
    TIMEOUT,
  )

  it.effect("lists a cell that does not answer", function* () {
    yield* CellSchema.make("cell_g")
    const sql = yield* Sql
    yield* sql`ALTER TABLE cell_g.monthly_usage RENAME COLUMN accepted TO lost`
    const cells = yield* CellList.list()
    assert.deepInclude(
      cells.find(({ name }) => name === "cell_g"),
      { state: "open", accounts: null, emails: null, bytes: null, lag: null },
    )
    assert.isNotNull(cells[0]?.accounts)
  })

  it.effect(
    "gives a new account another cell if its own is removed at the same time",
    function* () {
      const { url } = yield* Database.Fresh
      const sql = yield* Sql
      yield* CellSchema.make("cell_p")
      yield* sql`UPDATE cells SET made_at = now() - interval '1 hour', state = 'open' WHERE name = 'cell_p'`
      yield* sql`UPDATE cells SET state = 'full' WHERE name <> 'cell_p'`
      yield* (yield* Cells.Cells).refresh
      const [closing, watcher] = [yield* otherClient(url), yield* otherClient(url)]
      yield* closing.query("BEGIN; LOCK TABLE account_cells IN SHARE ROW EXCLUSIVE MODE")
      yield* closing.query("DELETE FROM cells WHERE name = 'cell_p'")
      const placing = yield* Effect.forkChild(Placement.place("acc_2"))
      yield* blockedBackend(watcher)
      yield* closing.query("COMMIT")
      assert.strictEqual(yield* Fiber.join(placing), "public")
    },
    TIMEOUT,
  )
})
