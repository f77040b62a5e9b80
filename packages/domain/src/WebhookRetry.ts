import * as Timestamp from "./Timestamp.ts"

/** The pauses after the first, second, … failed call (contract §8); after the last of them a delivery has failed. */
export const PAUSES_MS: ReadonlyArray<number> = [
  5 * Timestamp.SECOND,
  5 * Timestamp.MINUTE,
  30 * Timestamp.MINUTE,
  2 * Timestamp.HOUR,
  5 * Timestamp.HOUR,
  10 * Timestamp.HOUR,
  10 * Timestamp.HOUR,
]
/** The share by which a pause is shorter or longer, so that what failed together does not come back together. */
export const JITTER = 0.1

/** The next try after `attempts` failed ones, or `null` when there is none. `random` is from [0, 1). */
export const nextAt = (now: Timestamp.Timestamp, attempts: number, random: number): Timestamp.Timestamp | null => {
  const pause = PAUSES_MS[attempts - 1]
  return pause === undefined ? null : Timestamp.plus(now, Math.round(pause * (1 - JITTER + 2 * JITTER * random)))
}
