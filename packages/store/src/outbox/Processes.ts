import { PgClient, PgConnection } from "@effect/sql-pg"
import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { Clock, Context, Data, Duration, Effect, Latch, Layer, Queue, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError, Statement } from "effect/sql"
import type * as Leases from "./Leases.ts"

/** How often a process says that it lives, and looks for those that don't. */
export const BEAT_EVERY = Duration.seconds(2)
/**
 * A session may end while its process lives, and a new one takes a moment. So a lock that is free means a death only
 * together with a silence as long as this, all of which whoever finds it free has been there to hear: after an outage of
 * the database the first to be back would otherwise take all others for dead.
 */
export const DEAD_AFTER = Duration.seconds(4)
/** Whoever cannot say in time that it leaves, is found dead. */
export const LEAVE_TIMEOUT = Duration.seconds(1)
/** A machine that vanished without a word keeps its lock until somebody ends its session for it. */
export const SILENT_AFTER = Duration.seconds(20)
/** A session that answers a beat later than this, or takes longer to open, is given up for a new one. */
export const BEAT_TIMEOUT = Duration.seconds(5)
/** A start waits this long for the first session: several tries, each of which says what became of it. */
export const START_TIMEOUT = Duration.seconds(30)
/** A session that lasted is followed by the next at once; those that don't come to be, at this pace. */
const RECONNECT_EVERY = Duration.millis(500)
/** Looks at somebody who may be dead soon are not closer than this. */
const MIN_PAUSE = Duration.millis(50)
/** Nothing is ever said there: listening is how a session's end is heard at once. */
const CHANNEL = "waybill_process"
/** Our corner of the advisory locks that are keyed by two integers: WB, processes. */
const LOCK_CLASS = 0x5742_0002

const ID_BYTES = 12
const SILENT_SECONDS = Duration.toSeconds(SILENT_AFTER)
const DEAD_MS = Duration.toMillis(DEAD_AFTER)

export interface Options<R> {
  readonly url: Redacted.Redacted
  /** Frees what a process held, unless it has come back meanwhile. Called by one living process alone. */
  readonly reclaim: (dead: Leases.Generation) => Effect.Effect<void, never, R>
}

/** A start beside a database that hangs ends, as one beside a database that is not there does. */
export class NotSeen extends Data.TaggedError("NotSeen")<{}> {
  override get message() {
    return (
      `this worker could not be entered among the database's processes within ${Duration.toSeconds(START_TIMEOUT)} seconds, ` +
      `and others would take its work from it; each try that failed has said why`
    )
  }
}

/** A try of which nothing came. */
class Unanswered extends Data.TaggedError("Unanswered")<{}> {
  override get message() {
    return `the database did not answer within ${Duration.toSeconds(BEAT_TIMEOUT)} seconds`
  }
}

/**
 * Who lives. A process holds a session lock that Postgres drops when the process dies, however it dies; whoever then
 * gets the lock is the one that cleans up after it, and if that one dies too, the next.
 */
