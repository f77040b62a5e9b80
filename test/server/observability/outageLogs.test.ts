import { PgClient } from "@effect/sql-pg"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { FIRST } from "@waybill/store/routing/CellName"
import { Cells } from "@waybill/store/routing/Cells"
import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import * as EveryDatabase from "@waybill/store/routing/EveryDatabase"
import type { Settled } from "@waybill/store/webhooks/SettledCalls"
import { Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as CallResults from "../../../apps/server/src/worker/webhooks/CallResults.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { linesWhile } from "./linesWhile.ts"

/** A driver that has no connection. */
const driver = (onTry: () => void) =>
  ({
    withTransaction: () =>
      Effect.suspend(() => {
        onTry()
        const reason = new SqlError.ConnectionError({ cause: new Error("refused"), message: "", operation: "open" })
        return Effect.fail(new SqlError.SqlError({ reason }))
      }),
  }) as unknown as PgClient.PgClient

const result = (id: string) => ({ id, status: "pending" }) as Settled

describe("during an outage of the database, which its watch logs", () => {
  it.effect("no cell that cannot be started has a line of its own", function* () {
    const cells = { ...(yield* Cells), names: Effect.succeed([FIRST, "cell_b"] as const) }
    const start = Effect.flatMap(CurrentCell, (cell) =>
      cell === FIRST ? Effect.void : Effect.fail(new StoreUnavailable({ why: "lost" })),
    )
    const tenSeconds = Effect.scoped(Effect.andThen(EveryDatabase.start(start), TestClock.adjust("10 seconds"))).pipe(
      Effect.provideService(Cells, cells),
    )
    assert.deepStrictEqual(yield* linesWhile(true, tenSeconds), [])
    assert.isAbove((yield* linesWhile(false, tenSeconds)).length, 5)
  })

  it.effect("results of webhook calls are tried for as long as their leases hold, together and silently", function* () {
    let tries = 0
    const settling = Effect.gen(function* () {
      const settle = yield* CallResults.make
      const all = yield* Effect.forkChild(
        Effect.forEach(["whd_1", "whd_2", "whd_3"], (id) => settle(result(id)), { concurrency: "unbounded" }),
      )
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(yield* Fiber.join(all), [false, false, false])
    }).pipe(
      Effect.provideService(
        PgClient.PgClient,
        driver(() => tries++),
      ),
    )
    assert.deepStrictEqual(yield* linesWhile(true, settling), [])
    // The first result goes alone, and the others after it as one batch.
    assert.isAtMost(tries, 2 * (CallResults.SETTLE_TRIES + 1))
  })
})
