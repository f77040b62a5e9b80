import { FIRST } from "@waybill/store/routing/CellName"
import { KINDS } from "@waybill/store/outbox/OutboxRow"
import * as WakeUps from "@waybill/store/outbox/WakeUps"
import { Deferred, Effect, Fiber, Queue } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

layer(Database.layerFresh, { excludeTestServices: true })("the wake-ups of workers", (it) => {
  it.effect("are one job per kind, which names its cell unless it is the first", function* () {
    const sql = yield* Sql
    for (const cell of [FIRST, "cell_2"]) {
      yield* Effect.orDie(sql`${WakeUps.jobs(sql, KINDS, cell)}`)
      const jobs = yield* Effect.orDie(sql<{ readonly task: string; readonly key: string | null }>`
        SELECT task_identifier AS task, key FROM graphile_worker.jobs ORDER BY 1`)
      const tasks = ["advance_test_clocks", "check_domains", "drain_deliveries", "drain_webhooks"]
      assert.deepStrictEqual(
        jobs,
        tasks.map((task) => ({ task, key: null })),
      )
      const removed = yield* Effect.orDie(sql<{ readonly payload: object }>`
        SELECT payload FROM graphile_worker.complete_jobs(ARRAY(SELECT id FROM graphile_worker.jobs))`)
      assert.deepStrictEqual(
        removed.map(({ payload }) => payload),
        tasks.map(() => (cell === FIRST ? {} : { cell })),
      )
    }
  })

  it.effect("notify the workers that wait for jobs", function* () {
    const sql = yield* Sql
    const notifications = yield* Effect.orDie(sql.driver.listen("jobs:insert"))
    yield* Effect.orDie(WakeUps.wake(sql, ["delivery"]))
    const { payload } = yield* Effect.orDie(Queue.take(notifications))
    assert.include(payload, '"count"')
  })

  it.effect("wait for no other commit that wakes workers for the same kind", function* () {
    const sql = yield* Sql
    const wake = Effect.orDie(WakeUps.wake(sql, ["delivery"]))
    const woken = yield* Deferred.make<void>()
    const other = yield* Effect.forkChild(Effect.andThen(Deferred.await(woken), sql.withTransaction(wake)))
    const ended = Effect.andThen(Deferred.succeed(woken, undefined), Effect.timeout(Fiber.join(other), "5 seconds"))
    yield* Effect.orDie(sql.withTransaction(Effect.andThen(wake, ended)))
  })
})
