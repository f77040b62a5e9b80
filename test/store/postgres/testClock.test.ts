import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Fiber, Layer } from "effect"
import { setTimeout as pause } from "node:timers/promises"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"

layer(Database.layerFresh)("a database under a test clock", (it) => {
  it.effect("is connected to again after a failure, though no time passes on that clock", () =>
    Effect.gen(function* () {
      const fresh = yield* Database.Fresh
      const proxy = yield* faultProxy(fresh.url)
      proxy.down()
      const building = yield* Effect.forkChild(Layer.build(Database.layerOf({ ...fresh, url: proxy.url })))
      while (proxy.refused() === 0) yield* Effect.promise(() => pause(1))
      proxy.up()
      const sql = Context.get(yield* Fiber.join(building), PgClient.PgClient)
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    }).pipe(Effect.scoped),
  )
})
