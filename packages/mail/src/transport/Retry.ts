import { Duration } from "effect"
import type { Class } from "../reply/Reply.ts"

/**
 * Nine waits after nine failed attempts, some 52 hours in all: quick while a failure is likely a hiccup, then often
 * enough to survive a weekend. The tenth failure is the last.
 */
export const RETRY_DELAYS: ReadonlyArray<Duration.Duration> = [
  Duration.minutes(1),
  Duration.minutes(5),
  Duration.minutes(15),
  Duration.minutes(45),
  Duration.hours(2),
  Duration.hours(4),
  Duration.hours(8),
  Duration.hours(12),
  Duration.hours(20),
]
/** So that what failed together does not come back together. */
export const RETRY_JITTER = 0.15
/** Greylists wait five minutes at least; coming back early often starts their clock again. */
export const GREYLIST_MIN = Duration.minutes(5)

/**
 * The wait after `attempt` (1 is the first) has failed. A hint of the server only ever lengthens the wait: a server
 * that always says "in a minute" would otherwise use up all attempts in ten. `random` is in [0, 1).
 */
export const nextAttempt = (
  attempt: number,
  replyClass: Class,
  hint: Duration.Duration | undefined,
  random: number,
): Duration.Duration | "expired" => {
  const delay = RETRY_DELAYS[attempt - 1]
  if (delay === undefined) return "expired"
  const spread = Duration.times(delay, 1 + RETRY_JITTER * (2 * random - 1))
  const asked = Duration.max(hint ?? Duration.zero, replyClass === "greylisted" ? GREYLIST_MIN : Duration.zero)
  // What was asked for is a floor, so its own jitter only adds.
  return Duration.max(spread, Duration.times(asked, 1 + RETRY_JITTER * random))
}
