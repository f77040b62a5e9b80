import { PgClient } from "@effect/sql-pg"
import type { Address } from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as StoreDatabase from "@waybill/store/database/Database"
import * as Leases from "@waybill/store/outbox/Leases"
import { Processes } from "@waybill/store/outbox/Processes"
import { LeaseLost } from "@waybill/store/commit/Commit"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Duration, Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import * as ClaimedRows from "../../../apps/server/src/worker/ClaimedRows.ts"
import * as Pipeline from "../../../apps/server/src/worker/Pipeline.ts"
import { commitResult } from "../../../apps/server/src/worker/delivery/commitResult.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id, queued } from "../../support/history.ts"
import { linesWhile } from "../observability/linesWhile.ts"
import * as WallClock from "../../support/WallClock.ts"
import * as World from "../../support/world/World.ts"

/** Claims a row whose work never ends. */
const claim = Effect.fnUntraced(function* (rows: ClaimedRows.ClaimedRows, id: string) {
  const sql = yield* Sql
  yield* Effect.orDie(sql`
    INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload, lease_token, lease_until, lease_owner)
    VALUES (${id}, 'acc', 'delivery', ${id}, now(), true, '{}', 'mine', now() + interval '1 minute', 'prc_1')`)
  const row = (yield* Leases.heldBy("prc_1")).find((row) => row.id === id)
  if (row === undefined) return yield* Effect.die(new Error("no such row"))
  const added = rows.add(row, yield* MonotonicClock.millis)
  added.fiber = yield* Effect.forkChild(Effect.never, { startImmediately: true })
  return added
})

/** The process was never silent. */
const always = () => -Infinity

const isDropped = ({ fiber }: ClaimedRows.ClaimedRow) => fiber?.pollUnsafe() !== undefined

const statement = (text: string) => Effect.flatMap(PgClient.PgClient, (sql) => Effect.orDie(sql.unsafe(text)))

const noStore = EventStore.of({
  load: () => Effect.die("not asked"),
  state: () => Effect.die("not asked"),
  known: () => Effect.die("not asked"),
  commit: () => Effect.die("not asked"),
  feed: () => Effect.die("not asked"),
  transact: () => Effect.die("not asked"),
})

/** A store with one connection, so that queries are answered in order. */
const OneConnection = Layer.unwrap(
  Effect.map(Database.Fresh, ({ url }) => StoreDatabase.layer({ url, connections: 1 })),
).pipe(Layer.provideMerge(Layer.effect(Database.Fresh, Database.freshDatabase)))

/** Advances virtual time second by second, each after the database has answered the previous queries. */
const pass = (millis: number) =>
  Effect.gen(function* () {
    for (let passed = 0; passed < millis; passed += 1_000) {
      yield* TestClock.adjust(Duration.millis(1_000))
      yield* statement("SELECT 1")
    }
  })

/** Waits in real time, without advancing virtual time. */
const until = (isSo: () => boolean) =>
  Effect.promise(async () => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
  })
const dropped = (lost: ClaimedRows.ClaimedRow) => until(() => isDropped(lost))

