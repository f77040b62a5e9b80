import { Duration } from "effect"
import * as Stop from "../../../apps/server/src/process/Stop.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

/** The stop ends by itself, and not shortly before the process would be aborted. */
const MARGIN_MS = 3_000

layer(World.layer, { excludeTestServices: true })("a stop", (it) => {
  it.effect(
    "comes to an end beside a database that hangs, before anybody kills it",
    function* () {
      const way = yield* faultProxy((yield* Database.Fresh).url)
      const node = yield* ServiceProcess.start(way.url)
      way.swallow()
      const began = performance.now()
      assert.isNotNull(yield* node.stop)
      assert.isBelow(performance.now() - began, Duration.toMillis(Stop.LATEST_STOP) - MARGIN_MS)
      assert.include(node.output(), "the database does not respond")
      assert.notInclude(node.output(), "the stop took too long")
    },
    120_000,
  )
})
