import * as MovedCounts from "@waybill/store/moves/MovedCounts"
import { Sql } from "@waybill/store/postgres/Sql"
import { Duration, Effect } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import * as World from "../../../support/world/World.ts"

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
})