export class Processes extends Context.Service<
  Processes,
  {
    /** The name under which this process holds leases. */
    readonly id: string
    /** Whether others can see that it lives. When they can't, it must not take on anything new. */
    readonly isSeen: () => boolean
    /**
     * Since when nobody can have taken this process for dead, by the steady clock; undefined when somebody may have. What
     * was leased or renewed before is perhaps another's.
     */
    readonly trustedSince: () => number | undefined
    /** The names under which graphile-worker locks jobs here. */
    readonly noteWorkers: (ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@waybill/store/outbox/Processes") {
  static readonly layer = <R>(options: Options<R>) => Layer.effect(Processes, make(options))
}

const make = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const id = `prc_${Buffer.from(SecureRandom.randomBytesUnsafe(ID_BYTES)).toString("hex")}`
    const shared = yield* PgClient.PgClient
    const context = yield* Effect.context<R>()
    const clock = yield* Clock.Clock
    let workerIds: ReadonlyArray<string> = []
    const firstSeen = yield* Latch.make()
    let seen = false
    /** When the last beat that arrived was sent. */
    let lastBeat = -Infinity
    /** When the first arrived of those that no silence parts which others take for death. */
    let firstBeat = -Infinity

    const arrived = (sent: number) => {
      const now = SteadyClock.millisOf(clock)
      if (!seen && now - lastBeat >= DEAD_MS) firstBeat = now
      lastBeat = sent
    }
    // A session may have ended without a word of it coming here: what goes unanswered for so long may not stand.
    const isTrusted = () => SteadyClock.millisOf(clock) - lastBeat < DEAD_MS

    const session = Effect.gen(function* () {
      const connection = yield* PgConnection.make({
        url: options.url,
        applicationName: "waybill process",
        connectTimeout: BEAT_TIMEOUT,
      })
      const own = yield* connection.pin
      const run: Run = (statement) =>
        Effect.map(own.query(...statement.compile()), ({ rows }) => rows as ReadonlyArray<never>)
      const ended = yield* own.listen(CHANNEL).pipe(inTime)
      const began = yield* SteadyClock.millis
      const number = yield* register(run, shared, id, workerIds).pipe(inTime)
      yield* Effect.addFinalizer(() => Effect.sync(() => (seen = false)))
      arrived(began)
      seen = true
      firstSeen.openUnsafe()
      const live = Effect.gen(function* () {
        const sent = yield* SteadyClock.millis
        yield* run(beat(shared, id, number, workerIds)).pipe(inTime)
        arrived(sent)
        yield* Effect.sleep(BEAT_EVERY)
      })
      const look = Effect.gen(function* () {
        yield* run(endSilent(shared, id)).pipe(inTime)
        const watched = (yield* SteadyClock.millis) - began
        const others = yield* run(findDead(shared, id, watched)).pipe(inTime)
        for (const dead of others.filter(({ dead }) => dead)) {
          yield* Effect.logWarning("a process has died; its work goes on here", { process: dead.id })
          yield* options.reclaim(dead).pipe(
            Effect.provideContext(context),
            Effect.andThen(run(bury(shared, dead))),
            Effect.catchCause((cause) => Effect.logError("the work of a dead process could not be freed yet", cause)),
            Effect.ensuring(Effect.ignore(run(unlock(shared, dead)))),
          )
        }
        yield* Effect.sleep(pauseBefore(others))
      })
      // However much a dead one has left to free, its heir goes on beating.
      yield* Effect.raceAllFirst([Effect.forever(live), Effect.forever(look), Effect.forever(Queue.take(ended))])
    }).pipe(Effect.scoped)

    const living = Effect.gen(function* () {
      const began = yield* SteadyClock.millis
      yield* Effect.catchCause(session, (cause) =>
        Effect.logWarning("the session that shows this process alive broke; opening another", cause),
      )
      const lasted = (yield* SteadyClock.millis) - began
      yield* Effect.sleep(Math.max(0, Duration.toMillis(RECONNECT_EVERY) - lasted))
    }).pipe(Effect.forever)
    const leaving = Effect.timeoutOption(Effect.interruptible(leave(shared, id)), LEAVE_TIMEOUT)
    yield* Effect.addFinalizer(() => (lastBeat === -Infinity ? Effect.void : Effect.ignore(leaving)))
    yield* Effect.forkScoped(living)
    // A process that others cannot see would claim work that they then take from it.
    yield* Effect.timeoutOrElse(firstSeen.await, {
      duration: START_TIMEOUT,
      orElse: () => Effect.fail(new NotSeen()),
    })
    return Processes.of({
      id,
      isSeen: () => seen && isTrusted(),
      trustedSince: () => (isTrusted() ? firstBeat : undefined),
      noteWorkers: (ids) =>
        Effect.suspend(() => {
          workerIds = [...workerIds, ...ids]
          return Effect.orDie(shared`UPDATE processes SET worker_ids = ${workerIds}::text[] WHERE id = ${id}`)
        }),
    })
  })

