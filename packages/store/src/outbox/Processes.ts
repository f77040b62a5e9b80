import { PgConnection } from "@effect/sql-pg"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Clock, Context, Data, Duration, Effect, Latch, Layer, Queue, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { KEEPALIVE_AFTER } from "../postgres/Sockets.ts"
import type * as Leases from "./Leases.ts"
import * as Registrations from "./Registrations.ts"
import { Sql } from "../postgres/Sql.ts"
import * as OwnServer from "../database/OwnServer.ts"
import * as Databases from "../routing/Databases.ts"
import * as PerDatabase from "../routing/PerDatabase.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"
import { away, type StoreUnavailable, unlessAway } from "../postgres/StoreUnavailable.ts"

/** Interval of heartbeats, and of the search for dead processes. */
export const BEAT_EVERY = Duration.seconds(2)
/** Time limit for deregistering. A process that exceeds it is later found dead. */
export const LEAVE_TIMEOUT = Duration.seconds(1)
/** Time limit for opening a session and for one heartbeat; a session that exceeds it is replaced. */
export const BEAT_TIMEOUT = Duration.seconds(5)
/** Time limit for the first registration at start, long enough for several attempts. Each failed attempt is logged. */
export const START_TIMEOUT = Duration.seconds(30)
/** Shortest interval between two attempts to open a session. */
const RECONNECT_EVERY = Duration.millis(500)
/** Shortest pause between two searches for dead processes. */
const MIN_PAUSE = Duration.millis(50)
/** Channel without messages. Listening on it reports the end of the session at once. */
const CHANNEL = "waybill_process"

const ID_BYTES = 12
const DEAD_MS = Duration.toMillis(Registrations.DEAD_AFTER)

export interface Options<R> {
  readonly url: Redacted.Redacted
  /**
   * Releases the leases of a dead process, unless it has registered again. Only one process calls this for each dead
   * process.
   */
  readonly reclaim: (dead: Leases.Registration) => Effect.Effect<void, StoreUnavailable, R>
}

/** The process could not register at start, because the database is unreachable or does not respond. */
export class RegistrationFailed extends Data.TaggedError("RegistrationFailed")<{}> {
  override get message() {
    return (
      `this worker could not register in the database within ${Duration.toSeconds(START_TIMEOUT)} seconds, ` +
      `so other workers would take over its work; the reason of each failed attempt is logged above`
    )
  }
}

/** A statement exceeded its time limit. */
class TimedOut extends Data.TaggedError("Unanswered")<{}> {
  override get message() {
    return `the database did not answer within ${Duration.toSeconds(BEAT_TIMEOUT)} seconds`
  }
}

/** The sign of life of this process on one server. */
export interface Session {
  /** Id under which this process holds leases. */
  readonly id: string
  /** Whether other processes can see this one alive. If not, it must not claim new work. */
  readonly isVisible: () => boolean
  /**
   * Time on the steady clock since when no other process can have declared this one dead; undefined if one may have
   * now. Leases claimed or renewed before it may belong to another process.
   */
  readonly trustedSince: () => number | undefined
  /** Records the ids under which graphile-worker locks jobs of this process. */
  readonly recordWorkers: (ids: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
}

/**
 * Registry of live processes, on each server, so that one that is alone judges by itself. A process holds a session-level advisory lock, which Postgres releases when the process
 * dies in any way. The process that then gets the lock cleans up; if that one dies too, the next does.
 */
export class Processes extends Context.Service<
  Processes,
  Session & {
    /** The session on the server of the fiber's database; absent if there is only one server. */
    readonly here?: Effect.Effect<Session, RegistrationFailed | StoreUnavailable>
  }
>()("@waybill/store/outbox/Processes") {
  static readonly layer = <R>(options: Options<R>) => Layer.effect(Processes, make(options))
}

const make = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const id = `prc_${Buffer.from(SecureRandom.randomBytesUnsafe(ID_BYTES)).toString("hex")}`
    const sessions = yield* PerDatabase.make(makeSession(options, id))
    return Processes.of({
      ...sessions.first,
      here: Effect.flatMap(Databases.hasOwnServer, (own) => (own ? sessions.here : Effect.succeed(sessions.first))),
    })
  })

/** The session of this process on the server of the fiber's database. */
export const here = Effect.flatMap(
  Processes,
  (first): Effect.Effect<Session, RegistrationFailed | StoreUnavailable> => first.here ?? Effect.succeed(first),
)

