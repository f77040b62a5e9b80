import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { AccountId } from "@waybill/domain/values/Id"
import { Duration, Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import * as Bodies from "../../../apps/server/src/web/Bodies.ts"
import { ByteBudget } from "../../../apps/server/src/web/ByteBudget.ts"
import * as LargeRequests from "../../../apps/server/src/http/middleware/LargeRequests.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Commits a large request of an account; its key is revoked if it is admitted again. */
const commit = <A, E, R>(account: string, work: Effect.Effect<A, E, R>) =>
  LargeRequests.inTurn(work).pipe(
    Effect.provideService(CurrentKey, {
      account_id: account as AccountId,
      key_id: null,
      scopes: [],
      domain: null,
    }),
    Effect.provideService(Bodies.ReadContext, {
      budget: new ByteBudget(Bodies.LIMITS),
      holder: account,
      readmit: () => Effect.fail(new RequestRefusal.Unauthorized({ why: "missing" })),
    }),
  )

describe("large requests", () => {
  it.effect("of one account wait for each other, and those of others do not", function* () {
    const open = yield* Latch.make()
    const done: Array<string> = []
    const large = (name: string) =>
      Effect.andThen(
        open.await,
        Effect.sync(() => void done.push(name)),
      )
    const names = Array.from({ length: LargeRequests.MAX_PER_ACCOUNT }, (_, nth) => `one ${nth}`)
    const fibers = yield* Effect.forEach(names, (name) => Effect.forkChild(commit("one", large(name))))
    yield* Effect.yieldNow
    const waiting = yield* Effect.forkChild(
      commit(
        "one",
        Effect.sync(() => void done.push("waited")),
      ),
    )
    yield* commit(
      "two",
      Effect.sync(() => void done.push("two")),
    )
    assert.deepStrictEqual(done, ["two"])
    yield* open.open
    yield* Effect.forEach([...fibers, waiting], Fiber.join)
    assert.deepStrictEqual(done, ["two", ...names, "waited"])
  })

  it.effect("that waited long are admitted again", function* () {
    const open = yield* Latch.make()
    yield* Effect.forEach(Array.from({ length: LargeRequests.MAX_PER_ACCOUNT }), () =>
      Effect.forkChild(commit("three", open.await)),
    )
    yield* Effect.yieldNow
    const waiting = yield* Effect.forkChild(Effect.flip(commit("three", Effect.die("committed"))))
    yield* TestClock.adjust(Duration.millis(Bodies.READMITTED_AFTER_MS + 1))
    yield* open.open
    assert.strictEqual((yield* Fiber.join(waiting))._tag, "Unauthorized")
  })
})
