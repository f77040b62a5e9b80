import { Effect, Exit, Scope } from "effect"

const scope = Scope.makeUnsafe()

/** Runs an effect whose resources are held until the end of the benchmark. */
export const held = <A, E>(made: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(made, scope))

/** Gives the scope to a function that adds its resources to it. */
export const within = <A>(make: (held: Scope.Scope) => Promise<A>): Promise<A> => make(scope)

/** Makes something that is released at the end of the benchmark. */
export const acquire = <A>(make: () => Promise<A>, release: (made: A) => unknown): Promise<A> =>
  held(Effect.acquireRelease(Effect.promise(make), (made) => Effect.promise(async () => void (await release(made)))))

/** Releases everything, the last made first. */
export const releaseAll = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void))
