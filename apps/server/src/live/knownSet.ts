import { Duration, Effect } from "effect"

/** A look that takes longer is given up for the next. */
export const LOOK_TIMEOUT = Duration.seconds(3)

/** Names that this process knows from the database, so that whoever asks for one waits for nothing. */
export interface KnownSet {
  readonly has: (name: string) => boolean
}

/** Read at the start, and anew every so often. While the database cannot say, what is known holds. */
export const knownSet = <R>(
  what: string,
  every: Duration.Duration,
  read: Effect.Effect<ReadonlyArray<string>, never, R>,
) =>
  Effect.gen(function* () {
    let known = new Set(yield* read)
    let inTrouble = false
    const look = read.pipe(
      Effect.timeout(LOOK_TIMEOUT),
      Effect.map((found) => {
        known = new Set(found)
        inTrouble = false
      }),
      // Whoever reads the log need hear of it once.
      Effect.catchCause((cause) => {
        if (inTrouble) return Effect.void
        inTrouble = true
        return Effect.logWarning(`the database cannot say ${what}; what is known holds`, cause)
      }),
    )
    yield* Effect.forkScoped(Effect.forever(Effect.delay(look, every)))
    return { has: (name) => known.has(name) } satisfies KnownSet
  })
