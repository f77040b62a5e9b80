import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Latch, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Reactivity from "effect/reactivity/Reactivity"

/** How often a process says that it lives, and looks for those that don't. */
export const BEAT_EVERY = Duration.seconds(2)
/** A machine that vanished without a word keeps its lock until somebody ends its session for it. */
export const SILENT_AFTER = Duration.seconds(20)
/** A session that answers a beat later than this is given up for a new one. */
export const BEAT_TIMEOUT = Duration.seconds(5)
const RECONNECT_EVERY = Duration.millis(500)
/** Our corner of the advisory locks that are keyed by two integers: WB, processes. */
const LOCK_CLASS = 0x5742_0002

const ID_BYTES = 12
const SILENT_SECONDS = Duration.toSeconds(SILENT_AFTER)

export interface Options<R> {
  readonly url: Redacted.Redacted
  /** Frees what the process of this name held. Called by one living process alone. */
  readonly reclaim: (process: string) => Effect.Effect<void, never, R>
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
    /** The names under which graphile-worker locks jobs here. */
    readonly noteWorkers: (ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@waybill/store/Processes") {
  static readonly layer = <R>(options: Options<R>) => Layer.effect(Processes, make(options))
}

const make = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const id = `prc_${Buffer.from(SecureRandom.randomBytesUnsafe(ID_BYTES)).toString("hex")}`
    const shared = yield* PgClient.PgClient
    const context = yield* Effect.context<R>()
    let workerIds: ReadonlyArray<string> = []
    const firstSeen = yield* Latch.make()
    let seen = false

    const session = Effect.gen(function* () {
      const sql = yield* PgClient.makeClient({
        url: options.url,
        applicationName: "waybill process",
        connectTimeout: BEAT_TIMEOUT,
      })
      const number = yield* register(sql, id, workerIds)
      yield* Effect.addFinalizer(() => Effect.sync(() => (seen = false)))
      seen = true
      firstSeen.openUnsafe()
      yield* Effect.forever(
        Effect.gen(function* () {
          yield* Effect.timeout(beat(sql, id, number, workerIds), BEAT_TIMEOUT)
          yield* Effect.timeout(endSilent(sql, id), BEAT_TIMEOUT)
          for (const dead of yield* Effect.timeout(findDead(sql, id), BEAT_TIMEOUT)) {
            yield* Effect.logWarning("a process has died; its work goes on here", { process: dead.id })
            yield* options.reclaim(dead.id).pipe(
              Effect.provideContext(context),
              Effect.andThen(bury(sql, dead)),
              Effect.catchCause((cause) => Effect.logError("the work of a dead process could not be freed yet", cause)),
              Effect.ensuring(Effect.ignore(unlock(sql, dead))),
            )
          }
          yield* Effect.sleep(BEAT_EVERY)
        }),
      )
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

    const living = session.pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("the session that shows this process alive broke; opening another", cause),
      ),
      Effect.andThen(Effect.sleep(RECONNECT_EVERY)),
      Effect.forever,
    )
    yield* Effect.acquireRelease(Effect.void, () => leave(shared, id))
    yield* Effect.forkScoped(living)
    // A process that others cannot see would claim work that they then take from it.
    yield* firstSeen.await
    return Processes.of({
      id,
      isSeen: () => seen,
      noteWorkers: (ids) =>
        Effect.suspend(() => {
          workerIds = [...workerIds, ...ids]
          return Effect.orDie(shared`UPDATE processes SET worker_ids = ${workerIds}::text[] WHERE id = ${id}`)
        }),
    })
  })

/** First the lock, then the row: a row without its lock reads as a death. */
const register = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: string, workerIds: ReadonlyArray<string>) {
  const number =
    (yield* sql<{ readonly number: number }>`SELECT nextval('process_number')::int AS number`)[0]?.number ?? 0
  yield* sql`SELECT 1 AS locked FROM (SELECT pg_advisory_lock(${LOCK_CLASS}::int, ${number}::int)) AS done`
  yield* sql`
    INSERT INTO processes (id, number, worker_ids) VALUES (${id}, ${number}::int, ${workerIds}::text[])
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, beat_at = now()`
  return number
})

/** Somebody who took this process for dead has removed its row: it comes back under a new number. */
const beat = (sql: PgClient.PgClient, id: string, number: number, workerIds: ReadonlyArray<string>) => sql`
  INSERT INTO processes (id, number, worker_ids) VALUES (${id}, ${number}::int, ${workerIds}::text[])
  ON CONFLICT (id) DO UPDATE SET beat_at = now()`

interface Dead {
  readonly id: string
  readonly number: number
  readonly worker_ids: ReadonlyArray<string>
}

/** The lock is tried for each of the others, and for them alone: this session holds its own. */
const findDead = (sql: PgClient.PgClient, id: string) =>
  Effect.map(
    sql<Dead & { readonly dead: boolean }>`
      SELECT id, number, worker_ids, pg_try_advisory_lock(${LOCK_CLASS}::int, number) AS dead
      FROM (SELECT * FROM processes WHERE id <> ${id} OFFSET 0) AS others`,
    (others) => others.filter(({ dead }) => dead),
  )

const bury = Effect.fnUntraced(function* (sql: PgClient.PgClient, dead: Dead) {
  yield* sql`
    SELECT count(*) FROM (SELECT graphile_worker.force_unlock_workers(${dead.worker_ids}::text[])) AS unlocked`
  yield* sql`DELETE FROM processes WHERE id = ${dead.id} AND number = ${dead.number}`
})

const unlock = (sql: PgClient.PgClient, dead: Dead) =>
  sql`SELECT pg_advisory_unlock(${LOCK_CLASS}::int, ${dead.number}::int) AS unlocked`

/** Its lock falls with its session, and then it is as dead as the others. */
const endSilent = (sql: PgClient.PgClient, id: string) => sql`
  SELECT pg_terminate_backend(l.pid) AS ended FROM processes p
  JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.objid = p.number
    AND l.classid = ${LOCK_CLASS}::int AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  WHERE p.id <> ${id} AND p.beat_at < now() - make_interval(secs => ${SILENT_SECONDS}::float8)`

/** Who leaves leases behind leaves its row too, so that somebody looks after them. */
const leave = (sql: PgClient.PgClient, id: string) =>
  Effect.ignore(sql`
    DELETE FROM processes WHERE id = ${id}
      AND NOT EXISTS (SELECT FROM outbox WHERE lease_token IS NOT NULL AND lease_owner = ${id})`)
