import { Cells } from "@waybill/store/routing/Cells"
import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import { Deferred, Effect } from "effect"
import * as EveryDatabase from "@waybill/store/routing/EveryDatabase"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Runs work with three cells. */
const overCells = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const cells = yield* Cells
    const names = Effect.succeed(["public", "cell_b", "cell_c"])
    return yield* Effect.provideService(work, Cells, { ...cells, names })
  })

describe("a periodic task over cells", () => {
  it.live("ends beside a cell that hangs, and starts nothing there before that ends", () =>
    Effect.gen(function* () {
      const started: Array<string> = []
      const release = yield* Deferred.make<void>()
      const inCells = yield* EveryDatabase.periodic
      const task = inCells(
        Effect.gen(function* () {
          const cell = yield* CurrentCell
          started.push(cell)
          if (cell === "cell_b") yield* Deferred.await(release)
          if (cell === "cell_c") yield* Effect.die(new Error("this cell fails"))
        }),
      )
      yield* overCells(task)
      assert.deepStrictEqual(started.splice(0), ["public", "cell_b", "cell_c"])
      yield* overCells(task)
      assert.deepStrictEqual(started.splice(0), ["public", "cell_c"])
      yield* Deferred.succeed(release, undefined)
      yield* Effect.repeat(overCells(task), { until: () => started.includes("cell_b") })
    }).pipe(Effect.scoped),
  )
})
