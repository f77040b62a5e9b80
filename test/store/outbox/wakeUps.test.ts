import { PgClient } from "@effect/sql-pg"
import * as Outbox from "@waybill/store/outbox/Outbox"
import { Effect, Queue } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

/** The jobs without what differs from one job to the next. */
const jobs = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* Effect.orDie(sql<{ readonly job: object }>`
    SELECT to_jsonb(j) - ARRAY['id', 'run_at', 'created_at', 'updated_at'] AS job
    FROM graphile_worker._private_jobs j ORDER BY task_id`)
  yield* Effect.orDie(sql`DELETE FROM graphile_worker._private_jobs`)
  return rows.map(({ job }) => job)
})

layer(Database.layerFresh, { excludeTestServices: true })("the wake-ups of workers", (it) => {
  it.effect("are the jobs that graphile-worker adds, whether it knows their tasks yet or not", function* () {
    const sql = yield* PgClient.PgClient
    yield* Effect.orDie(sql`DELETE FROM graphile_worker._private_tasks`)
    const wake = Effect.orDie(Outbox.wakeAll(sql, Outbox.KINDS))
    yield* wake
    const added = yield* jobs
    assert.lengthOf(added, Outbox.KINDS.length)
    yield* wake
    assert.deepStrictEqual(yield* jobs, added)
  })

  it.effect("notify the workers that wait for jobs", function* () {
    const sql = yield* PgClient.PgClient
    yield* Effect.orDie(Outbox.wake(sql, "delivery"))
    const notifications = yield* Effect.orDie(sql.listen("jobs:insert"))
    yield* Effect.orDie(Outbox.wake(sql, "delivery"))
    const { payload } = yield* Effect.orDie(Queue.take(notifications))
    assert.include(payload, '"count"')
  })
})
