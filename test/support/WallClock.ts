import { Clock, Context, Effect, Layer } from "effect"
import { setImmediate as turn } from "node:timers/promises"

/** Middle of a day and of a month, at which tests begin that count by one of them. */
export const MIDDLE = "2026-11-15T12:00:00.000Z"

/** Instant some hours after the middle, such as one to schedule mail at. */
export const hoursAfterMiddle = (hours: number) => new Date(Date.parse(MIDDLE) + hours * 3_600_000).toISOString()

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

/** Wall clock that begins at an instant, so that no month and no day ends while a test counts. */
export const layerFrom = (instant: string) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (clock) => set(clock, Date.parse(instant) - clock.currentTimeMillisUnsafe())),
  )

export const layerFromMiddle = layerFrom(MIDDLE)

/** Wall clock that stands, so that no minute ends while a test counts. Pauses and the monotonic time go on. */
export class StandingClock extends Context.Service<
  StandingClock,
  { readonly set: (instant: string) => Effect.Effect<void> }
>()("test/StandingClock") {
  static readonly layer = (instant: string) =>
    Layer.effectContext(
      Effect.map(Clock.Clock, (clock) => {
        let millis = Date.parse(instant)
        const currentTimeMillisUnsafe = () => millis
        const currentTimeNanosUnsafe = () => BigInt(millis) * 1_000_000n
        return Context.make(Clock.Clock, {
          ...set(clock, 0),
          currentTimeMillisUnsafe,
          currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
          currentTimeNanosUnsafe,
          currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
        }).pipe(
          Context.add(StandingClock, {
            set: (to) => Effect.sync(() => void (millis = Date.parse(to))),
          }),
        )
      }),
    )
}

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
