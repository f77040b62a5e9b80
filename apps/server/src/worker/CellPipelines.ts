import type { CellName } from "@waybill/store/routing/CellName"
import * as ForEachCell from "@waybill/store/routing/ForEachCell"
import { Effect, type Scope } from "effect"
import type * as Graphile from "./Graphile.ts"
import type { Pipeline } from "./Pipeline.ts"
import * as RowBound from "./RowBound.ts"

/** Pipelines of one kind, one for each cell. */
export interface CellPipelines {
  /** Looks for work in every cell. */
  readonly kick: Effect.Effect<void>
  /** Looks for work in a cell. A cell whose pipeline has not started yet looks when it does. */
  readonly wake: (cell: CellName) => Effect.Effect<void>
  readonly inFlight: () => number
}

/** Makes a pipeline for every cell. They share a bound of rows in flight. */
export const make = Effect.fnUntraced(function* <E, R>(
  inFlight: number,
  build: (bound: RowBound.RowBound) => Effect.Effect<Pipeline, E, R | Scope.Scope>,
) {
  const bound = RowBound.make(inFlight)
  const cells = yield* ForEachCell.make(build(bound))
  return {
    kick: Effect.suspend(() => Effect.forEach(cells.all(), ({ kick }) => kick, { discard: true })),
    wake: (cell) => Effect.suspend(() => cells.at(cell)?.kick ?? Effect.void),
    inFlight: bound.inFlight,
  } satisfies CellPipelines
})

/** The task of these pipelines: wake-ups name their cell, and the schedule finds work whose wake-up was lost. */
export const taskOf = ({ kick, wake }: CellPipelines): Graphile.Task => ({ run: kick, wake, cron: "* * * * *" })
