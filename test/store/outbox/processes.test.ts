import { PgClient } from "@effect/sql-pg"
import * as Leases from "@waybill/store/outbox/Leases"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { BEAT_EVERY, Processes } from "@waybill/store/outbox/Processes"
import * as Registrations from "@waybill/store/outbox/Registrations"
import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { blockedBackend, type OtherClient, otherClient } from "../../support/postgres/otherClient.ts"

const testWithDatabase = <E>(
  name: string,
  body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof World.layer>>,
) => it.live(name, () => Effect.provide(Effect.scoped(body), World.layer), 120_000)

/** Starts a process and records the processes whose work it reclaims. */
const startProcess = Effect.fnUntraced(function* (reclaimed: Array<string>, work: Effect.Effect<void> = Effect.void) {
  const { url } = yield* Database.Fresh
  const scope = yield* Scope.fork(yield* Effect.scope)
  const reclaim = (dead: Leases.Registration) =>
    Effect.andThen(
      Effect.sync(() => void reclaimed.push(dead.id)),
      work,
    )
  const context = yield* Layer.buildWithScope(Layer.fresh(Processes.layer({ url, reclaim })), scope)
  return { ...Context.get(context, Processes), leave: Scope.close(scope, Exit.void) }
})

const names = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(Effect.orDie(sql<{ readonly id: string }>`SELECT id FROM processes ORDER BY id`), (rows) =>
    rows.map(({ id }) => id),
  ),
)

/** Inserts a registration without a lock, as a killed process leaves it. */
const insertDead = (id: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`
      INSERT INTO processes (id, number, worker_ids) VALUES (${id}, nextval('process_number')::int, '{pool-of-the-dead}')`),
  )

const leaseTo = (owner: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`
      INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload, lease_token, lease_until, lease_owner)
      VALUES ('a1', 'a', 'webhook', 'a1', now(), true, '{}', 'token', now() + interval '1 minute', ${owner})`),
  )

/**
 * Waits until a process has read the answer to its first heartbeat, and sleeps until the next. On its session, the search for
 * dead processes is sent after that answer.
 */
