import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Duration, Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { Store, accept } from "./statsMail.ts"

layer(Store, { excludeTestServices: true })("rates of events", (it) => {
  it.effect("cover the time of the events that are read, if there are too many for the whole period", function* () {
    const sql = yield* Sql
    const account_id = id("AccountId")
    yield* Effect.forEach(Array.from({ length: 40 }), () => accept(account_id, {}))
    yield* sql`UPDATE events SET recorded_at = now() - interval '1 minute'`
    // 40 events within 2 seconds. Citus takes only times that are known before the update.
    const times = yield* sql<{ readonly position: string; readonly at: string }>`
      SELECT position::text AS position,
        (now() - make_interval(secs => 2.0 - (row_number() OVER (ORDER BY position) - 1) * 0.05))::text AS at
      FROM events WHERE type = 'EmailQueued' AND account_id = ${account_id}`
    yield* sql`
      UPDATE events SET recorded_at = at
      FROM unnest(${times.map(({ position }) => position)}::bigint[], ${times.map(({ at }) => at)}::timestamptz[])
        AS happened (p, at)
      WHERE position = p`
    const rate = Effect.fnUntraced(function* (limit: number) {
      return (yield* InstanceStats.eventRates(Duration.seconds(10), limit))["EmailQueued"] ?? 0
    })
    assert.strictEqual(yield* rate(1_000), 4)
    // The last ten are half a second old; a slow machine makes them older, but not ten seconds.
    const short = yield* rate(10)
    assert.isTrue(short > 2 && short <= 20, `${short}`)
  })
})
