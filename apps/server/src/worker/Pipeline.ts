import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { PgClient } from "@effect/sql-pg"
import type { EventStore } from "@waybill/store/commit/EventStore"
import type { OutboxRow } from "@waybill/store/commit/LogStorage"
import * as Leases from "@waybill/store/outbox/Leases"
import * as Outbox from "@waybill/store/outbox/Outbox"
import { Processes } from "@waybill/store/outbox/Processes"
import * as Reclaim from "@waybill/store/outbox/Reclaim"
import * as SqlErrors from "@waybill/store/postgres/SqlErrors"
import { Cause, DateTime, Deferred, Duration, Effect, Fiber, FiberSet, Queue, Schedule, Scope } from "effect"
import * as Stop from "../boot/Stop.ts"
import * as ClaimedRows from "./ClaimedRows.ts"

/** Rows that one process works on at once. What waits for a slow server must not keep others from theirs. */
export const MAX_IN_FLIGHT = 400
/** While work is under way, a claim waits this long for more rows and more room: each costs the same for one as for many. */
export const CLAIM_PACE = Duration.millis(10)
/** Of the 30 seconds that a service is given to stop. */
export const STOP_WITHIN = Duration.seconds(25)
/** And then for what was learnt of a part of the work to be written down. */
export const LAST_WORDS_WITHIN = Duration.seconds(2)
/** And at last for the rest to be given back. What is not, others take when this process is seen to be dead. */
export const GIVE_BACK_WITHIN = Duration.seconds(1)
/** Work that broke on a bug of ours before anything was sent is looked at again after this. */
export const BROKEN_PAUSE = Duration.minutes(5)
/** Wake-ups may be lost with the process that took them, so each process also looks by itself this often. */
export const LOOK_EVERY = Duration.seconds(5)
/** A backlog calls other processes this often. */
const CALL_EVERY = Duration.seconds(1)
/** Without a session that shows this process alive nothing is claimed; a new one is made within this. */
const UNSEEN_PAUSE = Duration.millis(500)
const TROUBLE_PAUSE = Duration.seconds(1)
/** So long after the database was away it is looked for leases of ours that we know nothing of: a claim may still land. */
const UNSURE_MS = 30_000
/** Claims whose rows are known to have come. Those of a lease that has run out are nobody's any more. */
const MAX_TOKENS = 10_000

/** A row under way. Whoever works on it settles it: by a commit with its lease, by a pause, or by giving it back. */
export interface Job {
  readonly row: Leases.Leased
  /** To be asked right before anything leaves this machine, any number of times: false when it is to be given back. */
  readonly start: () => boolean
  /** Not begun after all: somebody else may take it, as soon as the database can be told. */
  readonly giveBack: Effect.Effect<void>
  /** The outcome is known and on its way into the log, where the lease is checked. */
  readonly settle: () => void
  /** Ends when the time to stop is over and there is something to write down; the rest of the work is lost then. */
  readonly lastWords: (areThere: () => boolean) => Effect.Effect<void>
}

export interface Options<R> {
  readonly kind: OutboxRow["kind"]
  readonly inFlight?: number
  readonly stopWithin?: Duration.Input
  /** One effect a job, in their order. What they have in common is read here. */
  readonly prepare: (jobs: ReadonlyArray<Job>) => Effect.Effect<ReadonlyArray<Effect.Effect<void, never, R>>, never, R>
}

export interface Pipeline {
  /** There may be work. */
  readonly kick: Effect.Effect<void>
  readonly inFlight: () => number
}

/** Claims rows, works on all of them at once, and settles each by itself. Closing the scope stops it with care. */
export const make = <R>(
  options: Options<R>,
): Effect.Effect<Pipeline, never, R | PgClient.PgClient | Processes | EventStore | Scope.Scope> =>
  // A scope of its own, so that pipelines may stop side by side and each still in its own order.
  Effect.flatMap(Effect.flatMap(Effect.scope, Scope.fork), (scope) => Scope.provide(build(options), scope))

