import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import * as Leases from "@waybill/store/outbox/Leases"
import { Deferred, Duration, Effect, Exit, Fiber, Queue, Schedule } from "effect"

/** Where a row is: still here, perhaps on the wire, or with its outcome on the way into the log. */
export type Phase = "claimed" | "started" | "settling"

export interface Flight {
  readonly row: Leases.Leased
  phase: Phase
  /** When the lease was last known to begin. */
  leased_at: number
  /** Its lease is lost, or may be: nothing is begun any more, also where nobody works on it yet who could be stopped. */
  dropped: boolean
  /** What is to be written down when the time to stop is over, if there is anything, and how to ask for it. */
  lastWords: { readonly areThere: () => boolean; readonly asked: Deferred.Deferred<void> } | undefined
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

export interface Flights {
  readonly size: () => number
  readonly all: () => ReadonlyArray<Flight>
  readonly add: (row: Leases.Leased, now: number) => Flight
  readonly remove: (flight: Flight) => void
  readonly accountsWithAtLeast: (rows: number) => ReadonlySet<string>
  readonly empty: Effect.Effect<void>
}

/** Work stops this long before its lease ends: whoever takes over must never find the former holder still at it. */
export const LEASE_MARGIN = Duration.seconds(5)
/** An answer to a renewal that takes longer counts as none; another renewal fits before the lease ends. */
const RENEW_TIMEOUT = Duration.seconds(10)

/** The rows that this process works on, one kind's. */
export const make = (): Flights => {
  const flights = new Set<Flight>()
  const accounts = new Map<string, number>()
  const waiting = new Set<Deferred.Deferred<void>>()
  const count = (account: string, by: number) => {
    const rows = (accounts.get(account) ?? 0) + by
    if (rows === 0) accounts.delete(account)
    else accounts.set(account, rows)
  }
  return {
    size: () => flights.size,
    all: () => [...flights],
    add: (row, now) => {
      const flight: Flight = {
        row,
        phase: "claimed",
        leased_at: now,
        dropped: false,
        lastWords: undefined,
        fiber: undefined,
      }
      flights.add(flight)
      count(row.account_id, 1)
      return flight
    },
    remove: (flight) => {
      if (!flights.delete(flight)) return
      count(flight.row.account_id, -1)
      if (flights.size > 0) return
      for (const done of waiting) Deferred.doneUnsafe(done, Exit.void)
      waiting.clear()
    },
    accountsWithAtLeast: (rows) => new Set([...accounts].flatMap(([account, has]) => (has >= rows ? [account] : []))),
    empty: Effect.suspend(() => {
      if (flights.size === 0) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      waiting.add(done)
      return Deferred.await(done)
    }),
  }
}

export const abort = (flight: Flight): Effect.Effect<void> =>
  flight.fiber === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(flight.fiber))

/** Lets those write down what they have learnt who have learnt something. */
export const takeLastWords = (flights: ReadonlyArray<Flight>): Effect.Effect<void> =>
  Effect.forEach(
    flights.filter(({ lastWords }) => lastWords?.areThere() === true),
    ({ fiber, lastWords }) => {
      if (lastWords !== undefined) Deferred.doneUnsafe(lastWords.asked, Exit.void)
      return fiber === undefined ? Effect.void : Fiber.await(fiber)
    },
    { concurrency: "unbounded", discard: true },
  )

/**
 * Renews the leases of what is under way; what has lost its lease, or may have by now, is dropped on the spot. A process
 * that others could have taken for dead asks at once what it still has.
 */
export const keepLeases = Effect.fnUntraced(function* (flights: Flights, trustedSince: () => number | undefined) {
  const due = yield* Queue.sliding<void>(1)
  const renew = Effect.gen(function* () {
    const held = flights.all().map((flight) => ({ flight, id: flight.row.id, token: flight.row.token }))
    if (held.length === 0) return
    const began = yield* SteadyClock.millis
    const kept = yield* Leases.renew(held)
    for (const { flight, id } of held) {
      if (kept.has(id)) flight.leased_at = began
      else if (flight.phase !== "settling") yield* drop(flight)
    }
  })
  const drop = Effect.fnUntraced(function* (flight: Flight) {
    if (flight.dropped) return
    flight.dropped = true
    yield* Effect.logWarning("a lease was lost; its work is dropped", { id: flight.row.id })
    yield* abort(flight)
  })
  const overdue = Effect.gen(function* () {
    const now = yield* SteadyClock.millis
    const end = Duration.toMillis(Leases.LEASE) - Duration.toMillis(LEASE_MARGIN)
    const since = trustedSince() ?? -Infinity
    if (flights.all().some((flight) => flight.leased_at < since)) Queue.offerUnsafe(due, undefined)
    for (const flight of flights.all())
      if (flight.phase !== "settling" && now - flight.leased_at >= end) yield* drop(flight)
  })
  yield* Effect.all(
    [
      Effect.timeoutOption(Queue.take(due), Leases.RENEW_EVERY).pipe(
        Effect.andThen(Effect.timeout(renew, RENEW_TIMEOUT)),
        Effect.catchCause((cause) => Effect.logWarning("leases could not be renewed", cause)),
        Effect.forever,
      ),
      Effect.repeat(overdue, Schedule.spaced("1 second")),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
