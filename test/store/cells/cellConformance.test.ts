import { Cells } from "@waybill/store/cells/Cells"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { CurrentCell } from "@waybill/store/cells/CurrentCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Layer } from "effect"
import { layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { conformance } from "../commit/eventStore.suite.ts"

const CELL = "cell_b"

/** Every account is in the cell. */
const inTheCell = Layer.mergeAll(
  Layer.succeed(CurrentCell, CELL),
  Layer.effect(
    Cells,
    Effect.gen(function* () {
      yield* CellSchema.make(CELL)
      const of = () => Effect.succeed(CELL)
      return { ...(yield* Cells), names: Effect.succeed([CELL]), of, ofKey: of, ofUser: of }
    }),
  ),
)

layer(EventStore.layer().pipe(Layer.provideMerge(inTheCell), Layer.provideMerge(Database.layerFresh)), {
  excludeTestServices: true,
})("the event store in a cell", conformance)