layer(OneConnection)("work under a lease", (it) => {
  it.effect("continues while the lease is renewed", function* () {
    const rows = ClaimedRows.make()
    const one = yield* claim(rows, "renewed")
    yield* Effect.forkChild(ClaimedRows.keepLeases(rows, always))
    yield* pass(200_000)
    assert.isFalse(isDropped(one))
    yield* ClaimedRows.abort(one)
  })

  it.effect("continues if the wall clock is set past the end of the lease", function* () {
    const rows = ClaimedRows.make()
    const one = yield* claim(rows, "set forward")
    yield* Effect.forkChild(WallClock.withWallClockShifted(600_000)(ClaimedRows.keepLeases(rows, always)))
    yield* pass(30_000)
    assert.isFalse(isDropped(one))
    yield* ClaimedRows.abort(one)
  })

  it.effect("is dropped at the next renewal if another process holds the row", function* () {
    const rows = ClaimedRows.make()
    const [kept, lost] = [yield* claim(rows, "kept"), yield* claim(rows, "lost")]
    yield* Effect.forkChild(ClaimedRows.keepLeases(rows, always))
    yield* statement("UPDATE outbox SET lease_token = 'another' WHERE id = 'lost'")
    yield* pass(22_000)
    yield* dropped(lost)
    assert.isFalse(isDropped(kept))
  })

  it.effect("is renewed at once if others could have taken this process for dead", function* () {
    const rows = ClaimedRows.make()
    const [kept, lost] = [yield* claim(rows, "kept again"), yield* claim(rows, "taken")]
    let since = yield* MonotonicClock.millis
    yield* Effect.forkChild(ClaimedRows.keepLeases(rows, () => since))
    yield* pass(2_000)
    yield* statement("UPDATE outbox SET lease_token = 'another' WHERE id = 'taken'")
    since = yield* MonotonicClock.millis
    yield* pass(2_000)
    yield* dropped(lost)
    assert.isFalse(isDropped(kept))
    assert.isAtLeast(kept.leased_at, since)
  })

  it.effect("is dropped before the lease ends if the database does not answer", function* () {
    const rows = ClaimedRows.make()
    const [one, settling] = [yield* claim(rows, "unasked"), yield* claim(rows, "unasked, settling")]
    settling.phase = "recording"
    yield* Effect.forkChild(ClaimedRows.keepLeases(rows, always))
    yield* statement("ALTER TABLE outbox RENAME TO gone")
    yield* pass(50_000)
    assert.isFalse(isDropped(one))
    yield* pass(8_000)
    assert.isTrue(isDropped(one))
    // It sends no more mail, and its commit checks the lease.
    assert.isFalse(isDropped(settling))
    yield* ClaimedRows.abort(settling)
    yield* statement("ALTER TABLE gone RENAME TO outbox")
  })

  it.effect("is not started if its lease is lost during preparation", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const prepared = yield* Latch.make()
      const begun: Array<boolean> = []
      const processes = Processes.of({
        id: "prc_slow",
        isVisible: () => true,
        trustedSince: always,
        recordWorkers: () => Effect.void,
      })
      const work = (job: Pipeline.PipelineJob) => Effect.sync(() => void begun.push(job.start()))
      yield* sql`
        INSERT INTO outbox (id, account_id, kind, stream_id, available_at, ready, payload)
        VALUES ('slow', 'acc', 'domain_check', 'slow', now(), true, '{}')`
      const { inFlight } = yield* Pipeline.make({
        kind: "domain_check",
        prepare: () => Effect.as(prepared.await, work),
      }).pipe(Effect.provideService(Processes, processes), Effect.provideService(EventStore, noStore))
      yield* until(() => inFlight() === 1)
      yield* statement("UPDATE outbox SET lease_token = 'another' WHERE id = 'slow'")
      yield* pass(22_000)
      yield* prepared.open
      yield* until(() => begun.length === 1)
      assert.deepStrictEqual(begun, [false])
      yield* statement("DELETE FROM outbox WHERE id = 'slow'")
    }).pipe(Effect.scoped, Effect.orDie),
  )

  it.effect("is not dropped while its outcome is being committed", function* () {
    const rows = ClaimedRows.make()
    const one = yield* claim(rows, "settling")
    one.phase = "recording"
    yield* Effect.forkChild(ClaimedRows.keepLeases(rows, always))
    yield* statement("DELETE FROM outbox WHERE id = 'settling'")
    yield* pass(22_000)
    assert.isFalse(isDropped(one))
    if (one.fiber !== undefined) yield* Fiber.interrupt(one.fiber)
  })

  it.effect("commits its outcome after an outage of the database", function* () {
    const { row } = yield* claim(ClaimedRows.make(), "learnt")
    let tries = 0
    const store = EventStore.of({
      ...noStore,
      transact: (): Effect.Effect<never, StoreUnavailable | LeaseLost> =>
        ++tries < 100 ? Effect.fail(new StoreUnavailable({ why: "lost" })) : Effect.fail(new LeaseLost({ id: row.id })),
    })
    const message = Email.evolve(Email.initial, queued(id("EmailId"))) as EmailState.AcceptedEmail
    const outcome = {
      _tag: "Failed",
      recipient: "ana@example.org" as Address,
      words: DeliveryOutcome.NO_RESPONSE,
    } as const
    const judgement = {
      outcomes: [outcome],
      complained: [],
      suppress: [],
      suppressIfRepeated: [],
      paused_until: null,
    }
    const job = {
      row,
      start: () => true,
      giveBack: Effect.void,
      noteOutcome: () => {},
      inTurn: Effect.sleep("1 second"),
      onPartialResults: () => {},
    }
    // The watch of the database has a line about the outage; the work has none.
    const settling = yield* linesWhile(true, commitResult(job, { message }, judgement)).pipe(
      Effect.provideService(EventStore, store),
      Effect.provide(World.delivering),
      Effect.forkChild({ startImmediately: true }),
    )
    yield* TestClock.adjust("999 millis")
    assert.strictEqual(tries, 0)
    yield* TestClock.adjust("10 minutes")
    assert.isUndefined(settling.pollUnsafe())
    yield* TestClock.adjust("10 minutes")
    assert.notInclude((yield* Fiber.join(settling)).join(), "could not be committed")
    assert.strictEqual(tries, 100)
  })
})
