import { Duration } from "effect"

/** Pause before a claim while other rows of the cell are in flight: a claim costs the same for one row as for many. */
export const CLAIM_PACE = Duration.millis(10)
/** Time for which results of a cell wait for each other, for each further cell with rows in flight. */
export const RESULT_PACE = Duration.millis(50)
/** Number of cells up to which both grow. */
export const MAX_PACED_CELLS = 8

const paced = (busyCells: number): number => Math.min(Math.max(busyCells, 1), MAX_PACED_CELLS)

/** With work in several cells the process comes to each less often, so that a claim finds as many rows as with one. */
export const claimPause = (busyCells: number): Duration.Duration => Duration.times(CLAIM_PACE, paced(busyCells))

/**
 * Returns the milliseconds until the results of a cell are next written, so that they share a commit. With one cell there is no
 * pause: its commits are full, because results gather while the one before is written.
 */
export const resultPause = (busyCells: number, nowMillis: number): number => {
  const every = Duration.toMillis(RESULT_PACE) * (paced(busyCells) - 1)
  return every === 0 ? 0 : every - (nowMillis % every)
}
