import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import type { PgClient } from "@effect/sql-pg"
import { Cause, Clock, Context, Duration, Effect, Layer, type Scope, Semaphore } from "effect"
import * as Databases from "../routing/Databases.ts"
import * as PerDatabase from "../routing/PerDatabase.ts"
import { Sockets } from "../postgres/Sockets.ts"
import { type Problem, problemOf } from "./Problem.ts"
import { away, type StoreUnavailable, IsAway } from "../postgres/StoreUnavailable.ts"
import * as WriteProbe from "./WriteProbe.ts"

// States of a database:
//
// | state     | it has         | the watch                       | next state                                            |
// |-----------|----------------|---------------------------------|-------------------------------------------------------|
// | usable    | nothing        | probes if a request waits long  | suspected: work fails, and so does the probe after it |
// | suspected | suspectedSince | probes at each look             | quiet: the probe succeeds                             |
// | lost      | lost           | probes; requests fail at once   | quiet: the probe succeeds                             |
// | quiet     | quietUntil     | as usable; no failure is logged | usable: QUIET_FOR is over                             |
//
// Any of the others is lost when an error says that no writes are taken, or when the probe fails after the time limit.

/** Default time that a request waits for a database that does not answer. */
export const DEFAULT_TIMEOUT = Duration.seconds(5)
/** How often waiting requests are looked at, and how often a database that cannot be used is probed, one probe at a time. */
export const LOOK_EVERY = Duration.millis(500)
/** Maximum time of a probe while the database cannot be used, and of one for a readiness check. */
export const PROBE_TIMEOUT = Duration.seconds(2)
/** Readiness checks within this time of a write that succeeded do not write again. */
export const WRITE_FRESH_FOR = Duration.seconds(5)
/** Age at which work fails even if the probe succeeds: its own connection is dead, since Postgres ends statements after 30 s. */
export const STUCK_AFTER = Duration.seconds(90)

/** Time after the database is back in which work that failed before it is not logged. */
export const QUIET_FOR = Duration.seconds(5)

export interface AvailabilityShape {
  /** Returns why the database cannot be used; undefined if it can, as far as this process knows. */
  readonly problem: () => Problem | undefined
  /** Notes that requests wait for the database from now on, until the returned function is called. */
  readonly waiting: () => () => void
  /** Runs when the database becomes unavailable. The listener answers the requests that wait. */
  readonly onLost: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
  /** Marks the database as unavailable if an error says that it refuses writes; returns whether it does. */
  readonly report: (cause: Cause.Cause<unknown>) => Effect.Effect<boolean>
  /** Returns why the database takes no writes, by a test write unless one succeeded just now. */
  readonly verify: Effect.Effect<Problem | undefined>
  /** Whether the database cannot be used, or could not be a moment ago. Work that failed asks, and the watch looks into it. */
  readonly isAway: Effect.Effect<boolean>
  /** Whether a watch ends the waiting for a database that is away. */
  readonly isWatched: boolean
}

/** The availability of home, and of the other databases by their names. */
export interface EachAvailability extends AvailabilityShape {
  readonly of: (name: string) => Effect.Effect<AvailabilityShape, StoreUnavailable>
}

/**
 * Whether the database can be used. Requests that wait for a database that does not answer are refused after a time limit,
 * and so is every request after them at once, until a test write succeeds.
 */
export class Availability extends Context.Service<Availability, EachAvailability>()(
  "@waybill/store/availability/Availability",
) {}

/** The availability of home as that of all. */
export const ofOne = (shape: AvailabilityShape): EachAvailability => ({ ...shape, of: () => Effect.succeed(shape) })

/** No watch, as in a command: each statement finds out by itself whether its database can be used. */
export const unwatched = Layer.succeed(
  Availability,
  ofOne({
    problem: () => undefined,
    waiting: () => () => {},
    onLost: () => Effect.void,
    report: () => Effect.succeed(false),
    verify: Effect.succeed(undefined),
    isAway: Effect.succeed(false),
    isWatched: false,
  }),
)

/** The availability of the fiber's database. */
export const here = Effect.flatMap(Availability, ({ of }) => Effect.flatMap(Databases.name, of))

/** Fails at once with 503 while the fiber's database cannot be used. */
export const check = Effect.gen(function* () {
  const { problem } = yield* here
  if (problem() !== undefined) yield* away()
})

export interface Options {
  readonly timeout: Duration.Duration
}

export const layer = (options: Options): Layer.Layer<Availability, StoreUnavailable, PgClient.PgClient | Sockets> =>
  Layer.provideMerge(isAwayLayer, watches(options))

/** In a database that cannot be found, home is asked, which has the list of them. */
const isAwayLayer = Layer.effect(
  IsAway,
  Effect.map(Availability, ({ isAway, of }) =>
    Effect.flatMap(Effect.option(Effect.flatMap(Databases.name, of)), (found) =>
      found._tag === "Some" ? found.value.isAway : isAway,
    ),
  ),
)

const watches = ({ timeout }: Options): Layer.Layer<Availability, StoreUnavailable, PgClient.PgClient | Sockets> =>
  Layer.effect(
    Availability,
    Effect.gen(function* () {
      const sockets = yield* Sockets
      const watched = yield* PerDatabase.make(
        Effect.gen(function* () {
          const { closeAll } = yield* sockets.here
          return yield* make(timeout, yield* WriteProbe.make, closeAll)
        }),
      )
      return { ...watched.first, of: watched.at }
    }),
  )

