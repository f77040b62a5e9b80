import * as Account from "@waybill/domain/account/Account"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import * as StoppedLinks from "../../../apps/server/src/links/StoppedLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"

const at = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")

const commit = (account_id: AccountId, decide: ReturnType<typeof Account.changePlan>) =>
  EventStore.use((store) => store.commit(Account, { account_id, stream_id: account_id }, decide)).pipe(Effect.orDie)

const account = Effect.gen(function* () {
  const account_id = id("AccountId")
  yield* commit(account_id, Account.create(at, account_id, "Lab", "free"))
  return account_id
})

const put = (account_id: AccountId, followed: boolean) => commit(account_id, Account.changeLinks(at, followed))

const stopped = Effect.tap(account, (account_id) => put(account_id, false))

/** Waits for the result of a real query, which does not follow the test clock. */
const eventually = (holds: () => boolean) =>
  Effect.promise(() => new Promise((done) => setImmediate(done))).pipe(Effect.repeat({ until: holds }))

const looks = TestClock.adjust(StoppedLinks.STOPPED_LINKS_EVERY)

layer(EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh)))("stopped links", (it) => {
  it.effect("are known from the start, and changes after a few seconds", () =>
    Effect.gen(function* () {
      const before = yield* stopped
      const other = yield* account
      const { has } = Context.get(yield* Layer.build(StoppedLinks.layer), StoppedLinks.StoppedLinks)
      assert.deepStrictEqual([before, other].map(has), [true, false])
      yield* put(before, true)
      yield* put(other, false)
      yield* looks
      yield* eventually(() => has(other))
      assert.isFalse(has(before))
    }).pipe(Effect.scoped),
  )

  it.effect("stay cached while the database is unavailable, which is logged once", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const sql = yield* Sql
      const before = yield* stopped
      const { has } = Context.get(
        yield* Layer.build(StoppedLinks.layer).pipe(
          Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(message))])),
        ),
        StoppedLinks.StoppedLinks,
      )
      yield* sql`ALTER TABLE accounts RENAME TO away`
      yield* looks
      yield* eventually(() => logged.length > 0)
      assert.isTrue(has(before))
      yield* looks
      yield* sql`ALTER TABLE away RENAME TO accounts`
      const later = yield* stopped
      yield* looks
      yield* eventually(() => has(later))
      assert.lengthOf(logged, 1)
      assert.isTrue(has(before))
    }).pipe(Effect.scoped),
  )
})
