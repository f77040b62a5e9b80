import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as TestClock from "@waybill/domain/clock/TestClock"
import type { AccountId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Result } from "effect"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"
import * as NewIds from "../../operate/NewIds.ts"

const NAME = "Test suite"
const SCOPES = ["admin"] as const

/** Creates what a test suite works with: a live key, a clock that shows the present time, and a test key whose mail lives on it. */
export const create = Effect.fnUntraced(function* (account_id: AccountId) {
  const store = yield* EventStore
  const clockId = yield* NewIds.newId("TestClockId")
  const live = yield* NewApiKeys.generateKey(null)
  const test = yield* NewApiKeys.generateKey(null, "test")
  const command = { name: NAME, scopes: SCOPES, domain: null, allowed_ips: [], expires_at: null }
  // One commit, because a test suite waits for it.
  yield* Effect.orDie(
    store.transact({
      account_id,
      streams: [
        { aggregate: TestClock, id: clockId, isNew: true },
        { aggregate: ApiKey, id: live.keyId, isNew: true },
        { aggregate: ApiKey, id: test.keyId, isNew: true },
      ],
      decide: () =>
        Result.gen(function* () {
          const begun = { at: test.now, clockId, createdBy: null, others: 0 }
          const clock = yield* TestClock.create(begun, { name: NAME, now: null })(TestClock.initial)
          const admin = yield* ApiKey.create({ ...live, active: 0 }, command)(ApiKey.initial)
          const onClock = { ...command, mode: "test" as const, test_clock: clockId }
          const bound = yield* ApiKey.create({ ...test, active: 1, hasClock: true }, onClock)(ApiKey.initial)
          return {
            append: [
              { aggregate: TestClock, id: clockId, events: clock },
              { aggregate: ApiKey, id: live.keyId, events: admin },
              { aggregate: ApiKey, id: test.keyId, events: bound },
            ],
            answer: undefined,
          }
        }),
    }),
  )
  return { key: live.secret, test_key: test.secret, test_clock: clockId }
})
