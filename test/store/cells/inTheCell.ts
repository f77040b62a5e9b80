import { Cells } from "@waybill/store/routing/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import { Effect, Layer } from "effect"

const CELL = "cell_b"

/** Makes a second cell, which then has every account. */
export const inTheCell = Layer.mergeAll(
  Layer.succeed(CurrentCell, CELL),
  Layer.effect(
    Cells,
    Effect.gen(function* () {
      yield* CellSchema.make(CELL)
      const of = () => Effect.succeed(CELL)
      return {
        ...(yield* Cells),
        names: Effect.succeed([CELL]),
        isCertainlyAlone: () => true,
        of,
        ofKey: of,
        ofUser: of,
      }
    }),
  ),
)
