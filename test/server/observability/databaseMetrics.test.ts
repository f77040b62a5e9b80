import { Deferred, Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { Sql } from "@waybill/store/postgres/Sql"
import * as DatabaseMetrics from "../../../apps/server/src/metrics/Database.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const valueOf = (text: string, name: string): string | undefined =>
  text
    .split("\n")
    .find((line) => line.startsWith(`${name} `))
    ?.slice(name.length + 1)

const depthsIn = (text: string) => text.split("\n").filter((line) => line.startsWith("waybill_queue_depth{"))

const NAMES = ["waybill_database_up", "waybill_database_statistics_up"]

layer(World.layer, { excludeTestServices: true })("a database whose statistics cannot be read", (it) => {
  it.effect("is not taken for one that does not answer", function* () {
    const read = Effect.gen(function* () {
      yield* yield* DatabaseMetrics.make(10)
      const text = yield* PrometheusMetrics.format()
      return { text, values: NAMES.map((name) => valueOf(text, name)) }
    })
    const locked = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const sql = yield* Sql
    yield* Effect.forkScoped(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE`
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(release)
        }),
      ),
    )
    yield* Deferred.await(locked)
    // Services of other tests may have left some in this process.
    const before = depthsIn(yield* PrometheusMetrics.format())
    const first = yield* read
    assert.deepStrictEqual(first.values, ["1", "0"])
    // Nothing is known of the queues yet, which is not the same as empty ones.
    assert.deepStrictEqual(depthsIn(first.text), before)
    yield* Deferred.succeed(release, undefined)
    const later = yield* World.until(read, ({ values }) => values[1] === "1")
    assert.strictEqual(later.values[0], "1")
    assert.include(later.text, "waybill_queue_depth{")
  })
})
