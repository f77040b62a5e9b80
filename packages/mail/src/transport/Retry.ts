import { Duration } from "effect"
import type { ReplyClass } from "../reply/ReplyClass.ts"

/**
 * Nine delays after nine failed attempts, some 52 hours in all: short while the failure is likely brief, then frequent
 * enough to survive a weekend. The tenth failure is final.
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
/** Spreads messages that failed together. */
export const RETRY_JITTER = 0.15
/** Greylisting waits at least five minutes; an early retry often restarts its clock. */
export const GREYLIST_MIN = Duration.minutes(5)

/**
 * Returns the delay after `attempt` (1 is the first) has failed. A server's hint only lengthens the delay: a server
 * that always says "in a minute" would otherwise use up all attempts in ten. `random` is in [0, 1).
 */
export const nextAttempt = (
  attempt: number,
  replyClass: ReplyClass,
  hint: Duration.Duration | undefined,
  random: number,
): Duration.Duration | "expired" => {
  const delay = RETRY_DELAYS[attempt - 1]
  if (delay === undefined) return "expired"
  const jittered = Duration.times(delay, 1 + RETRY_JITTER * (2 * random - 1))
  const requested = Duration.max(hint ?? Duration.zero, replyClass === "greylisted" ? GREYLIST_MIN : Duration.zero)
  // The requested delay is a minimum, so jitter is only added to it.
  return Duration.max(jittered, Duration.times(requested, 1 + RETRY_JITTER * random))
}
