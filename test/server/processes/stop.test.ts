import { Duration, Effect, Fiber } from "effect"
import * as Stop from "../../../apps/server/src/process/Stop.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { runDelayMs } from "../../support/process/runDelayMs.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

/** The stop ends by itself, and not shortly before the process would be aborted. */
const MARGIN_MS = 3_000
/** Time between two looks at how long the process has waited for a processor, which nobody knows once it has ended. */
const LOOK_MS = 50

layer(World.layer, { excludeTestServices: true })("a stop", (it) => {
  it.effect(
    "comes to an end beside a database that hangs, before anybody kills it",
    function* () {
      const way = yield* faultProxy((yield* Database.Fresh).url)
      const node = yield* ServiceProcess.start(way.url)
      way.swallow()
      const began = performance.now()
      const before = runDelayMs(node.pid)
      let waited = 0
      const look = setInterval(() => (waited = Math.max(waited, runDelayMs(node.pid) - before)), LOOK_MS)
      assert.isNotNull(yield* node.stop)
      clearInterval(look)
      assert.isBelow(performance.now() - began - waited, Duration.toMillis(Stop.LATEST_STOP) - MARGIN_MS)
      assert.include(node.output(), "the database does not respond")
      // A process that had no processor for longer than the margin may be aborted.
      if (waited < MARGIN_MS) assert.notInclude(node.output(), "the stop took too long")
    },
    600_000,
  )

  it.effect(
    "ends streams and waits at once, with what they have",
    function* () {
      const node = yield* ServiceProcess.start((yield* Database.Fresh).url)
      const { key } = yield* ServiceProcess.signUp(node)
      const wait = (path: string) => Effect.forkChild(Effect.promise(() => node.request("GET", path, { key })))
      const waits = [
        yield* wait("/v1/sandbox/messages?wait=60s"),
        yield* wait("/v1/events?types=email.clicked&wait=20s"),
      ]
      const stream = yield* Effect.promise(() =>
        fetch(`${node.url}/v1/events/stream`, { headers: { authorization: `Bearer ${key}` } }),
      )
      // It has begun, like the waits that were sent before it.
      assert.strictEqual(stream.status, 200)
      const read = yield* Effect.forkChild(Effect.promise(() => stream.text()))
      assert.strictEqual(yield* node.stop, 0)
      for (const waited of waits) {
        const { json, status } = yield* Fiber.join(waited)
        assert.deepStrictEqual([status, json.data], [200, []])
      }
      assert.include(yield* Fiber.join(read), "data:")
    },
    600_000,
  )
})
