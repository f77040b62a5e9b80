import { Effect, Fiber } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { until } from "../../support/world/World.ts"

const ADDRESSES = 100
/** Changes that may be under way when the key is revoked, and those that are counted late. */
const UNDER_WAY = 2

layer(HttpWorld.layer(), { excludeTestServices: true })("a key that is revoked during a request to a door", (it) => {
  // threat: revoked-access
  it.effect("changes nothing more", function* () {
    const { account, call, world } = yield* signUp()
    const { id, secret } = yield* world.key(account)
    const changed = Effect.map(
      Effect.orDie(world.sql`SELECT 1 AS row FROM suppressions WHERE account_id = ${account}`),
      (rows) => rows.length,
    )
    const emails = Array.from({ length: ADDRESSES }, (_, nth) => `a${nth}@example.org`)
    const adding = yield* Effect.forkChild(
      world.request("POST", "/compat/resend/suppressions/batch/add", { key: secret, body: { emails } }),
    )
    yield* until(changed, (count) => count > 2)
    assert.strictEqual((yield* call("DELETE", `/v1/api-keys/${id}`)).status, 200)
    const before = yield* changed
    const { status } = yield* Fiber.join(adding)
    assert.isAbove(status, 399)
    assert.isBelow(before, ADDRESSES)
    assert.isAtMost((yield* changed) - before, UNDER_WAY)
  })
})