/** Makes the watch of a database that is tested by a probe. */
export const make = Effect.fnUntraced(function* (
  timeout: Duration.Duration,
  probe: WriteProbe.WriteProbe,
  closeAll: () => void,
): Effect.fn.Return<AvailabilityShape, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const now = () => MonotonicClock.millisOf(clock)
  const cell = yield* Databases.name
  const named = (yield* Databases.isHome) ? [] : [{ cell }]
  const oneProbe = Semaphore.makeUnsafe(1)
  const oneQuestion = Semaphore.makeUnsafe(1)
  const listeners = new Set<() => void>()
  /** Start of each wait, the oldest first. */
  const waits = new Map<symbol, number>()
  let lost: { readonly problem: Problem; readonly since: number } | undefined
  let lastWrite = -Infinity
  /** Since when work has failed whose test failed as well. Requests still wait for a database that restarts. */
  let suspectedSince: number | undefined
  /** Work that failed before the database came back ends until then. */
  let quietUntil = -Infinity

  const test = (limit: Duration.Input) =>
    oneProbe.withPermit(
      Effect.tap(probe(limit), (problem) =>
        Effect.sync(() => {
          if (problem === undefined) lastWrite = now()
        }),
      ),
    )

  const lose = (problem: Problem, isSilent: boolean) =>
    Effect.suspend(() => {
      if (lost !== undefined) return Effect.void
      lost = { problem, since: suspectedSince ?? now() }
      lastWrite = -Infinity
      // First, because a listener says what a commit can still become: its connection must be closed soon after.
      for (const listener of listeners) listener()
      if (isSilent) closeAll()
      const line = `${problem.text}: requests are answered 503 until a test write succeeds`
      return Effect.logError(line, ...named, problem.cause)
    })

  const noteAnswer = () => {
    suspectedSince = undefined
    quietUntil = now() + Duration.toMillis(QUIET_FOR)
  }

  const recover = Effect.suspend(() => {
    noteAnswer()
    const seconds = Math.round((now() - (lost?.since ?? now())) / 1_000)
    lost = undefined
    waits.clear()
    return Effect.logInfo(`the database takes writes again after ${seconds} s`, ...named)
  })

  /** Probes on behalf of work that waits for long. A lock that it waits for is no reason to refuse other requests. */
  const inspect = Effect.gen(function* () {
    const [oldest] = waits.values()
    const age = oldest === undefined ? 0 : now() - oldest
    const limit = Duration.toMillis(timeout)
    if (age < limit / 2) return
    const problem = yield* test(Math.max(limit - age, limit / 2))
    const [still] = waits.values()
    if (oldest === undefined || still !== oldest) return
    if (problem !== undefined && problemOf(problem.cause) !== undefined) return yield* lose(problem, false)
    if (problem !== undefined && now() - oldest >= limit) return yield* lose(problem, true)
    if (problem === undefined && now() - oldest >= Duration.toMillis(STUCK_AFTER))
      yield* lose({ text: STUCK, cause: Cause.empty }, true)
  })

  /** Probes a database for which only work of the service has failed, which no request waits for. */
  const followUp = Effect.gen(function* () {
    const problem = yield* test(PROBE_TIMEOUT)
    if (suspectedSince === undefined) return
    if (problem === undefined) return noteAnswer()
    const [oldest = suspectedSince] = waits.values()
    if (problemOf(problem.cause) !== undefined) return yield* lose(problem, false)
    if (now() - Math.min(oldest, suspectedSince) >= Duration.toMillis(timeout)) yield* lose(problem, true)
  })

  const isAway = Effect.suspend(() => {
    const isKnown = () => lost !== undefined || suspectedSince !== undefined || now() < quietUntil
    if (isKnown()) return Effect.succeed(true)
    return Effect.map(test(PROBE_TIMEOUT), (problem) => {
      if (problem !== undefined) suspectedSince ??= now()
      return isKnown()
    })
  }).pipe(oneQuestion.withPermit)

  const look = Effect.suspend(() => {
    if (lost === undefined) return suspectedSince === undefined ? inspect : followUp
    return Effect.flatMap(test(PROBE_TIMEOUT), (problem) => (problem === undefined ? recover : Effect.void))
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(LOOK_EVERY), look)))

  return {
    isWatched: true,
    isAway,
    problem: () => lost?.problem,
    waiting: () => {
      const wait = Symbol()
      waits.set(wait, now())
      return () => void waits.delete(wait)
    },
    onLost: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => void listeners.add(listener)),
        () => Effect.sync(() => void listeners.delete(listener)),
      ),
    report: (cause) =>
      Effect.suspend(() => {
        const problem = problemOf(cause)
        return problem === undefined ? Effect.succeed(false) : Effect.as(lose(problem, false), true)
      }),
    verify: Effect.suspend(() => {
      if (lost !== undefined) return Effect.succeed(lost.problem)
      if (now() - lastWrite < Duration.toMillis(WRITE_FRESH_FOR)) return Effect.succeed(undefined)
      return Effect.tap(test(PROBE_TIMEOUT), (problem) =>
        problem !== undefined && problemOf(problem.cause) !== undefined ? lose(problem, false) : Effect.void,
      )
    }),
  }
})

const STUCK = "a connection to the database does not answer"
