import { Deferred, Duration, Effect, Exit, Scope } from "effect"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"
import { type CellName, FIRST } from "./CellName.ts"
import { Cells } from "./Cells.ts"
import { CurrentCell, inCell } from "./CurrentCell.ts"

/** One instance of something for each database, so that none waits for another one. */
export interface PerDatabase<A, E = never> {
  /** The instance of home. */
  readonly first: A
  /** The instance of a database by its name, made when it is first wanted. */
  readonly at: (name: string) => Effect.Effect<A, E>
  /** The instance of the fiber's database. */
  readonly here: Effect.Effect<A, E>
  /** The instance of an account's database. */
  readonly of: (account_id: string) => Effect.Effect<A, E | StoreUnavailable>
  /** The instance of the database of an API key's account, by the key's hash; that of home for an unknown key. */
  readonly ofKey: (hash: string) => Effect.Effect<A, E | StoreUnavailable>
}

/** Pause before an instance that could not be built is tried again, so that a server that is away is not asked for each request. */
const TRIED_AGAIN_AFTER = Duration.millis(500)

interface Built<A> {
  readonly instance: A
  readonly scope: Scope.Closeable
  readonly mark: string | undefined
}

/**
 * Makes the instance of home at once, and the others on demand. That of a removed cell ends when another cell has its name,
 * and all of them end with the scope.
 */
export const make = Effect.fnUntraced(function* <A, E, R>(
  build: Effect.Effect<A, E, R | Scope.Scope>,
): Effect.fn.Return<PerDatabase<A, E>, E, R | Scope.Scope> {
  const context = yield* Effect.context<R>()
  const parent = yield* Effect.scope
  const cells = yield* Cells
  const { markOf } = cells
  const instances = new Map<CellName, Built<A>>()
  /** Builds under way, or that failed a moment ago: all who want the instance get their outcome. */
  const builds = new Map<CellName, Deferred.Deferred<A, E>>()
  const buildIn = (cell: CellName) =>
    Effect.gen(function* () {
      // An instance that cannot be built now is built by the next one who wants it.
      const scope = yield* Scope.fork(parent, "sequential")
      const built = Effect.provideService(build, Scope.Scope, scope)
      const instance = yield* Effect.onExit(inCell(cell, built), (exit) =>
        Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit),
      )
      instances.set(cell, { instance, scope, mark: markOf(cell) })
      return instance
    })
  const first = yield* buildIn(FIRST)
  const at = (cell: CellName): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const built = instances.get(cell)
      // Work that goes on in a removed cell goes nowhere else.
      const mark = cell === FIRST || built === undefined ? undefined : markOf(cell)
      if (built !== undefined && (mark === undefined || mark === built.mark)) return Effect.succeed(built.instance)
      const begun = builds.get(cell)
      if (begun !== undefined) return Deferred.await(begun)
      const outcome = Deferred.makeUnsafe<A, E>()
      builds.set(cell, outcome)
      instances.delete(cell)
      const end = built === undefined ? Effect.void : Effect.forkIn(Scope.close(built.scope, Exit.void), parent)
      const building = Effect.exit(Effect.andThen(end, Effect.provideContext(buildIn(cell), context))).pipe(
        Effect.tap((exit) => Deferred.done(outcome, exit)),
        Effect.tap((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sleep(TRIED_AGAIN_AFTER))),
        Effect.ensuring(Effect.sync(() => builds.delete(cell))),
      )
      // Not a child: the one who wanted it first may go away.
      return Effect.andThen(Effect.forkIn(building, parent), Deferred.await(outcome))
    })
  return {
    first,
    at,
    here: Effect.flatMap(CurrentCell, at),
    of: (account_id) => Effect.flatMap(cells.of(account_id), at),
    ofKey: (hash) => Effect.flatMap(cells.ofKey(hash), at),
  }
})
