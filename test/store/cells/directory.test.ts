import { Unavailable } from "@waybill/store/postgres/Unavailable"
import * as Cells from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as StoreDatabase from "@waybill/store/database/Database"
import { Cause, Context, Effect, Exit, Fiber, Layer, type Redacted } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { blockedBackend, otherClient } from "../../support/postgres/otherClient.ts"

/** The cells as a process knows them that has just started. */
const started = (url: Redacted.Redacted) =>
  Effect.map(Layer.build(Layer.fresh(StoreDatabase.layer({ url }))), (services) => Context.get(services, Cells.Cells))

/** Runs work while a table is locked, ends the connection on which it waits for the table, and unlocks it. */
const losingConnection = Effect.fnUntraced(function* <A>(table: string, work: Effect.Effect<A>) {
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
    const exit = yield* Effect.exit(cells.of(id("AccountId")))
    assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Unavailable)
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
})