const build = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const processes = yield* Processes
    const context = yield* Effect.context<R | PgClient.PgClient | EventStore>()
    const stop = yield* Stop.Stop
    const most = options.inFlight ?? MAX_IN_FLIGHT
    const repliesUntil = Duration.fromInputUnsafe(options.stopWithin ?? STOP_WITHIN)
    const wordsUntil = Duration.sum(repliesUntil, LAST_WORDS_WITHIN)
    const flights = ClaimedRows.make()
    const signals = yield* Queue.sliding<void>(1)
    const kick = Effect.sync(() => void Queue.offerUnsafe(signals, undefined))
    const fibers = yield* FiberSet.make<void>()
    let stopping = false
    let hungry = false
    let after = ""
    let calledAt = 0
    let unsureUntil = -Infinity
    const tokens = new Set<string>()

    const giveBack = (batch: ReadonlyArray<ClaimedRows.Flight>) =>
      Effect.andThen(untilDone(Leases.free(batch.map(({ row }) => row))), kick)

    const jobOf = (flight: ClaimedRows.Flight): Job => ({
      row: flight.row,
      start: () => {
        // Once others may have taken this process for dead, what was leased before is perhaps on its way from there.
        const since = processes.trustedSince()
        if (stopping || flight.dropped || since === undefined || flight.leased_at < since) return false
        flight.phase = "started"
        return true
      },
      giveBack: Effect.provideContext(giveBack([flight]), context),
      settle: () => {
        flight.phase = "settling"
      },
      lastWords: (areThere) => {
        const asked = Deferred.makeUnsafe<void>()
        flight.lastWords = { areThere, asked }
        return Deferred.await(asked)
      },
    })

    const land = (flight: ClaimedRows.Flight) => {
      flights.remove(flight)
      if (hungry) Queue.offerUnsafe(signals, undefined)
    }

    /** A bug: what was sent is left to its lease, so that the log tells of a lost attempt and not of none. */
    const broken = (flight: ClaimedRows.Flight, cause: Cause.Cause<never>) =>
      Effect.gen(function* () {
        if (Cause.hasInterruptsOnly(cause)) return
        if (flight.phase === "claimed" && SqlErrors.isAway(cause)) return yield* giveBack([flight])
        yield* Effect.logError("work on a row broke", { id: flight.row.id, phase: flight.phase }, cause)
        if (flight.phase !== "claimed") return
        const until = DateTime.addDuration(yield* DateTime.now, BROKEN_PAUSE)
        yield* untilDone(Leases.postpone(flight.row, DateTime.formatIso(until)))
      })

    const fly = (flight: ClaimedRows.Flight, work: Effect.Effect<void, never, R>) =>
      FiberSet.run(
        fibers,
        work.pipe(
          Effect.catchCause((cause) => broken(flight, cause)),
          Effect.provideContext(context),
          Effect.ensuring(Effect.sync(() => land(flight))),
        ),
      ).pipe(Effect.tap((fiber) => Effect.sync(() => (flight.fiber = fiber))))

    const launch = (batch: ReadonlyArray<ClaimedRows.Flight>): Effect.Effect<void, never, R | PgClient.PgClient> =>
      options.prepare(batch.map(jobOf)).pipe(
        Effect.flatMap((works) =>
          Effect.forEach(batch, (flight, i) => fly(flight, works[i] ?? Effect.void), { discard: true }),
        ),
        // One row that cannot be read must not hold up those it was claimed with. Where the database is away, nothing is
        // wrong with any of them.
        Effect.catchCause((cause) =>
          SqlErrors.isAway(cause)
            ? Effect.ensuring(
                giveBack(batch),
                Effect.sync(() => batch.forEach(land)),
              )
            : batch.length > 1
              ? Effect.forEach(batch, (flight) => launch([flight]), { discard: true })
              : Effect.forEach(batch, (flight) => fly(flight, Effect.failCause(cause)), { discard: true }),
        ),
      )

    const claim = Effect.gen(function* () {
      const free = most - flights.size()
      if (free <= 0) return "later" as const
      const now = yield* SteadyClock.millis
      const token = Leases.newToken()
      const claimed = yield* Leases.claim({
        kind: options.kind,
        owner: processes.id,
        token,
        // However slow the servers are that one account writes to, there is room for the next: a claim leaves half of
        // the room there is, and an account that has as much as is left gets no more.
        limit: Math.ceil(free / 2),
        without: flights.accountsWithAtLeast(free),
        after,
      })
      after = claimed.after
      if (claimed.rows.length > 0) note(token)
      const batch = claimed.rows.map((row) => flights.add(row, now))
      if (batch.length > 0) yield* FiberSet.run(fibers, Effect.provideContext(launch(batch), context))
      return claimed.more
      // What the database has leased to us is ours to give back, also when it is told while we are stopping.
    }).pipe(Effect.uninterruptible)

    const note = (token: string) => {
      tokens.add(token)
      for (const oldest of tokens) {
        if (tokens.size <= MAX_TOKENS) break
        tokens.delete(oldest)
      }
    }

    /**
     * Leases of ours that nobody here works on. Of a claim whose answer was lost on the way nothing was tried. What had come,
     * and is leased still, was done with, and a failover has lost that; or an heir has it, who may have died of it.
     */
    const giveBackUnknown = Effect.gen(function* () {
      const mine = new Set(flights.all().map((flight) => flight.row.id))
      const held = yield* Leases.ofOwner(processes.id)
      const unknown = held.filter((row) => row.kind === options.kind && !mine.has(row.id))
      const wasTried = (row: Leases.Leased) => tokens.has(row.token) || Leases.isInherited(row)
      yield* Leases.free(unknown.filter((row) => !wasTried(row)))
      yield* Reclaim.reclaim(unknown.filter(wasTried))
    })

    const unsure = Effect.map(SteadyClock.millis, (now) => void (unsureUntil = now + UNSURE_MS))

    const work = Effect.gen(function* () {
      yield* Queue.take(signals)
      if ((yield* SteadyClock.millis) < unsureUntil) yield* giveBackUnknown
      if (flights.size() > 0) yield* Effect.sleep(CLAIM_PACE)
      hungry = false
      let more: Leases.Claimed["more"] = "now"
      while (more === "now" && !stopping && processes.isSeen()) {
        more = yield* claim
        if (more === "now") yield* call
      }
      hungry = more !== "no"
      // Rows may have landed while nobody was hungry; and without a session no claim was made at all.
      if (hungry && flights.size() < most / 2) yield* retryLater
    })

    const retryLater = Effect.suspend(() =>
      FiberSet.run(
        fibers,
        Effect.andThen(
          Effect.sleep(processes.isSeen() ? CLAIM_PACE : UNSEEN_PAUSE),
          Effect.sync(() => void Queue.offerUnsafe(signals, undefined)),
        ),
      ),
    )

    const call = Effect.gen(function* () {
      const now = yield* SteadyClock.millis
      if (now - calledAt < Duration.toMillis(CALL_EVERY)) return
      calledAt = now
      yield* Effect.orDie(Outbox.wake(sql, options.kind))
    })

    const claiming = yield* work.pipe(
      Effect.catchCause((cause) =>
        Effect.logError("claiming work failed", cause).pipe(
          Effect.andThen(Effect.sleep(TROUBLE_PAUSE)),
          Effect.andThen(untilDone(giveBackUnknown)),
          Effect.andThen(unsure),
          Effect.andThen(Effect.sync(() => Queue.offerUnsafe(signals, undefined))),
        ),
      ),
      Effect.forever,
      Effect.forkScoped,
    )
    yield* Effect.forkScoped(Effect.repeat(kick, Schedule.spaced(LOOK_EVERY)))
    const sight = Effect.suspend(() => (processes.isSeen() ? Effect.void : unsure))
    yield* Effect.forkScoped(Effect.repeat(sight, Schedule.spaced(UNSEEN_PAUSE)))
    yield* Effect.forkScoped(ClaimedRows.keepLeases(flights, processes.trustedSince))
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        stopping = true
        const landed = Effect.andThen(Fiber.interrupt(claiming), flights.empty)
        const began = yield* stop.began
        const inTime = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>, until: Duration.Duration) {
          yield* Effect.timeoutOption(Effect.interruptible(work), yield* Stop.left(began, until))
        })
        yield* inTime(landed, repliesUntil)
        yield* inTime(ClaimedRows.takeLastWords(flights.all()), wordsUntil)
        const left = flights.all()
        yield* Effect.forEach(left, ClaimedRows.abort, { discard: true })
        // Whoever has not answered by now keeps his answer: the log says that the attempt was lost. Of what never began
        // there is nothing to say.
        const rows = (begun: boolean) =>
          left.filter(({ phase }) => (phase !== "claimed") === begun).map(({ row }) => row)
        const giveRest = Effect.andThen(Leases.free(rows(false)), Reclaim.reclaim(rows(true)))
        // Wake-ups that came here while we were stopping were meant for somebody.
        const wake = Effect.ignoreCause(Outbox.wake(sql, options.kind))
        yield* inTime(Effect.andThen(giveRest, wake), Duration.sum(wordsUntil, GIVE_BACK_WITHIN))
      }).pipe(Effect.provideContext(context)),
    )
    return { kick, inFlight: flights.size }
  })

/** The database comes back at some time, and until then there is nothing else to do here. */
const untilDone = <R>(effect: Effect.Effect<void, never, R>): Effect.Effect<void, never, R> =>
  Effect.catchCause(effect, () => Effect.andThen(Effect.sleep(TROUBLE_PAUSE), untilDone(effect)))
