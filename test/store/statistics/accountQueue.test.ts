import * as AccountQueue from "@waybill/store/statistics/AccountQueue"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { Store, accept, address, happens, outcome, to } from "./statsMail.ts"

layer(Store, { excludeTestServices: true })("the queue of an account", (it) => {
  it.effect("has exact numbers, and the oldest email that waits, however much mail is scheduled", function* () {
    const account_id = id("AccountId")
    assert.deepStrictEqual(yield* AccountQueue.find(account_id), {
      pending: 0,
      deferred: 0,
      scheduled: 0,
      oldest_at: null,
      is_exact: true,
    })
    const now = Timestamp.fromMillis(Date.now())
    const tomorrow = Timestamp.plus(now, Timestamp.DAY)
    yield* Effect.forEach(Array.from({ length: 101 }), () => accept(account_id, { scheduled_at: tomorrow }))
    const deferred = yield* accept(account_id, { to: to("ana") })
    yield* happens(account_id, deferred, {
      _tag: "EmailDeferred",
      recipient: address("ana"),
      ...outcome,
      code: 451,
      attempt: 1,
      next_attempt_at: tomorrow,
      at: now,
    })
    const pending = [yield* accept(account_id, {}), yield* accept(account_id, {})]
    yield* accept(id("AccountId"), {})
    const counts = { pending: 2, deferred: 1, scheduled: 101, is_exact: true }
    const { oldest_at, ...found } = yield* AccountQueue.find(account_id)
    assert.deepStrictEqual(found, counts)
    assert.strictEqual(Date.parse(oldest_at ?? ""), Math.min(...pending.map(Id.timeOf)))
    // One that was due long ago has waited since then, also if no worker has seen that it is due.
    const due = Timestamp.fromMillis(Date.UTC(2020, 0))
    const sql = yield* Sql
    yield* sql`UPDATE outbox SET available_at = ${due}::timestamptz WHERE id = (
      SELECT min(id) FROM outbox WHERE account_id = ${account_id})`
    assert.deepStrictEqual(yield* AccountQueue.find(account_id), {
      ...counts,
      pending: 3,
      scheduled: 100,
      oldest_at: due,
    })
  })
})
