import * as Account from "@waybill/domain/account/Account"
import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as TestClock from "@waybill/domain/clock/TestClock"
import type { AccountId, TestClockId } from "@waybill/domain/values/Id"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Duration, Effect, Result, Schedule } from "effect"
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
  return { key: live.secret, test_key: test.secret, test_clock: clockId, now: test.now }
})

/** Returns what sets the clock to the present time. A reset while the clock advances waits for its end. */
export const clockReset = Effect.fnUntraced(function* (account_id: AccountId, stream_id: TestClockId) {
  const store = yield* EventStore
  const ref = { account_id: Livemode.testAccountOf(account_id), stream_id }
  return Effect.flatMap(NewIds.now, (at) => Effect.as(store.commit(TestClock, ref, TestClock.reset(at)), at)).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "TestClockAdvancing", schedule: Schedule.spaced(RESET_AGAIN) }),
    // The clock of the instance is there, and its database is on this machine.
    Effect.orDie,
  )
})

const RESET_AGAIN = Duration.millis(50)

/** Gives the first account the highest limits: a test suite is to meet those of its program. */
export const liftLimits = Effect.gen(function* () {
  const [account] = yield* Accounts.list()
  if (account === undefined) return
  const { commit } = yield* EventStore
  const each = Account.MAX_GRANTED_PER_MINUTE
  const limits = { send: each, logs: each, other: each, monthly_emails: Account.MAX_GRANTED_MONTHLY }
  const ref = { account_id: account.id, stream_id: account.id }
  yield* onlyUnavailable(commit(Account, ref, Account.changeLimits(yield* NewIds.now, limits)))
})
