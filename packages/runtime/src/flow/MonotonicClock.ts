import { Clock, Effect } from "effect"

/**
 * Monotonic time in milliseconds, for waits and durations within this process. Unlike wall-clock time, nothing ever
 * sets it back.
 */
export const millis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** Monotonic time in milliseconds, read without an effect, for hot paths. */
export const millisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
