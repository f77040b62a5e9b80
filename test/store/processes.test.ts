import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import * as Leases from "@waybill/store/Leases"
import { Processes } from "@waybill/store/Processes"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as Database from "../support/database.ts"
import * as Delivery from "../support/delivery.ts"
import { World } from "../support/world.ts"

const fresh = <E>(name: string, body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof World>>) =>
  it.live(name, () => Effect.provide(Effect.scoped(body), World), 40_000)

/** A living process, and whose work it was given. */
const live = Effect.fnUntraced(function* (reclaimed: Array<string>, work: Effect.Effect<void> = Effect.void) {
  const { url } = yield* Database.Fresh
  const scope = yield* Scope.fork(yield* Effect.scope)
  const reclaim = (process: string) =>
    Effect.andThen(
      Effect.sync(() => void reclaimed.push(process)),
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

/** A row that nobody holds the lock of, as a kill leaves it. */
const died = (id: string) =>
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

describe("processes", () => {
  fresh(
    "leave the work of a dead one to exactly one of them",
    Effect.gen(function* () {
      const reclaimed: Array<string> = []
      const living = yield* Effect.all([live(reclaimed), live(reclaimed), live(reclaimed)], {
        concurrency: "unbounded",
      })
      yield* died("prc_dead")
      yield* Delivery.until(names, (found) => !found.includes("prc_dead"))
      assert.deepStrictEqual(reclaimed, ["prc_dead"])
      assert.deepStrictEqual(yield* names, living.map(({ id }) => id).toSorted())
    }),
  )

  fresh(
    "free the jobs that the dead one's graphile-worker had locked",
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* Effect.orDie(sql`SELECT id FROM graphile_worker.add_job('drain_deliveries')`)
      yield* Effect.orDie(
        sql`UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'pool-of-the-dead'`,
      )
      yield* died("prc_dead")
      yield* live([])
      yield* Delivery.until(names, (found) => !found.includes("prc_dead"))
      const locked = yield* Effect.orDie(sql`SELECT id FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL`)
      assert.deepStrictEqual(locked, [])
    }),
  )

  fresh(
    "take over from one that dies while it cleans up",
    Effect.gen(function* () {
      const reclaimed: Array<string> = []
      yield* died("prc_dead")
      const first = yield* live(reclaimed, Effect.never)
      yield* Delivery.until(
        Effect.sync(() => reclaimed.length),
        (calls) => calls === 1,
      )
      yield* live(reclaimed)
      yield* Effect.sleep("100 millis")
      assert.deepStrictEqual(reclaimed, ["prc_dead"])
      yield* first.leave
      yield* Delivery.until(names, (found) => !found.includes("prc_dead"))
      assert.deepStrictEqual(reclaimed, ["prc_dead", "prc_dead"])
    }),
  )

  fresh(
    "end the session of one that has fallen silent, and then its work is free",
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { adminUrl } = yield* Database.Fresh
      // A session of the same role that holds its lock and says nothing, as behind a cable that was pulled.
      yield* died("prc_silent")
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
      yield* live(reclaimed)
      yield* Effect.sleep("100 millis")
      assert.deepStrictEqual(reclaimed, [])
      yield* Effect.orDie(sql`UPDATE processes SET beat_at = now() - interval '1 minute' WHERE id = 'prc_silent'`)
      yield* Delivery.until(names, (found) => !found.includes("prc_silent"))
      assert.deepStrictEqual(reclaimed, ["prc_silent"])
    }),
  )

  fresh(
    "come back when their session is cut, under the same name",
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { id, isSeen } = yield* live([])
      yield* Effect.orDie(sql`
        SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE application_name = 'waybill process'
          AND datname = current_database()`)
      yield* Delivery.until(Effect.sync(isSeen), (seen) => !seen)
      yield* Delivery.until(Effect.sync(isSeen), (seen) => seen)
      assert.deepStrictEqual(yield* names, [id])
    }),
  )

  fresh(
    "that leave are forgotten, unless they leave leases behind",
    Effect.gen(function* () {
      const [tidy, hasty] = [yield* live([]), yield* live([])]
      yield* leaseTo(hasty.id)
      yield* tidy.leave
      yield* hasty.leave
      assert.deepStrictEqual(yield* names, [hasty.id])
      assert.deepStrictEqual(
        (yield* Leases.ofOwner(hasty.id)).map(({ token }) => token),
        ["token"],
      )
    }),
  )
})
