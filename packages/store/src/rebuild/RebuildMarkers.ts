import { Effect } from "effect"
import * as Projections from "./versions/Projections.ts"
import * as Rebuild from "./Rebuild.ts"
import { Replay, lockedModels } from "./versions/Replay.ts"

interface Building {
  readonly name: string
  readonly version: number
  readonly events: number
  readonly slices: number
  readonly slices_done: number
  /** Whether the last slice, which has no end, is allocated. */
  readonly is_given_out: boolean
}

/**
 * Returns the progress of every rebuild. It is read from what each slice records with its rows, so it is the same on
 * every node. Empty, and cheap, while none is running.
 */
export const inProgress = Effect.fn("RebuildMarkers.inProgress")(function* () {
  const { log, sql } = yield* Replay
  const working = yield* lockedModels(
    log,
    Projections.projections.map(({ name }) => name),
  )
  const building = yield* sql<Building>`
    SELECT v.name, v.version, v.events::float8 AS events, count(s.nth)::int AS slices,
      (count(s.nth) FILTER (WHERE s.done))::int AS slices_done,
      coalesce(bool_or(s.nth IS NOT NULL AND s.upto_account IS NULL), false) AS is_given_out
    FROM projection_versions v LEFT JOIN projection_slices s USING (name, version)
    WHERE v.state = 'building' GROUP BY v.name, v.version`
  const fills = yield* Effect.forEach(Projections.projections, (model) =>
    Effect.gen(function* () {
      const { name } = model
      const fill = building.find((each) => each.name === name)
      const isWorkedOn = working.has(name)
      if (fill === undefined)
        return isWorkedOn ? [{ name, version: null, working: true, phase: "comparing" as const, ...NO_PROGRESS }] : []
      const { events, is_given_out, slices, slices_done, version } = fill
      const isFolded = is_given_out && slices === slices_done
      const total = Math.max(events, isFolded ? 0 : yield* Rebuild.estimate(model))
      const phase = isFolded ? "indexing" : "folding"
      return [{ name, version, working: isWorkedOn, phase, events, total, slices, slices_done } as const]
    }),
  )
  return fills.flat()
})

const NO_PROGRESS = { events: 0, total: 0, slices: 0, slices_done: 0 }
