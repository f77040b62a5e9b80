import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import type { Address } from "@waybill/domain/Address"
import * as Erase from "@waybill/store/Erase"
import { EventStore } from "@waybill/store/EventStore"
import * as Mask from "@waybill/store/Mask"
import * as Rebuild from "@waybill/store/projections/Rebuild"
import { Replay } from "@waybill/store/projections/Replay"
import { readModels } from "@waybill/store/ReadModels"
import { Effect, Layer } from "effect"
import * as Database from "../support/database.ts"
import * as Histories from "./replayHistories.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(url))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

layer(Store, { excludeTestServices: true })("random histories that somebody is taken out of", (it) => {
  it.effect(
    "still fold to every read model, and name the address only where it was left",
    () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* Histories.write(21, 30)
        // Whoever stands in most of them.
        const [most] = yield* sql<{ readonly address: Address; readonly n: number }>`
          SELECT data ->> 'recipient' AS address, count(DISTINCT stream_id)::int AS n FROM events
          WHERE data ->> 'recipient' IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1`
        const address = most?.address ?? assert.fail("nobody is written to")
        assert.isAbove(most?.n ?? 0, 10)
        const { accounts, left } = yield* Erase.erase(address, Mask.standIn(Uint8Array.of(1, 2, 3)))
        assert.isAbove(accounts.size, 3)
        for (const { name } of readModels)
          assert.deepStrictEqual([name, (yield* Rebuild.verify(name, { release: "test" })).differences], [name, []])
        const named = yield* sql<{ readonly stream_id: string; readonly data: unknown }>`
          SELECT stream_id, data FROM events WHERE strpos(lower(data::text), ${address.toLowerCase()}) > 0`
        const spelt = Mask.make(address, "x@y.z" as Address)
        const still = new Set(named.flatMap(({ data, stream_id }) => (spelt.stands(data) ? [stream_id] : [])))
        assert.deepStrictEqual([...still].toSorted(), left.map(({ stream_id }) => stream_id).toSorted())
      }).pipe(Effect.orDie),
    { timeout: 180_000 },
  )
})
