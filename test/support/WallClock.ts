import { Clock, Effect, Function, Layer } from "effect"
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises"

/** Upper bound of the duration of a test that counts by month. */
const COUNTED_WITHIN_MS = 20_000

/** Waits for the next month where the current one is about to end, so that a month never ends during a count. */
export const awayFromEndOfMonth = Effect.promise(async () => {
  const now = new Date()
  const left = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()
  if (left < COUNTED_WITHIN_MS) await pause(left + 50)
})

/** Waits for the next millisecond; ids of one millisecond have no order. */
export const nextMillisecond = Effect.promise(async () => {
  for (const now = Date.now(); Date.now() === now;) await turn()
})

/** Returns the clock with its wall time shifted, and its monotonic time `later` milliseconds ahead. */
const set = (clock: Clock.Clock, wallMillis: number, later = 0): Clock.Clock => {
  const nanos = (millis: number) => BigInt(millis) * 1_000_000n
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + wallMillis
  const currentTimeNanosUnsafe = () => clock.currentTimeNanosUnsafe() + nanos(wallMillis)
  const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() + nanos(later)
  return {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanosUnsafe,
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    monotonicTimeNanosUnsafe,
    monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe),
    sleep: (duration) => clock.sleep(duration),
  }
}

/** Wall clock that stands, so that no minute ends while a test counts. Pauses and the monotonic time go on. */
export const layerStanding = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (clock) => {
    const currentTimeMillisUnsafe = Function.constant(clock.currentTimeMillisUnsafe())
    const currentTimeNanosUnsafe = Function.constant(clock.currentTimeNanosUnsafe())
    return {
      ...set(clock, 0),
      currentTimeMillisUnsafe,
      currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
      currentTimeNanosUnsafe,
      currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    }
  }),
)

/** Runs an effect as if the wall clock had been set meanwhile. */
export const withWallClockShifted =
  (wallMillis: number, later = 0) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (clock) => Effect.provideService(effect, Clock.Clock, set(clock, wallMillis, later)))

/** Runs an effect with a wall clock that is set back by a minute at every reading. */
export const withWallClockRunningBack = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    let looks = 0
    const earlier = (): Clock.Clock => set(clock, -60_000 * ++looks)
    const currentTimeMillisUnsafe = () => earlier().currentTimeMillisUnsafe()
    const currentTimeNanosUnsafe = () => earlier().currentTimeNanosUnsafe()
    return Effect.provideService(effect, Clock.Clock, {
      ...set(clock, 0),
      currentTimeMillisUnsafe,
      currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
      currentTimeNanosUnsafe,
      currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    })
  })
