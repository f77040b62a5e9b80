import * as ForEachCell from "@waybill/store/cells/ForEachCell"
import { Duration, Effect } from "effect"

/** Timeout of one load; the next one tries again. */
export const RELOAD_TIMEOUT = Duration.seconds(3)

/** A set of names that is loaded from the database and cached in memory, so that lookups never wait. */
export interface CachedSet {
  readonly has: (name: string) => boolean
}

/**
 * Loads the names of every cell, then reloads them at the interval. While a cell is unavailable, the names last loaded from
 * it are used.
 */
export const cachedSet = <R>(
  description: string,
  every: Duration.Duration,
  read: Effect.Effect<ReadonlyArray<string>, never, R>,
) =>
  Effect.map(ForEachCell.make(ofCell(description, every, read)), (cells): CachedSet => ({
    has: (name) => cells.all().some(({ has }) => has(name)),
  }))

const ofCell = <R>(
  description: string,
  every: Duration.Duration,
  read: Effect.Effect<ReadonlyArray<string>, never, R>,
) =>
  Effect.gen(function* () {
    let cached: ReadonlySet<string> = new Set()
    let isFailing = false
    const load = read.pipe(
      Effect.timeout(RELOAD_TIMEOUT),
      Effect.map((names) => {
        cached = new Set(names)
        isFailing = false
      }),
      // Logs only the first of consecutive failures.
      Effect.catchCause((cause) => {
        if (isFailing) return Effect.void
        isFailing = true
        return Effect.logWarning(`${description} could not be reloaded; the last loaded ones stay in use`, cause)
      }),
    )
    yield* load
    yield* Effect.forkScoped(Effect.forever(Effect.delay(load, every)))
    return { has: (name) => cached.has(name) } satisfies CachedSet
  })
