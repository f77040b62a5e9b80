import { Duration, Effect } from "effect"
import * as Databases from "../routing/Databases.ts"
import type * as Leases from "./Leases.ts"
import type { Sql, Statement } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/**
 * Silence after which a process whose lock is free counts as dead. The free lock alone is not enough: a session may end
 * while its process lives, and opening another takes a moment. Only silence that this process itself observed counts,
 * because otherwise the first process to reconnect after a database outage would declare all others dead.
 */
export const DEAD_AFTER = Duration.seconds(4)
/**
 * Silence after which the database session of a process is terminated: a machine that lost power or network keeps its
 * lock until then.
 */
export const SILENT_AFTER = Duration.seconds(20)
/** First key of our advisory locks with two keys: "WB", processes. */
const LOCK_CLASS = 0x5742_0002

const SILENT_SECONDS = Duration.toSeconds(SILENT_AFTER)
const DEAD_MS = Duration.toMillis(DEAD_AFTER)

/** Runs a statement on the process's own session, which holds its locks. */
export type Run = <A extends object>(
  statement: Statement<A, unknown>,
) => Effect.Effect<ReadonlyArray<A>, StoreUnavailable>

/** Takes the lock before it inserts the row, because a row without its lock means a dead process. */
export const register = Effect.fnUntraced(function* (run: Run, sql: Sql, id: string, workerIds: ReadonlyArray<string>) {
  const number =
    (yield* run(sql<{ readonly number: number }>`SELECT nextval('process_number')::int AS number`))[0]?.number ?? 0
  yield* run(sql`SELECT 1 AS locked FROM (SELECT pg_advisory_lock(${LOCK_CLASS}::int, ${number}::int)) AS done`)
  yield* run(sql`
    INSERT INTO processes (id, number, worker_ids) VALUES (${id}, ${number}::int, ${workerIds}::text[])
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, beat_at = now()`)
  return number
})

/**
 * Inserts the row again if another process declared this one dead and removed it. Always writes the number whose lock
 * is held, because a registration that timed out may have been written late.
 */
export const heartbeat = (sql: Sql, id: string, number: number, workerIds: ReadonlyArray<string>) => sql`
  INSERT INTO processes (id, number, worker_ids) VALUES (${id}, ${number}::int, ${workerIds}::text[])
  ON CONFLICT (id) DO UPDATE SET number = excluded.number, beat_at = now()`

export interface OtherProcess extends Leases.Registration {
  readonly dead: boolean
  /** Time since its last heartbeat, or since this session began, whichever is shorter. */
  readonly silent_ms: number
}

/**
 * Tries the lock only for silent processes whose lock this session does not hold: not for this one, nor for those whose work it
 * is taking over.
 */
export const findDead = (
  sql: Sql,
  { held, id, watched_ms }: { readonly id: string; readonly held: Iterable<number>; readonly watched_ms: number },
) => sql<OtherProcess>`
  SELECT id, number, silent_ms,
    CASE WHEN silent_ms >= ${DEAD_MS}::float8 AND number <> ALL(${[...held]}::int[]) THEN pg_try_advisory_lock(${LOCK_CLASS}::int, number) ELSE false END AS dead
  FROM (
    SELECT *, least((extract(epoch FROM now() - beat_at) * 1000)::float8, ${watched_ms}::float8) AS silent_ms
    FROM processes WHERE id <> ${id} OFFSET 0) AS others`

/** Unlocks the jobs of the workers of a dead process, which need not wait until its work in all databases is taken over. */
export const unlockJobs = (sql: Sql, dead: Leases.Registration) => sql`
  SELECT count(*) FROM processes p CROSS JOIN LATERAL graphile_worker.force_unlock_workers(p.worker_ids) AS unlocked
  WHERE p.id = ${dead.id} AND p.number = ${dead.number}::int`

/** Deletes the registration unless the process has registered again, and unlocks the jobs of its workers. */
export const remove = (sql: Sql, dead: Leases.Registration) => sql`
  WITH removed AS (DELETE FROM processes WHERE id = ${dead.id} AND number = ${dead.number}::int RETURNING worker_ids)
  SELECT count(*) FROM removed CROSS JOIN LATERAL graphile_worker.force_unlock_workers(removed.worker_ids) AS unlocked`

export const unlock = (sql: Sql, dead: Leases.Registration) =>
  sql`SELECT pg_advisory_unlock(${LOCK_CLASS}::int, ${dead.number}::int) AS unlocked`

/**
 * Terminates sessions of processes silent for `SILENT_AFTER`. Their locks are then free, so the processes count as
 * dead.
 */
export const terminateSilent = (sql: Sql, id: string) => sql`
  SELECT pg_terminate_backend(l.pid) AS ended FROM processes p
  JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.objid = p.number
    AND l.classid = ${LOCK_CLASS}::int AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  WHERE p.id <> ${id} AND p.beat_at < now() - make_interval(secs => ${SILENT_SECONDS}::float8)`

/**
 * Deletes this process's row unless it still holds leases in a database of the server, or one does not answer; then the row makes another
 * process reclaim them.
 */
export const deregister = Effect.fnUntraced(function* (sql: Sql, id: string) {
  const held = yield* Effect.forEach(
    yield* Databases.onThisServer,
    ({ run }) => run(sql`SELECT FROM outbox WHERE lease_token IS NOT NULL AND lease_owner = ${id} LIMIT 1`),
    { concurrency: "unbounded" },
  )
  if (held.every(({ length }) => length === 0)) yield* sql`DELETE FROM processes WHERE id = ${id}`
})
