import { Clock, Effect } from "effect"
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises"

/** What is counted by the month is counted in less than this. */
const COUNTED_WITHIN_MS = 20_000

/** The month must not end in the midst of a count: the end of one that is all but over is waited for. */
export const enoughOfTheMonth = Effect.promise(async () => {
  const now = new Date()
  const left = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()
  if (left < COUNTED_WITHIN_MS) await pause(left + 50)
})

/** What happens from now on is later than what has happened: ids of one millisecond stand in any order. */
export const nextMillisecond = Effect.promise(async () => {
  for (const now = Date.now(); Date.now() === now;) await turn()
})

/** The same clock after somebody set the one on the wall by so much; the steady one has gone on by `later`. */
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

/** Runs it as if the clock on the wall had been set meanwhile. */
export const whenSet =
  (wallMillis: number, later = 0) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (clock) => Effect.provideService(effect, Clock.Clock, set(clock, wallMillis, later)))

/** Runs it by a clock on the wall that somebody sets a minute back at every look. */
export const everEarlier = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
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
