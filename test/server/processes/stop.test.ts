import { assert, layer } from "@effect/vitest"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Layer } from "effect"
import * as Database from "../../support/postgres/database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as Service from "./Service.ts"

const World = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

layer(World, { excludeTestServices: true })("a stop", (it) => {
  it.effect(
    "comes to an end beside a database that hangs, before anybody kills it",
    () =>
      Effect.gen(function* () {
        const way = yield* faultProxy((yield* Database.Fresh).url)
        const node = yield* Service.start(way.url)
        way.swallow()
        assert.strictEqual(yield* node.stop, 1)
        assert.include(node.said(), "the stop took too long")
      }),
    120_000,
  )
})
