import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as AccountLocks from "@waybill/store/locks/AccountLocks"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as MovedCounts from "@waybill/store/moves/MovedCounts"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

/** Short for what waits for ever, and long enough for the last rows on a busy machine. */
const LONGEST_WAIT = Duration.seconds(10)
/** The only process is the one that moves. */
const NOTICED_AFTER = Duration.millis(100)

layer(World.layer, { excludeTestServices: true })("a mover that holds the counts of a cell", (it) => {
  it.effect("is given up by the server soon after its limit", function* () {
    const sql = yield* Sql
    const read = sql<{ readonly idle: string }>`
      SELECT current_setting('idle_in_transaction_session_timeout') AS idle`
    const before = yield* read
    const [held] = yield* sql.withTransaction(Effect.andThen(MovedCounts.hold(sql, Duration.seconds(15)), read))
    assert.deepStrictEqual(held, { idle: "20s" })
    assert.deepStrictEqual(yield* read, before)
  })

  it.effect("waits for writers of the cell no longer than requests of the account may", function* () {
    const sql = yield* Sql
    // Positions of a node are above all of the first cell, so that no event of an account comes before those of its writers.
    if (yield* CellSchema.isCitus(sql)) return
    yield* CellSchema.make("cell_b")
    const account_id = yield* World.account()
    const announced = yield* Deferred.make<void>()
    const writing = AccountLocks.begin(sql, { accounts: ["acc_other"], isExclusive: false }).pipe(
      Effect.andThen(Deferred.succeed(announced, undefined)),
      // The server ends a transaction that is idle for longer.
      Effect.andThen(Effect.forever(Effect.delay(sql`SELECT 1`, "500 millis"))),
    )
    const writer = yield* Effect.forkChild(inCell("cell_b", sql.withTransaction(writing)))
    yield* Deferred.await(announced)
    yield* World.key(account_id)
    const move = AccountMove.move(account_id, "cell_b", { longestWait: LONGEST_WAIT, noticedAfter: NOTICED_AFTER })
    assert.include((yield* Effect.flip(move)).message, "stays in public")
    yield* Fiber.interrupt(writer)
    assert.strictEqual((yield* move).to, "cell_b")
  })
})
