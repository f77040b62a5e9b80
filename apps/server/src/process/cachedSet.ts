import * as Databases from "@waybill/store/routing/Databases"
import { Duration, Effect } from "effect"
import { type StoreUnavailable, unlessAway } from "@waybill/store/postgres/StoreUnavailable"

/** Timeout of one load; the next one tries again. */
export const RELOAD_TIMEOUT = Duration.seconds(3)

/** A set of names that is loaded from the database and cached in memory, so that lookups never wait. */
export interface CachedSet {
  readonly has: (name: string) => boolean
}

/** Names that home has, of all databases. */
export const AT_HOME: Effect.Effect<ReadonlyArray<Databases.Database>> = Effect.succeed([Databases.home])

/**
 * Loads the names of every database, then reloads them at the interval. `read` returns those of the fiber's one. While one is
 * unavailable, the names last loaded from it are used.
 */
export const cachedSet = Effect.fnUntraced(function* <R>(
  description: string,
  every: Duration.Duration,
  read: Effect.Effect<ReadonlyArray<string>, StoreUnavailable, R>,
  databases: Effect.Effect<ReadonlyArray<Databases.Database>, StoreUnavailable> = Databases.all,
) {
  const cached = new Map<string, ReadonlySet<string>>()
  const failing = new Set<string>()
  const loadFrom = ({ name, run }: Databases.Database) =>
    run(read).pipe(
      Effect.timeout(RELOAD_TIMEOUT),
      Effect.map((found) => {
        cached.set(name, new Set(found))
        failing.delete(name)
      }),
      // Logs only the first of consecutive failures.
      Effect.catchCause((cause) => {
        if (failing.has(name)) return Effect.void
        failing.add(name)
        return unlessAway(
          Effect.logWarning(`${description} could not be reloaded; the last loaded ones stay in use`, cause),
          cause,
        )
      }),
    )
  const load = Effect.gen(function* () {
    const found = yield* Effect.catchCause(databases, () =>
      Effect.succeed([...new Set([Databases.home.name, ...cached.keys()])].map(Databases.named)),
    )
    for (const known of cached.keys()) if (!found.some(({ name }) => name === known)) cached.delete(known)
    yield* Effect.forEach(found, loadFrom, { concurrency: "unbounded", discard: true })
  })
  yield* load
  yield* Effect.forkScoped(Effect.forever(Effect.delay(load, every)))
  return {
    has: (name) => {
      for (const found of cached.values()) if (found.has(name)) return true
      return false
    },
  } satisfies CachedSet
})
