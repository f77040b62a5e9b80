import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as Cells from "@waybill/store/routing/Cells"
import * as Directory from "@waybill/store/routing/directory/Directory"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as StoreDatabase from "@waybill/store/database/Database"
import { PgClient } from "@effect/sql-pg"
import { Cause, Context, Duration, Effect, Exit, Fiber, Layer, Option, type Redacted, References } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import { id } from "../../../support/history.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { faultProxy } from "../../../support/postgres/faultProxy.ts"
import { blockedBackend, otherClient } from "../../../support/postgres/otherClient.ts"
import * as World from "../../../support/world/World.ts"

/** What a process has that has just started. */
const services = (url: Redacted.Redacted) => Layer.build(Layer.fresh(StoreDatabase.layer({ url })))

/** The cells as such a process knows them. */
const started = (url: Redacted.Redacted) => Effect.map(services(url), (built) => Context.get(built, Cells.Cells))

/** Runs work while a table is locked, ends the connection on which it waits for the table, and unlocks it. */
const losingConnection = Effect.fnUntraced(function* <A, E>(table: string, work: Effect.Effect<A, E>) {
  const { adminUrl } = yield* Database.Fresh
  const [other, watcher] = [yield* otherClient(adminUrl), yield* otherClient(adminUrl)]
  yield* other.query(`BEGIN; LOCK TABLE ${table}`)
  const fiber = yield* Effect.forkChild(work)
  yield* other.query("SELECT pg_terminate_backend($1::int)", [yield* blockedBackend(watcher)])
  yield* other.query("ROLLBACK")
  return yield* Fiber.join(fiber)
})

layer(Database.layerFresh, { excludeTestServices: true })("the directory of cells", (it) => {
  it.effect("is read on another connection when that of the first read is lost", function* () {
    const cells = yield* started((yield* Database.Fresh).url)
    assert.deepStrictEqual(yield* losingConnection("cells", cells.names), ["public"])
  })

  it.effect("says that nothing was accepted while the first read meets no database", function* () {
    const proxy = yield* faultProxy((yield* Database.Fresh).url)
    const cells = yield* started(proxy.url)
    proxy.down()
    const error = yield* Effect.flip(cells.of(id("AccountId")))
    assert.isTrue(error instanceof StoreUnavailable && error.isNothingAccepted)
    proxy.up()
    assert.deepStrictEqual(yield* cells.names, ["public"])
  })

  it.effect("looks an account up on another connection when the first one is lost", function* () {
    yield* CellSchema.make("cell_b")
    const cells = yield* started((yield* Database.Fresh).url)
    yield* cells.names
    const looked = losingConnection("account_cells", cells.of(id("AccountId")))
    assert.strictEqual(yield* looked, "public")
  })

  // threat: moved-accounts
  it.effect("shows the move of an account while requests use all connections of the first cell", function* () {
    const { url } = yield* Database.Fresh
    const [account, other] = [id("AccountId"), yield* otherClient(url)]
    const built = yield* services(url)
    const [sql, cells] = [Context.get(built, PgClient.PgClient), Context.get(built, Cells.Cells)]
    yield* CellSchema.make("cell_c")
    yield* other.query("INSERT INTO account_cells (account_id, cell) VALUES ($1, 'cell_b')", [account])
    assert.strictEqual(yield* cells.of(account), "cell_b")
    yield* Effect.forEach(Array.from({ length: StoreDatabase.DEFAULT_CONNECTIONS }), () => sql.reserve)
    yield* other.query("UPDATE account_cells SET cell = 'cell_c' WHERE account_id = $1", [account])
    yield* other.query("SELECT nextval('cell_change')")
    yield* Effect.sleep(Directory.TRUSTED_FOR)
    assert.strictEqual(yield* cells.of(account), "cell_c")
  })

  // threat: moved-accounts
  it.effect("is waited for when it was last read long ago", function* () {
    const { url } = yield* Database.Fresh
    const [account, other] = [id("AccountId"), yield* otherClient(url)]
    const cells = yield* started(url)
    yield* other.query("INSERT INTO account_cells (account_id, cell) VALUES ($1, 'cell_b')", [account])
    assert.strictEqual(yield* cells.of(account), "cell_b")
    yield* other.query("BEGIN; LOCK TABLE account_cells; SELECT nextval('cell_change')")
    yield* other.query("UPDATE account_cells SET cell = 'cell_c' WHERE account_id = $1", [account])
    yield* Effect.sleep(Directory.NOTICED_AFTER)
    const cell = yield* Effect.forkChild(cells.of(account))
    yield* Effect.sleep(Duration.times(Directory.READ_TIMEOUT, 2))
    yield* other.query("COMMIT")
    assert.strictEqual(yield* Fiber.join(cell), "cell_c")
  })

  // threat: moved-accounts
  it.effect("is used for no longer than moves rely on while it cannot be read", function* () {
    const proxy = yield* faultProxy((yield* Database.Fresh).url)
    const cells = yield* started(proxy.url)
    const account = id("AccountId")
    const before = yield* cells.of(account)
    proxy.down()
    yield* Effect.sleep(Directory.NOTICED_AFTER)
    const exit = yield* Effect.exit(cells.of(account))
    assert.isTrue(
      Exit.isFailure(exit) &&
        Option.exists(
          Cause.findErrorOption(exit.cause),
          (error) => error instanceof StoreUnavailable && error.isNothingAccepted,
        ),
    )
    proxy.up()
    yield* Effect.sleep("1 second")
    assert.strictEqual(yield* cells.of(account), before)
  })

  it.effect("forgets nobody's account for the keys that strangers make up", function* () {
    const { url } = yield* Database.Fresh
    yield* CellSchema.make("cell_e")
    const [account, other] = [id("AccountId"), yield* otherClient(url)]
    yield* other.query("INSERT INTO account_cells (account_id, cell) VALUES ($1, 'cell_e')", [account])
    yield* other.query("INSERT INTO account_names (kind, name, account_id) VALUES ('api_key', 'known', $1)", [account])
    const sql = Context.get(yield* services(url), PgClient.PgClient)
    // Room for the key and its account.
    const cells = yield* Directory.make(sql, () => Effect.die("no server"), 2)
    assert.strictEqual(yield* cells.ofKey("known"), "cell_e")
    yield* other.query("DELETE FROM account_names WHERE name = 'known'")
    for (const stranger of ["a", "b", "c"]) assert.strictEqual(yield* cells.ofKey(stranger), "public")
    assert.strictEqual(yield* cells.ofKey("known"), "cell_e")
  })

  it.effect("is read again after a read that ended before its caller went on", function* () {
    yield* CellSchema.make("cell_d")
    const proxy = yield* faultProxy((yield* Database.Fresh).url)
    const cells = yield* started(proxy.url)
    yield* cells.names
    proxy.down()
    yield* World.until(Effect.exit(cells.strays), Exit.isFailure)
    // Yields to the read, which is refused at once, after each of its operations in turn.
    for (let operations = 10; operations <= 60; operations++)
      yield* Effect.exit(Effect.provideService(cells.strays, References.MaxOpsBeforeYield, operations))
    proxy.up()
    yield* World.until(Effect.exit(cells.strays), Exit.isSuccess)
  })
})
