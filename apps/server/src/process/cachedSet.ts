import { type CellName, FIRST } from "@waybill/store/routing/CellName"
import * as Cells from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Duration, Effect } from "effect"
import { type StoreUnavailable, unlessAway } from "@waybill/store/postgres/StoreUnavailable"

/** Timeout of one load; the next one tries again. */
export const RELOAD_TIMEOUT = Duration.seconds(3)

const visitOf = (cell: CellName): Cells.Visit => ({ cell, run: (work) => inCell(cell, work) })

/** A set of names that is loaded from the database and cached in memory, so that lookups never wait. */
export interface CachedSet {
  readonly has: (name: string) => boolean
}

/** Names that the first server has, of all cells. */
export const AT_HOME: Effect.Effect<ReadonlyArray<Cells.Visit>> = Effect.succeed([visitOf(FIRST)])

/**
 * Loads the names of every cell, then reloads them at the interval. `read` returns those of the fiber's cell. While a cell
 * is unavailable, the names last loaded from it are used.
 */
export const cachedSet = Effect.fnUntraced(function* <R>(
  description: string,
  every: Duration.Duration,
  read: Effect.Effect<ReadonlyArray<string>, StoreUnavailable, R>,
  cells: Effect.Effect<ReadonlyArray<Cells.Visit>, StoreUnavailable> = Cells.visits,
) {
  const cached = new Map<CellName, ReadonlySet<string>>()
  const failing = new Set<CellName>()
  const loadCell = ({ cell, run }: Cells.Visit) =>
    run(read).pipe(
      Effect.timeout(RELOAD_TIMEOUT),
      Effect.map((found) => {
        cached.set(cell, new Set(found))
        failing.delete(cell)
      }),
      // Logs only the first of consecutive failures.
      Effect.catchCause((cause) => {
        if (failing.has(cell)) return Effect.void
        failing.add(cell)
        return unlessAway(
          Effect.logWarning(`${description} could not be reloaded; the last loaded ones stay in use`, cause),
          cause,
        )
      }),
    )
  const load = Effect.gen(function* () {
    const visits = yield* Effect.catchCause(cells, () =>
      Effect.succeed([...new Set([FIRST, ...cached.keys()])].map(visitOf)),
    )
    for (const known of cached.keys()) if (!visits.some(({ cell }) => cell === known)) cached.delete(known)
    yield* Effect.forEach(visits, loadCell, { concurrency: "unbounded", discard: true })
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
