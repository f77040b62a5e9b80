import { Duration, Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import type { AvailabilityShape } from "./Availability.ts"

const RETRY_EVERY = Duration.millis(100)

/**
 * Runs statements for which requests wait, and again when the connection fails. A database that restarts is waited for
 * until the watch gives it up; without a watch, there are a few retries at once.
 */
export const retryWhileAvailable =
  ({ isWatched, problem, report, waiting }: AvailabilityShape, retries: number) =>
  <A>(statements: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
    Effect.suspend(() => {
      const endWait = waiting()
      const repeated = isWatched ? { schedule: Schedule.spaced(RETRY_EVERY) } : { times: retries }
      return statements.pipe(
        Effect.tapCause(report),
        Effect.retry({ while: (error) => error.isRetryable && problem() === undefined, ...repeated }),
        Effect.ensuring(Effect.sync(endWait)),
      )
    })
