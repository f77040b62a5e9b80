import { Clock, Effect } from "effect"

/** For waits and durations within this process: the clock on the wall is set now and then, this one never. */
export const millis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** The same where an effect of its own would cost more than the answer. */
export const millisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
