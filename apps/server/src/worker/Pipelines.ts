import * as EveryDatabase from "@waybill/store/routing/EveryDatabase"
import { Effect, type Scope } from "effect"
import type * as Graphile from "./Graphile.ts"
import type { Pipeline } from "./Pipeline.ts"
import * as RowBound from "./RowBound.ts"

/**
 * Makes the task of one kind of work: a pipeline for every database, which share a bound of rows in flight. One that has not
 * started yet looks for work when it does.
 */
export const make = Effect.fnUntraced(function* <E, R>(
  inFlight: number,
  build: (bound: RowBound.RowBound) => Effect.Effect<Pipeline, E, R | Scope.Scope>,
) {
  const bound = RowBound.make(inFlight)
  const pipelines = yield* EveryDatabase.start(build(bound))
  return {
    wake: (database) => Effect.suspend(() => pipelines.at(database)?.kick ?? Effect.void),
  } satisfies Graphile.Drain
})