const firstHeartbeat = (watcher: OtherClient) =>
  watcher
    .query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'waybill process'
        AND state = 'idle' AND query LIKE '%silent_ms%'`,
    )
    .pipe(Effect.repeat({ until: (rows) => rows.length > 0 }))

interface Standing {
  readonly number: number
  readonly silent_ms: number
}

/** The registration of a process. */
const registration = (id: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.map(
      Effect.orDie(sql<Standing>`
        SELECT number, (extract(epoch FROM now() - beat_at) * 1000)::float8 AS silent_ms FROM processes WHERE id = ${id}`),
      ([found]) => found,
    ),
  )

/** Terminates the sessions that hold the processes' locks, as an operator or a server restart does. */
const terminateSessions = (ids: ReadonlyArray<string>) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`
      SELECT pg_terminate_backend(l.pid) AS ended FROM processes p JOIN pg_locks l ON l.locktype = 'advisory'
        AND l.classid = ${0x5742_0002}::int AND l.objid = p.number AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      WHERE p.id = ANY(${ids}::text[])`),
  )

describe("worker processes", { concurrent: true }, () => {
  testWithDatabase(
    "reclaim the work of a dead process exactly once",
    Effect.gen(function* () {
      const reclaimed: Array<string> = []
      const living = yield* Effect.all([startProcess(reclaimed), startProcess(reclaimed), startProcess(reclaimed)], {
        concurrency: "unbounded",
      })
      yield* insertDead("prc_dead")
      yield* World.until(names, (found) => !found.includes("prc_dead"))
      assert.deepStrictEqual(reclaimed, ["prc_dead"])
      assert.deepStrictEqual(yield* names, living.map(({ id }) => id).toSorted())
    }),
  )

  testWithDatabase(
    "reclaim the work of a process while that of another one cannot be reclaimed yet",
    Effect.gen(function* () {
      const reclaimed: Array<string> = []
      yield* startProcess(reclaimed, Effect.never)
      for (const id of ["prc_first", "prc_second"]) {
        yield* insertDead(id)
        yield* World.until(
          Effect.sync(() => reclaimed.at(-1)),
          (last) => last === id,
        )
      }
      assert.deepStrictEqual(reclaimed, ["prc_first", "prc_second"])
    }),
  )

  testWithDatabase(
    "do not declare a live process dead when its session, or every session, is terminated",
    Effect.gen(function* () {
      const reclaimed: Array<string> = []
      const living = yield* Effect.all([startProcess(reclaimed), startProcess(reclaimed), startProcess(reclaimed)], {
        concurrency: "unbounded",
      })
      const ids = living.map(({ id }) => id)
      const back = (id: string, before: number | undefined) =>
        World.until(registration(id), (now) => now !== undefined && now.number !== before)
      const since = living.map(({ trustedSince }) => trustedSince())
      for (const cutting of [ids.slice(0, 1), ids, ids.slice(1)]) {
        const before = yield* Effect.forEach(cutting, registration)
        assert.strictEqual((yield* terminateSessions(cutting)).length, cutting.length)
        for (const [i, id] of cutting.entries()) yield* back(id, before[i]?.number)
      }
      assert.deepStrictEqual(reclaimed, [])
      // All of them still trust their leases.
      assert.deepStrictEqual(
        living.map(({ trustedSince }) => trustedSince()),
        since,
      )
    }),
  )

  testWithDatabase(
    "that died lose their work only after a period of silence",
    Effect.gen(function* () {
      const silent: Array<number> = []
      const sql = yield* Sql
      const look = registration("prc_dead").pipe(
        Effect.map((found) => void silent.push(found?.silent_ms ?? 0)),
        Effect.provideService(PgClient.PgClient, sql.driver),
      )
      // It has been silent for longer, but a new process has not observed that.
      yield* insertDead("prc_long_dead")
      yield* Effect.orDie(sql`UPDATE processes SET beat_at = now() - interval '1 minute'`)
      const began = yield* MonotonicClock.millis
      const reclaimed: Array<string> = []
      yield* startProcess(reclaimed, look)
      yield* insertDead("prc_dead")
      yield* World.until(names, (found) => !found.includes("prc_dead"))
      // Work is reclaimed at least once: a second time if the first one's end was not recorded.
      assert.deepStrictEqual([...new Set(reclaimed)].toSorted(), ["prc_dead", "prc_long_dead"])
      assert.isAtLeast((yield* MonotonicClock.millis) - began, Duration.toMillis(Registrations.DEAD_AFTER))
      assert.isAtLeast(Math.max(...silent), Duration.toMillis(Registrations.DEAD_AFTER))
    }),
  )

  testWithDatabase(
    "unlock the graphile-worker jobs of a dead process",
    Effect.gen(function* () {
      const sql = yield* Sql
      yield* Effect.orDie(sql`SELECT id FROM graphile_worker.add_job('drain_deliveries')`)
      yield* Effect.orDie(
        sql`UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'pool-of-the-dead'`,
      )
      yield* insertDead("prc_dead")
      yield* startProcess([])
      yield* World.until(names, (found) => !found.includes("prc_dead"))
      const locked = yield* Effect.orDie(sql`SELECT id FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL`)
      assert.deepStrictEqual(locked, [])
    }),
  )

  testWithDatabase(
    "take over from a process that dies during its cleanup",
    Effect.gen(function* () {
      const reclaimed: Array<string> = []
      yield* insertDead("prc_dead")
      const first = yield* startProcess(reclaimed, Effect.never)
      yield* World.until(
        Effect.sync(() => reclaimed.length),
        (calls) => calls === 1,
      )
      yield* startProcess(reclaimed)
      yield* Effect.sleep("100 millis")
      assert.deepStrictEqual(reclaimed, ["prc_dead"])
      yield* first.leave
      yield* World.until(names, (found) => !found.includes("prc_dead"))
      assert.deepStrictEqual(reclaimed, ["prc_dead", "prc_dead"])
    }),
  )

  testWithDatabase(
    "terminate the session of a silent process and reclaim its work",
    Effect.gen(function* () {
      const sql = yield* Sql
      const { adminUrl } = yield* Database.Fresh
      // A session of the same role that holds the lock but sends nothing, as after a network failure.
      yield* insertDead("prc_silent")
      const silent = yield* Layer.build(Database.layerOf({ name: "", url: (yield* Database.Fresh).url, adminUrl }))
      const session = yield* Context.get(silent, PgClient.PgClient).reserve
      yield* Effect.orDie(
        session.execute(
          "SELECT 1 AS locked FROM (SELECT pg_advisory_lock($1::int, (SELECT number FROM processes WHERE id = 'prc_silent'))) AS done",
          [0x5742_0002],
          undefined,
        ),
      )
      const reclaimed: Array<string> = []
      yield* startProcess(reclaimed)
      yield* Effect.sleep("100 millis")
      assert.deepStrictEqual(reclaimed, [])
      yield* Effect.orDie(sql`UPDATE processes SET beat_at = now() - interval '1 minute' WHERE id = 'prc_silent'`)
      yield* World.until(names, (found) => !found.includes("prc_silent"))
      assert.deepStrictEqual(reclaimed, ["prc_silent"])
    }),
  )

  testWithDatabase(
    "register again under the same id when their session is terminated",
    Effect.gen(function* () {
      const { id, isVisible: isSeen } = yield* startProcess([])
      const before = yield* registration(id)
      assert.lengthOf(yield* terminateSessions([id]), 1)
      // It is missing only until it registers again, possibly between two polls.
      yield* World.until(registration(id), (now) => now !== undefined && now.number !== before?.number)
      yield* World.until(Effect.sync(isSeen), (seen) => seen)
      assert.deepStrictEqual(yield* names, [id])
    }),
  )

  it.effect("distrust their leases as soon as others may take them, even if the session seems alive", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const [other, watcher] = [yield* otherClient(url), yield* otherClient(url)]
      const { isVisible: isSeen, trustedSince } = yield* startProcess([])
      const since = trustedSince()
      yield* firstHeartbeat(watcher)
      yield* other.query("BEGIN")
      yield* other.query("SELECT FROM processes FOR UPDATE")
      yield* TestClock.adjust(BEAT_EVERY)
      yield* blockedBackend(watcher)
      yield* TestClock.adjust("1900 millis")
      assert.deepStrictEqual([isSeen(), trustedSince()], [true, since])
      yield* TestClock.adjust("200 millis")
      assert.deepStrictEqual([isSeen(), trustedSince()], [false, undefined])
      // Its session was alive, so nobody took over its leases.
      yield* other.query("ROLLBACK")
      // The clock is not advanced: the heartbeat would time out before a busy database answers it.
      yield* Effect.repeat(watcher.query("SELECT"), { until: () => trustedSince() !== undefined })
      assert.deepStrictEqual([isSeen(), trustedSince()], [true, since])
    }).pipe(Effect.scoped, Effect.provide(World.layer)),
  )

  testWithDatabase(
    "that stop are deregistered, unless they still hold leases",
    Effect.gen(function* () {
      const [tidy, hasty] = [yield* startProcess([]), yield* startProcess([])]
      yield* leaseTo(hasty.id)
      yield* tidy.leave
      yield* hasty.leave
      assert.deepStrictEqual(yield* names, [hasty.id])
      assert.deepStrictEqual(
        (yield* Leases.heldBy(hasty.id)).map(({ token }) => token),
        ["token"],
      )
    }),
  )
})
