import { Duration, Effect, Exit, Scope } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import { lockTables } from "../cells/support.ts"
import { makeHook, setUp } from "./support.ts"

const MAILS = 3

layer(HttpWorld.layer({ hooksEvery: Duration.seconds(2) }), { excludeTestServices: true, timeout: "90 seconds" })(
  "a hook that a process knows",
  (it) => {
    it.effect(
      "needs nothing at home to record deliveries, bounces and visits, and is counted there later",
      function* () {
        const { mail } = yield* setUp()
        const { numbers, report } = yield* makeHook("postmark")
        const mails = yield* Effect.forEach(Array.from({ length: MAILS }), (_, nth) => mail(`a${nth}@example.org`))
        const [first, ...others] = mails
        assert(first !== undefined)
        yield* report(first.about("delivered"))
        const lock = yield* Scope.fork(yield* Effect.scope)
        yield* Scope.provide(lockTables("public", "provider_hooks", "provider_events"), lock)
        for (const each of others) {
          assert.strictEqual((yield* report(each.about("bounced"))).status, 200)
          assert.strictEqual((yield* each.log).status, "bounced")
        }
        const opened = first.about("opened")
        for (const _ of ["once", "again"]) assert.strictEqual((yield* report(opened)).status, 200)
        yield* Scope.close(lock, Exit.void)
        const counted = yield* World.until(numbers, (found) => (found?.recorded ?? 0) > MAILS)
        assert.deepInclude(counted, { recorded: MAILS + 1, unchanged: 1, refused: 0 })
      },
    )
  },
)
