import { Duration, Effect, Schedule } from "effect"
import type { StoreUnavailable, Unavailability } from "../postgres/StoreUnavailable.ts"
import type { AvailabilityShape } from "./Availability.ts"

const RETRY_EVERY = Duration.millis(100)
/** Reasons that may have passed at the next try. */
const PASSING: ReadonlySet<Unavailability> = new Set(["lost", "timed-out", "conflict"])

/**
 * Runs statements for which requests wait, and again when the connection fails. A database that restarts is waited for
 * until the watch gives it up; without a watch, there are a few retries at once.
 */
export const retryWhileAvailable =
  ({ isWatched, problem, report, waiting }: AvailabilityShape, retries: number) =>
  <A>(statements: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
    Effect.suspend(() => {
      const endWait = waiting()
      const repeated = isWatched ? { schedule: Schedule.spaced(RETRY_EVERY) } : { times: retries }
      return statements.pipe(
        Effect.tapCause(report),
        Effect.retry({ while: ({ why }) => PASSING.has(why) && problem() === undefined, ...repeated }),
        Effect.ensuring(Effect.sync(endWait)),
      )
    })