/** Registers this process on the server of the fiber's database, and keeps it registered. */
const makeSession = <R>(options: Options<R>, id: string) =>
  Effect.gen(function* () {
    const shared = yield* Sql
    const context = yield* Effect.context<R>()
    const clock = yield* Clock.Clock
    let workerIds: ReadonlyArray<string> = []
    const firstSeen = yield* Latch.make()
    let seen = false
    /** Time at which the last confirmed heartbeat was sent. */
    let lastBeat = -Infinity
    /** Time of the first heartbeat since the last silence long enough for others to declare this process dead. */
    let firstBeat = -Infinity

    const noteHeartbeat = (sent: number) => {
      const now = MonotonicClock.millisOf(clock)
      if (!seen && now - lastBeat >= DEAD_MS) firstBeat = now
      lastBeat = sent
    }
    // The end of a session may go unnoticed here, so a session without a confirmed heartbeat for this long is not
    // trusted.
    const isTrusted = () => MonotonicClock.millisOf(clock) - lastBeat < DEAD_MS

    const session = Effect.gen(function* () {
      const server = yield* OwnServer.here(options.url)
      const connection = yield* PgConnection.make({
        url: server.url,
        applicationName: "waybill process",
        connectTimeout: BEAT_TIMEOUT,
        keepAlive: KEEPALIVE_AFTER,
      })
      const pinned = yield* connection.pin
      const run: Registrations.Run = (statement) =>
        SqlErrors.orUnavailable(
          Effect.map(pinned.query(...statement.compile()), ({ rows }) => rows as ReadonlyArray<never>),
        )
      if (server.isOwn !== undefined) {
        const { rows } = yield* pinned.query(server.isOwn).pipe(withTimeLimit)
        if (rows[0]?.["is_own"] !== true) return yield* away()
      }
      const ended = yield* pinned.listen(CHANNEL).pipe(withTimeLimit)
      const begun = yield* MonotonicClock.millis
      const number = yield* Registrations.register(run, shared, id, workerIds).pipe(withTimeLimit)
      yield* Effect.addFinalizer(() => Effect.sync(() => (seen = false)))
      noteHeartbeat(begun)
      seen = true
      firstSeen.openUnsafe()
      const sendHeartbeats = Effect.gen(function* () {
        const sent = yield* MonotonicClock.millis
        yield* run(Registrations.heartbeat(shared, id, number, workerIds)).pipe(withTimeLimit)
        noteHeartbeat(sent)
        yield* Effect.sleep(BEAT_EVERY)
      })
      /** Numbers of the dead processes whose work is being taken over, and whose locks this session holds. */
      const held = new Set<number>()
      const takeOver = Effect.fnUntraced(function* (dead: Leases.Registration) {
        yield* Effect.logWarning("process died; this process takes over its work", { process: dead.id })
        yield* run(Registrations.unlockJobs(shared, dead)).pipe(
          Effect.andThen(Effect.provideContext(options.reclaim(dead), context)),
          Effect.andThen(run(Registrations.remove(shared, dead))),
          Effect.catchCause((cause) =>
            unlessAway(Effect.logError("work of a dead process could not be taken over; it will retry", cause), cause),
          ),
          Effect.ensuring(Effect.ignore(run(Registrations.unlock(shared, dead)))),
          Effect.ensuring(Effect.sync(() => held.delete(dead.number))),
        )
      })
      const reclaimDead = Effect.gen(function* () {
        yield* run(Registrations.terminateSilent(shared, id)).pipe(withTimeLimit)
        const watched_ms = (yield* MonotonicClock.millis) - begun
        const others = yield* run(Registrations.findDead(shared, { id, held, watched_ms })).pipe(withTimeLimit)
        for (const { dead, id, number } of others) {
          if (!dead) continue
          held.add(number)
          // A database that hangs delays the end of this, but neither others nor the search for other dead processes.
          yield* Effect.forkScoped(takeOver({ id, number }))
        }
        yield* Effect.sleep(pauseBefore(others))
      })
      // Heartbeats continue however long the cleanup of a dead process takes.
      yield* Effect.raceAllFirst([
        Effect.forever(sendHeartbeats),
        Effect.forever(reclaimDead),
        Effect.forever(Queue.take(ended)),
        server.changed,
      ])
    }).pipe(Effect.scoped)

    const keepSession = Effect.gen(function* () {
      const begun = yield* MonotonicClock.millis
      yield* Effect.catchCause(session, (cause) =>
        unlessAway(Effect.logWarning("heartbeat session ended; opening another", cause), cause),
      )
      const lasted = (yield* MonotonicClock.millis) - begun
      yield* Effect.sleep(Math.max(0, Duration.toMillis(RECONNECT_EVERY) - lasted))
    }).pipe(Effect.forever)
    const deregistration = Effect.timeoutOption(
      Effect.interruptible(Registrations.deregister(shared, id)),
      LEAVE_TIMEOUT,
    )
    yield* Effect.addFinalizer(() => (lastBeat === -Infinity ? Effect.void : Effect.ignore(deregistration)))
    yield* Effect.forkScoped(keepSession)
    // Without this, a process that others cannot see would claim work that they then take over.
    yield* Effect.timeoutOrElse(firstSeen.await, {
      duration: START_TIMEOUT,
      orElse: () => Effect.fail(new RegistrationFailed()),
    })
    return {
      id,
      isVisible: () => seen && isTrusted(),
      trustedSince: () => (isTrusted() ? firstBeat : undefined),
      recordWorkers: (ids) =>
        Effect.suspend(() => {
          workerIds = [...workerIds, ...ids]
          return shared`UPDATE processes SET worker_ids = ${workerIds}::text[] WHERE id = ${id}`
        }),
    } satisfies Session
  })

const withTimeLimit = <A, E, R>(answer: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(answer, { duration: BEAT_TIMEOUT, orElse: () => Effect.fail(new TimedOut()) })

/** Returns the time until the next process could have been silent for `Registrations.DEAD_AFTER`. */
const pauseBefore = (others: ReadonlyArray<Registrations.OtherProcess>) =>
  others
    .filter(({ silent_ms }) => silent_ms < DEAD_MS)
    .map(({ silent_ms }) => Duration.millis(DEAD_MS - silent_ms))
    .reduce((pause, due) => Duration.max(MIN_PAUSE, Duration.min(pause, due)), BEAT_EVERY)
