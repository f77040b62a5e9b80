import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as TestClock from "@waybill/domain/clock/TestClock"
import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Result } from "effect"
import { onlyUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"
import * as NewIds from "../../process/NewIds.ts"

const NAME = "Test suite"
const SCOPES = ["admin"] as const

/** Creates what a test suite works with: a live key, a clock that shows the present time, and a test key whose mail lives on it. */
export const create = Effect.fnUntraced(function* (account_id: AccountId) {
  const store = yield* EventStore
  const clockId = yield* NewIds.newId("TestClockId")
  const live = yield* NewApiKeys.generateKey(null)
  const test = yield* NewApiKeys.generateKey(null, "test")
  const command = { name: NAME, scopes: SCOPES, domain: null, allowed_ips: [], expires_at: null }
  const clock = store.transact({
    account_id: Livemode.testAccountOf(account_id),
    streams: [{ aggregate: TestClock, id: clockId, isNew: true }],
    decide: () =>
      Result.map(
        TestClock.create(
          { at: test.now, clockId, createdBy: null, others: 0 },
          { name: NAME, now: null },
        )(TestClock.initial),
        (events) => ({ append: [{ aggregate: TestClock, id: clockId, events }], answer: undefined }),
      ),
  })
  const keys = store.transact({
    account_id,
    streams: [live, test].map(({ keyId }) => ({ aggregate: ApiKey, id: keyId, isNew: true })),
    decide: () =>
      Result.gen(function* () {
        const onClock = { ...command, mode: "test" as const, test_clock: clockId }
        const admin = yield* ApiKey.create({ ...live, active: 0 }, command)(ApiKey.initial)
        const bound = yield* ApiKey.create({ ...test, active: 1, hasClock: true }, onClock)(ApiKey.initial)
        return {
          append: [
            { aggregate: ApiKey, id: live.keyId, events: admin },
            { aggregate: ApiKey, id: test.keyId, events: bound },
          ],
          answer: undefined,
        }
      }),
  })
  // Both are in one batch of commits, because a test suite waits for them.
  yield* onlyUnavailable(Effect.all([clock, keys], { concurrency: 2 }))
  return { key: live.secret, test_key: test.secret, test_clock: clockId }
})
