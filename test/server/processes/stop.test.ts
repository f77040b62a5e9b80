import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

layer(World.layer, { excludeTestServices: true })("a stop", (it) => {
  it.effect(
    "comes to an end beside a database that hangs, before anybody kills it",
    () =>
      Effect.gen(function* () {
        const way = yield* faultProxy((yield* Database.Fresh).url)
        const node = yield* ServiceProcess.start(way.url)
        way.swallow()
        assert.strictEqual(yield* node.stop, 1)
        assert.include(node.output(), "the stop took too long")
      }),
    120_000,
  )
})
