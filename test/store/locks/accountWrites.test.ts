import { PgClient } from "@effect/sql-pg"
import * as AccountWrites from "@waybill/store/locks/AccountWrites"
import { Cells } from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { CurrentCell, inCell } from "@waybill/store/routing/CurrentCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

/** The only process is the one that moves. */
const ALONE = { noticedAfter: Duration.millis(100) }

const moversWaiting = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(
    Effect.orDie(sql`
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
    ({ length }) => length,
  ),
)

const secretsIn = (cell: string, account_id: string) =>
  inCell(
    cell,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.map(Effect.orDie(sql`SELECT FROM secrets WHERE account_id = ${account_id}`), ({ length }) => length),
    ),
  )

layer(World.layer, { excludeTestServices: true })("a write beside the log", (it) => {
  it.effect("is waited for by the move of its account", function* () {
    yield* CellSchema.make("cell_b")
    const account_id = yield* World.account()
    const release = yield* Deferred.make<void>()
    const begun = yield* Deferred.make<string>()
    const writing = yield* Effect.forkChild(
      AccountWrites.run(
        account_id,
        Effect.gen(function* () {
          yield* Deferred.succeed(begun, yield* CurrentCell)
          yield* Deferred.await(release)
          yield* (yield* Secrets).seal({ account_id, id: "late", purpose: "test" }, Buffer.from("x"))
        }),
      ),
    )
    assert.strictEqual(yield* Deferred.await(begun), "public")
    const moving = yield* Effect.forkChild(AccountMove.move(account_id, "cell_b", ALONE))
    yield* World.until(moversWaiting, (waiting) => waiting === 1)
    yield* Deferred.succeed(release, undefined)
    yield* Fiber.join(writing)
    yield* Fiber.join(moving)
    assert.strictEqual(yield* secretsIn("cell_b", account_id), 1)
    assert.strictEqual(yield* secretsIn("public", account_id), 0)
  })

  it.effect("is refused in the cell that its account has left, and then made in the other one", function* () {
    const sql = yield* Sql
    yield* CellSchema.make("cell_c")
    const account_id = yield* World.account()
    yield* AccountMove.move(account_id, "cell_c", ALONE)
    const late = inCell("public", sql.withTransaction(AccountWrites.hold(sql, [account_id])))
    assert.strictEqual((yield* Effect.flip(late))._tag, "AccountMoved")
    yield* (yield* Secrets).seal({ account_id, id: "one", purpose: "test" }, Buffer.from("x"))
    assert.strictEqual(yield* secretsIn("cell_c", account_id), 1)
  })

  it.effect("is never lost while its account moves to and fro", function* () {
    yield* CellSchema.make("cell_d")
    const secrets = yield* Secrets
    const account_id = yield* World.account()
    let sealed = 0
    let isOver = false
    const seals = Effect.suspend(() =>
      secrets.seal({ account_id, id: `secret_${sealed++}`, purpose: "test" }, Buffer.from("x")),
    )
    const sealing = yield* Effect.forkChild(Effect.repeat(seals, { until: () => isOver }))
    for (const cell of ["cell_d", "public", "cell_d"]) yield* AccountMove.move(account_id, cell, ALONE)
    isOver = true
    yield* Fiber.join(sealing)
    assert.strictEqual(yield* (yield* Cells).of(account_id), "cell_d")
    assert.strictEqual(yield* secretsIn("cell_d", account_id), sealed)
    assert.strictEqual(yield* secretsIn("public", account_id), 0)
  })
})
