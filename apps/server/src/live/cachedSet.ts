import { Duration, Effect } from "effect"

/** Timeout of one reload; the next one tries again. */
export const RELOAD_TIMEOUT = Duration.seconds(3)

/** A set of names that is loaded from the database and cached in memory, so that lookups never wait. */
export interface CachedSet {
  readonly has: (name: string) => boolean
}

/**
 * Loads the set once, then reloads it at the interval. While the database is unavailable, the last loaded set is used.
 */
export const cachedSet = <R>(
  description: string,
  every: Duration.Duration,
  read: Effect.Effect<ReadonlyArray<string>, never, R>,
) =>
  Effect.gen(function* () {
    let cached = new Set(yield* read)
    let isFailing = false
    const reload = read.pipe(
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
    yield* Effect.forkScoped(Effect.forever(Effect.delay(reload, every)))
    return { has: (name) => cached.has(name) } satisfies CachedSet
  })
