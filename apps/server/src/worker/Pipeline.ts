import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import type { PgClient } from "@effect/sql-pg"
import type { EventStore } from "@waybill/store/commit/EventStore"
import type { Leased, OutboxRow } from "@waybill/store/outbox/OutboxRow"
import * as Leases from "@waybill/store/outbox/Leases"
import * as WakeUps from "@waybill/store/outbox/WakeUps"
import * as Processes from "@waybill/store/outbox/Processes"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import { Sql } from "@waybill/store/postgres/Sql"
import * as StoreUnavailable from "@waybill/store/postgres/StoreUnavailable"
import { Cause, DateTime, Duration, Effect, Fiber, Queue, Schedule, Scope } from "effect"
import * as RunningFibers from "../process/RunningFibers.ts"
import * as Stop from "../process/Stop.ts"
import * as ClaimedRows from "./ClaimedRows.ts"
import * as LostClaims from "./LostClaims.ts"
import * as Pace from "./Pace.ts"
import * as RowBound from "./RowBound.ts"

// From a row to the end of its work, in order:
// 1. A wake-up, a timer or a free place leaves a signal, and `claimAll` takes it.
// 2. `claim` leases ready rows: as many as half of the free places, an equal share for each account.
// 3. `runAll` prepares them together, by what their work has in common; each alone if that fails.
// 4. `run` starts a fiber for each row. `start` of its job says, just before anything leaves, whether the lease allows it.
// 5. The work ends its row: by a commit under the lease, a pause or `giveBack`. After an error `handleFailure` does.
// 6. Meanwhile `ClaimedRows.keepLeases` renews the leases, and interrupts work whose lease is lost.
// 7. The finalizer claims nothing more, waits for work under way, has partial results written, and gives the rest back.

/** Maximum number of rows that one process works on at once, so that waiting for slow servers does not block other rows. */
export const MAX_IN_FLIGHT = 400
/** Time for work in flight to end when the service stops, out of the 30 seconds that a service is given. */
export const STOP_WITHIN = Duration.seconds(25)
/** Time after that to write the results of a part of the work. */
export const PARTIAL_RESULTS_WITHIN = Duration.seconds(2)
/** Time after that to give the other rows back. Rows that are not, others take once this process is seen to be dead. */
export const GIVE_BACK_WITHIN = Duration.seconds(1)
/** Pause before a row is tried again whose work failed by a bug before anything was sent. */
export const BROKEN_PAUSE = Duration.minutes(5)
/** Interval at which each process looks for work by itself, since a wake-up can be lost with the process that took it. */
export const LOOK_EVERY = Duration.seconds(5)
/** Minimum interval between the wake-ups that a backlog sends to other processes. */
const CALL_EVERY = Duration.seconds(1)
/** Pause before claiming is tried again while no session shows this process to be alive. */
const UNSEEN_PAUSE = Duration.millis(500)
/** Pause after the database failed. */
const FAILURE_PAUSE = Duration.seconds(1)

/** A row in flight. Its work ends with a commit under its lease, a pause, or by giving the row back. */
export interface PipelineJob {
  readonly row: Leased
  /** Called before anything leaves this machine, any number of times. False if the row must be given back instead. */
  readonly start: () => boolean
  /** Gives a row back that was not started, so that another process can take it. */
  readonly giveBack: Effect.Effect<void>
  /** Notes that the outcome is known and is being written to the log, which checks the lease. */
  readonly noteOutcome: () => void
  /** Waits until results of the pipeline are written, if others of its kind have rows in flight as well. */
  readonly inTurn: Effect.Effect<void>
  /** Names the results that are written when the time to stop has passed; the rest of the work is lost then. */
  readonly onPartialResults: (results: ClaimedRows.PartialResults) => void
}

/** The work on a row. */
type Work<R> = Effect.Effect<void, StoreUnavailable.StoreUnavailable, R>

export interface Options<R> {
  readonly kind: OutboxRow["kind"]
  /** Maximum number of rows in flight, if the pipeline is the only one of its kind. */
  readonly inFlight?: number
  /** The bound that the other pipelines of the kind share. */
  readonly bound?: RowBound.RowBound
  readonly stopWithin?: Duration.Input
  /** Reads what the jobs have in common, and returns what makes the work of each. */
  readonly prepare: (
    jobs: ReadonlyArray<PipelineJob>,
  ) => Effect.Effect<(job: PipelineJob) => Work<R>, StoreUnavailable.StoreUnavailable, R>
}

export interface Pipeline {
  /** Looks for work. */
  readonly kick: Effect.Effect<void>
  readonly inFlight: () => number
}

/** Claims rows of the fiber's database, works on all of them at once and ends each by itself. Closing the scope stops it in an orderly way. */
export const make = <R>(options: Options<R>) =>
  // Each pipeline has its own scope, so that pipelines stop at the same time and each still in its own order.
  Effect.flatMap(Effect.flatMap(Effect.scope, Scope.fork), (scope) => Scope.provide(build(options), scope))

