import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const MAILS = 400

const jobs = Effect.gen(function* () {
  const sql = yield* Sql
  const [found = { n: 0 }] = yield* Effect.orDie(sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM graphile_worker.jobs WHERE task_identifier = 'drain_deliveries'`)
  return found.n
})

layer(World.layer, { excludeTestServices: true })("a wake-up of the delivery pipeline", (it) => {
  it.effect("is sent once for all messages of a commit, and not for scheduled ones", function* () {
    const sql = yield* Sql
    const from = yield* World.verifiedDomain()
    const tomorrow = Timestamp.fromMillis((yield* Clock.currentTimeMillis) + Timestamp.DAY)
    yield* Effect.forEach(Array.from({ length: 20 }), () => World.send(from, { scheduled_at: tomorrow }))
    assert.strictEqual(yield* jobs, 0)

    yield* Effect.forEach(Array.from({ length: MAILS }), () => World.send(from), { concurrency: MAILS })
    // Rows of one transaction have the same xmin.
    const [found = { rows: 0, commits: 0 }] = yield* Effect.orDie(
      sql<{
        readonly rows: number
        readonly commits: number
      }>`SELECT count(*)::int AS rows, count(DISTINCT xmin::text)::int AS commits FROM outbox WHERE ready`,
    )
    assert.strictEqual(found.rows, MAILS)
    assert.isBelow(found.commits, MAILS / 4)
    assert.strictEqual(yield* jobs, found.commits)
  })
})
