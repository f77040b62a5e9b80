import { PgClient } from "@effect/sql-pg"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Duration, Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { Store, accept } from "./statsMail.ts"

layer(Store, { excludeTestServices: true })("rates of events", (it) => {
  it.effect("cover the time of the events that are read, if there are too many for the whole period", function* () {
    const sql = yield* PgClient.PgClient
    const account_id = id("AccountId")
    yield* Effect.forEach(Array.from({ length: 40 }), () => accept(account_id, {}))
    yield* sql`UPDATE events SET recorded_at = now() - interval '1 minute'`
    // 40 events within 2 seconds.
    yield* sql`
        UPDATE events SET recorded_at = now() - make_interval(secs => 2.0 - nth * 0.05) FROM (
          SELECT position AS p, row_number() OVER (ORDER BY position) - 1 AS nth FROM events
          WHERE type = 'EmailQueued' AND account_id = ${account_id}) AS numbered WHERE position = p`
    const rate = Effect.fnUntraced(function* (limit: number) {
      return (yield* InstanceStats.eventRates(Duration.seconds(10), limit))["EmailQueued"] ?? 0
    })
    assert.strictEqual(yield* rate(1_000), 4)
    // The last ten are half a second old; a slow machine makes them older, but not ten seconds.
    const short = yield* rate(10)
    assert.isTrue(short > 2 && short <= 20, `${short}`)
  })
})
