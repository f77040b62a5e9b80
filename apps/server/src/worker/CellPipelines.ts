import * as ForEachCell from "@waybill/store/routing/ForEachCell"
import { Effect, type Scope } from "effect"
import type * as Graphile from "./Graphile.ts"
import type { Pipeline } from "./Pipeline.ts"
import * as RowBound from "./RowBound.ts"

/**
 * Makes the task of one kind of work: a pipeline for every cell, which share a bound of rows in flight. A cell whose pipeline
 * has not started yet looks for work when it does.
 */
export const make = Effect.fnUntraced(function* <E, R>(
  inFlight: number,
  build: (bound: RowBound.RowBound) => Effect.Effect<Pipeline, E, R | Scope.Scope>,
) {
  const bound = RowBound.make(inFlight)
  const pipelines = yield* ForEachCell.make(build(bound))
  return {
    wake: (cell) => Effect.suspend(() => pipelines.at(cell)?.kick ?? Effect.void),
  } satisfies Graphile.Drain
})
