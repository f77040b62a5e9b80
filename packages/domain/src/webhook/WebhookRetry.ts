import * as Timestamp from "../values/Timestamp.ts"

/** Pauses after the first, second, … failed call. After the last one the delivery has failed. */
export const PAUSES_MS: ReadonlyArray<number> = [
  5 * Timestamp.SECOND,
  5 * Timestamp.MINUTE,
  30 * Timestamp.MINUTE,
  2 * Timestamp.HOUR,
  5 * Timestamp.HOUR,
  10 * Timestamp.HOUR,
  10 * Timestamp.HOUR,
]
/** Share by which a pause varies at random, so that deliveries which failed together are not retried together. */
export const JITTER = 0.1

/**
 * Returns the time of the next call after `attempts` failed ones, or `null` if there is none. `random` is in [0, 1).
 */
export const nextAt = (now: Timestamp.Timestamp, attempts: number, random: number): Timestamp.Timestamp | null => {
  const pause = PAUSES_MS[attempts - 1]
  return pause === undefined ? null : Timestamp.plus(now, Math.round(pause * (1 - JITTER + 2 * JITTER * random)))
}