const build = <R>({ inFlight = MAX_IN_FLIGHT, kind, prepare, stopWithin = STOP_WITHIN, ...options }: Options<R>) =>
  Effect.gen(function* () {
    const bound = options.bound ?? RowBound.make(inFlight)
    const sql = yield* Sql
    const processes = yield* Processes.here
    const context = yield* Effect.context<R | PgClient.PgClient | EventStore>()
    const stop = yield* Stop.Stop
    const rows = ClaimedRows.make()
    const lostClaims = LostClaims.make(kind, processes.id, rows)
    const signals = yield* Queue.sliding<void>(1)
    const signal = () => void Queue.offerUnsafe(signals, undefined)
    const kick = Effect.sync(signal)
    const running = yield* RunningFibers.make
    /** Whether the service stops. Set by the finalizer. */
    let stopping = false
    /** Whether a free place is to be filled at once. Set by `claimAll`, each time that it has claimed. */
    let wantsMore = false
    /** Account after which the next claim starts. Set by `claim`. */
    let after = ""
    /** When other processes were woken last. Set by `callOthers`. */
    let calledAt = 0

    const giveBack = (batch: ReadonlyArray<ClaimedRows.ClaimedRow>) =>
      Effect.andThen(untilDone(Leases.release(batch.map(({ row }) => row))), kick)

    const inTurn = Effect.flatMap(MonotonicClock.millis, (now) => {
      const pause = stopping ? 0 : Pace.resultPause(bound.busy(), now)
      return pause === 0 ? Effect.void : Effect.sleep(pause)
    })

    const jobOf = (claimed: ClaimedRows.ClaimedRow): PipelineJob => ({
      row: claimed.row,
      start: () => {
        // If others may have taken this process for dead, rows leased before may already be under way elsewhere.
        const since = processes.trustedSince()
        if (stopping || claimed.dropped || since === undefined || claimed.leased_at < since) return false
        claimed.phase = "started"
        return true
      },
      giveBack: Effect.suspend(() => Effect.provideContext(giveBack([claimed]), context)),
      noteOutcome: () => void (claimed.phase = "recording"),
      inTurn,
      onPartialResults: (results) => void (claimed.partialResults = results),
    })

    const inFlightRows: RowBound.PipelineRows = { size: rows.size, onFree: () => (wantsMore ? signal() : undefined) }
    yield* Effect.acquireRelease(
      Effect.sync(() => bound.add(inFlightRows)),
      () => Effect.sync(() => bound.remove(inFlightRows)),
    )

    const finish = (claimed: ClaimedRows.ClaimedRow) => {
      rows.remove(claimed)
      bound.noteFree()
    }

    /** Handles a bug, or a store that cannot be used. A row that was started is left to its lease, so that the log records a lost attempt. */
    const handleFailure = (claimed: ClaimedRows.ClaimedRow, cause: Cause.Cause<StoreUnavailable.StoreUnavailable>) =>
      Effect.gen(function* () {
        const { phase, row } = claimed
        if (Cause.hasInterruptsOnly(cause)) return
        if (phase === "claimed" && StoreUnavailable.isConnectionLost(cause)) return yield* giveBack([claimed])
        const line = Effect.logError(
          "work on an outbox row failed; it will be tried again",
          { id: row.id, phase },
          cause,
        )
        yield* StoreUnavailable.isConnectionLost(cause) ? StoreUnavailable.unlessAway(line) : line
        if (phase !== "claimed") return
        const until = DateTime.addDuration(yield* DateTime.now, BROKEN_PAUSE)
        yield* untilDone(Leases.postpone(row, DateTime.formatIso(until)))
      })

    const run = (claimed: ClaimedRows.ClaimedRow, work: () => Work<R>) =>
      Effect.map(
        running.start(
          Effect.ensuring(
            Effect.catchCause(Effect.suspend(work), (cause) => handleFailure(claimed, cause)),
            Effect.sync(() => finish(claimed)),
          ),
        ),
        (fiber) => void (claimed.fiber = fiber),
      )

    const runAll = (
      batch: ReadonlyArray<ClaimedRows.ClaimedRow>,
    ): Effect.Effect<void, never, R | PgClient.PgClient> => {
      const jobs = batch.map((claimed) => ({ claimed, job: jobOf(claimed) }))
      return prepare(jobs.map(({ job }) => job)).pipe(
        Effect.flatMap((workOf) =>
          Effect.forEach(jobs, ({ claimed, job }) => run(claimed, () => workOf(job)), { discard: true }),
        ),
        // A row that cannot be read must not block the rows claimed with it, so each is then prepared alone. While the
        // database is away, nothing is wrong with any of them.
        Effect.catchCause((cause) =>
          StoreUnavailable.isConnectionLost(cause)
            ? Effect.ensuring(
                giveBack(batch),
                Effect.sync(() => batch.forEach(finish)),
              )
            : batch.length > 1
              ? Effect.forEach(batch, (claimed) => runAll([claimed]), { discard: true })
              : Effect.forEach(batch, (claimed) => run(claimed, () => Effect.failCause(cause)), { discard: true }),
        ),
      )
    }

    const claim = Effect.gen(function* () {
      const free = bound.free(inFlightRows)
      if (free <= 0) return "later" as const
      const now = yield* MonotonicClock.millis
      const token = Leases.newToken()
      const without = rows.accountsWithAtLeast(free)
      const claimed = yield* Leases.claim({
        kind,
        owner: processes.id,
        token,
        // A claim takes half of the free capacity, and an account that holds as much as is free gets no more, so that
        // accounts with slow servers leave capacity for others.
        limit: Math.ceil(free / 2),
        without,
        after,
      })
      after = claimed.after
      if (claimed.rows.length > 0) lostClaims.remember(token)
      const batch = claimed.rows.map((row) => rows.add(row, now))
      if (batch.length > 0) yield* running.start(Effect.provideContext(runAll(batch), context))
      return claimed.more
      // Leases that the database granted must be given back, also if its reply arrives while the service stops.
    }).pipe(Effect.uninterruptible)

    const claimAll = Effect.gen(function* () {
      yield* Queue.take(signals)
      yield* lostClaims.releaseIfExpected
      if (rows.size() > 0) yield* Effect.sleep(Pace.claimPause(bound.busy()))
      wantsMore = false
      let more: Leases.Claimed["more"] = "now"
      while (more === "now" && !stopping && processes.isVisible()) {
        more = yield* claim
        if (more === "now") yield* callOthers
      }
      wantsMore = more !== "no"
      // Rows may have finished before `wantsMore` was set, and without a session nothing was claimed.
      if (wantsMore && rows.size() < bound.size / 2 && bound.free(inFlightRows) > 0) yield* retryLater
    })

    const retryLater = Effect.suspend(() =>
      running.start(Effect.andThen(Effect.sleep(processes.isVisible() ? Pace.CLAIM_PACE : UNSEEN_PAUSE), kick)),
    )

    const callOthers = Effect.gen(function* () {
      const now = yield* MonotonicClock.millis
      if (now - calledAt < Duration.toMillis(CALL_EVERY)) return
      calledAt = now
      yield* WakeUps.wake(sql, [kind])
    })

    const claiming = yield* claimAll.pipe(
      Effect.catchCause((cause) =>
        StoreUnavailable.unlessAway(
          Effect.logError("outbox rows could not be claimed; claiming will be retried", cause),
          cause,
        ).pipe(
          Effect.andThen(Effect.sleep(FAILURE_PAUSE)),
          Effect.andThen(untilDone(lostClaims.release)),
          Effect.andThen(lostClaims.expect),
          Effect.andThen(kick),
        ),
      ),
      Effect.forever,
      Effect.forkScoped,
    )
    yield* Effect.forkScoped(Effect.repeat(kick, Schedule.spaced(LOOK_EVERY)))
    const watchSession = Effect.suspend(() => (processes.isVisible() ? Effect.void : lostClaims.expect))
    yield* Effect.forkScoped(Effect.repeat(watchSession, Schedule.spaced(UNSEEN_PAUSE)))
    yield* Effect.forkScoped(ClaimedRows.keepLeases(rows, processes.trustedSince))
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        stopping = true
        const finished = Effect.andThen(Fiber.interrupt(claiming), rows.empty)
        const began = yield* stop.began
        let until = Duration.fromInputUnsafe(stopWithin)
        const inTime = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
          yield* Effect.timeoutOption(Effect.interruptible(work), yield* Stop.left(began, until))
        })
        yield* inTime(finished)
        until = Duration.sum(until, PARTIAL_RESULTS_WITHIN)
        yield* inTime(ClaimedRows.writePartialResults(rows.all()))
        const left = rows.all()
        yield* Effect.forEach(left, ClaimedRows.abort, { discard: true })
        // For rows that were started the log records a lost attempt; rows that were not are only given back.
        const rowsLeft = (started: boolean) =>
          left.filter(({ phase }) => (phase !== "claimed") === started).map(({ row }) => row)
        const giveRestBack = Effect.andThen(Leases.release(rowsLeft(false)), Reclaim.reclaim(rowsLeft(true)))
        // Passes on wake-ups that arrived here during the stop.
        const wakeOthers = Effect.ignoreCause(WakeUps.wake(sql, [kind]))
        until = Duration.sum(until, GIVE_BACK_WITHIN)
        yield* inTime(Effect.andThen(giveRestBack, wakeOthers))
      }).pipe(Effect.ignore({ log: "Warn" }), Effect.provideContext(context)),
    )
    return { kick, inFlight: rows.size }
  })

/** Repeats the effect until the database answers. */
const untilDone = <R>(effect: Work<R>): Effect.Effect<void, never, R> =>
  Effect.catchCause(effect, (cause) =>
    StoreUnavailable.unlessAway(
      Effect.logError("leases could not be changed; it will be tried again", cause),
      cause,
    ).pipe(Effect.andThen(Effect.sleep(FAILURE_PAUSE)), Effect.andThen(untilDone(effect))),
  )