const inTime = <A, E, R>(answer: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(answer, { duration: BEAT_TIMEOUT, orElse: () => Effect.fail(new Unanswered()) })

/** A statement on this session, whose locks they are about. */
type Run = <A extends object>(statement: Statement.Statement<A>) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>

/** First the lock, then the row: a row without its lock reads as a death. */
const register = Effect.fnUntraced(function* (
  run: Run,
  sql: PgClient.PgClient,
  id: string,
  workerIds: ReadonlyArray<string>,
) {
  const number =
    (yield* run(sql<{ readonly number: number }>`SELECT nextval('process_number')::int AS number`))[0]?.number ?? 0
  yield* run(sql`SELECT 1 AS locked FROM (SELECT pg_advisory_lock(${LOCK_CLASS}::int, ${number}::int)) AS done`)
  yield* run(sql`
    INSERT INTO processes (id, number, worker_ids) VALUES (${id}, ${number}::int, ${workerIds}::text[])
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, beat_at = now()`)
  return number
})

/**
 * Somebody who took this process for dead has removed its row: it comes back. And the number is the one that is held: a
 * registration that was given up may have been written after all, and late.
 */
const beat = (sql: PgClient.PgClient, id: string, number: number, workerIds: ReadonlyArray<string>) => sql`
  INSERT INTO processes (id, number, worker_ids) VALUES (${id}, ${number}::int, ${workerIds}::text[])
  ON CONFLICT (id) DO UPDATE SET number = excluded.number, beat_at = now()`

interface Other extends Leases.Generation {
  readonly dead: boolean
  /** For how long it has not beaten, or this session has not listened. */
  readonly silent_ms: number
}

/** The lock is tried for each of the others that is silent, and for them alone: this session holds its own. */
const findDead = (sql: PgClient.PgClient, id: string, watched: number) => sql<Other>`
  SELECT id, number, silent_ms,
    CASE WHEN silent_ms >= ${DEAD_MS}::float8 THEN pg_try_advisory_lock(${LOCK_CLASS}::int, number) ELSE false END AS dead
  FROM (
    SELECT *, least((extract(epoch FROM now() - beat_at) * 1000)::float8, ${watched}::float8) AS silent_ms
    FROM processes WHERE id <> ${id} OFFSET 0) AS others`

/** Who is not silent for long enough is looked at again when it is. */
const pauseBefore = (others: ReadonlyArray<Other>) =>
  others
    .filter(({ silent_ms }) => silent_ms < DEAD_MS)
    .map(({ silent_ms }) => Duration.millis(DEAD_MS - silent_ms))
    .reduce((pause, due) => Duration.max(MIN_PAUSE, Duration.min(pause, due)), BEAT_EVERY)

/** One that has come back has another number, and its jobs are its own. */
const bury = (sql: PgClient.PgClient, dead: Leases.Generation) => sql`
  WITH gone AS (DELETE FROM processes WHERE id = ${dead.id} AND number = ${dead.number}::int RETURNING worker_ids)
  SELECT count(*) FROM gone CROSS JOIN LATERAL graphile_worker.force_unlock_workers(gone.worker_ids) AS unlocked`

const unlock = (sql: PgClient.PgClient, dead: Leases.Generation) =>
  sql`SELECT pg_advisory_unlock(${LOCK_CLASS}::int, ${dead.number}::int) AS unlocked`

/** Its lock falls with its session, and then it is as dead as the others. */
const endSilent = (sql: PgClient.PgClient, id: string) => sql`
  SELECT pg_terminate_backend(l.pid) AS ended FROM processes p
  JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.objid = p.number
    AND l.classid = ${LOCK_CLASS}::int AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  WHERE p.id <> ${id} AND p.beat_at < now() - make_interval(secs => ${SILENT_SECONDS}::float8)`

/** Who leaves leases behind leaves its row too, so that somebody looks after them. */
const leave = (sql: PgClient.PgClient, id: string) => sql`
  DELETE FROM processes WHERE id = ${id}
    AND NOT EXISTS (SELECT FROM outbox WHERE lease_token IS NOT NULL AND lease_owner = ${id})`
