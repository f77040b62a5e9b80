import { Duration } from "effect"

/** Pause before a claim while other rows of the pipeline are in flight: a claim costs the same for one row as for many. */
export const CLAIM_PACE = Duration.millis(10)
/** Time for which results of a pipeline wait for each other, for each further one of its kind with rows in flight. */
export const RESULT_PACE = Duration.millis(50)
/** Number of busy pipelines up to which both grow. */
export const MAX_PACED = 8

const paced = (busy: number): number => Math.min(Math.max(busy, 1), MAX_PACED)

/** With several busy pipelines the process comes to each less often, so that a claim finds as many rows as with one. */
export const claimPause = (busy: number): Duration.Duration => Duration.times(CLAIM_PACE, paced(busy))

/**
 * Returns the milliseconds until the results of a pipeline are next written, so that they share a commit. With one there is no
 * pause: its commits are full, because results gather while the one before is written.
 */
export const resultPause = (busy: number, nowMillis: number): number => {
  const every = Duration.toMillis(RESULT_PACE) * (paced(busy) - 1)
  return every === 0 ? 0 : every - (nowMillis % every)
}
