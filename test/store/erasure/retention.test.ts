import * as Account from "@waybill/domain/account/Account"
import type { Address } from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { lockReadModel, Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as RebuildMarkers from "@waybill/store/rebuild/RebuildMarkers"
import * as Versions from "@waybill/store/rebuild/versions/Versions"
import * as ReadModels from "@waybill/store/commit/ReadModels"
import * as Retention from "@waybill/store/erasure/Retention"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { Deferred, Effect, Fiber, Layer, Metric, Result } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id, queued } from "../../support/history.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import { followLog } from "../../support/postgres/followLog.ts"
import { replayUrls } from "../../support/cells/testCell.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const TIMEOUT = { timeout: 120_000 }
const OPTIONS = { release: "test" }

const WAITS = "waybill_retention_waits_total"

const SENT = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
const ENDED = Timestamp.plus(SENT, Timestamp.HOUR)

const ending: Email.Event = {
  _tag: "EmailDelivered",
  recipient: "ana@example.org" as Address,
  code: 250,
  enhanced_code: null,
  response: null,
  mx: null,
  tls: null,
  duration_ms: 5,
  category: null,
  attempt: 1,
  at: ENDED,
}

const account = Effect.fnUntraced(function* (keeping: Account.Keeping) {
  const { commit } = yield* EventStore
  const account_id = id("AccountId")
  const ref = { account_id, stream_id: account_id }
  yield* commit(Account, ref, Account.create(SENT, account_id, "Acme", "free"))
  yield* Effect.ignore(commit(Account, ref, Account.changeKeeping(SENT, keeping)))
  return account_id
}, Effect.orDie)

const message = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  subject: string,
  ...after: ReadonlyArray<Email.Event>
) {
  const { transact } = yield* EventStore
  const email_id = id("EmailId")
  const events = [queued(email_id, { subject, tags: [subject] }), ...after] as const
  yield* transact({
    account_id,
    streams: [{ aggregate: Email, id: email_id, isNew: true }],
    decide: () => Result.succeed({ append: [{ aggregate: Email, id: email_id, events }], answer: null }),
  })
  return email_id
}, Effect.orDie)

/** Runs retention as the daily task would at a time. */
const expireAt = (at: Timestamp.Timestamp) =>
  Effect.andThen(TestClock.setTime(Timestamp.toMillis(at)), Retention.expire()).pipe(Effect.provide(TestClock.layer()))

/** Runs a command as if at a time. */
const at = <A, E, R>(moment: Timestamp.Timestamp, command: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(Timestamp.toMillis(moment)), command).pipe(Effect.provide(TestClock.layer()))

/** Accepted recipients according to the statistics. */
const countedRecipients = Effect.fnUntraced(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* Effect.orDie(sql<{ readonly n: number }>`
    SELECT sum(count)::int AS n FROM email_stats
    WHERE account_id = ${account_id} AND tag = '' AND measure = 'accepted'`)
  return rows[0]?.n
})

const inTable = Effect.fnUntraced(function* (table: string, account_id: string) {
  const sql = yield* Sql
  const rows = yield* Effect.orDie(sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM ${sql(table)}
    WHERE account_id::text IN (${account_id}, id_key(${account_id})::text)`)
  return rows[0]?.n
})

const waits = Effect.map(Metric.snapshot, (all) =>
  all.reduce((sum, each) => sum + (each.type === "Counter" && each.id === WAITS ? Number(each.state.count) : 0), 0),
)

const days = (n: number) => Timestamp.plus(ENDED, n * Timestamp.DAY)
const NOTHING = { messages: 0, events: 0, deliveries: 0 }

layer(Store, { excludeTestServices: true })("retention", (it) => {
  it.effect(
    "removes the complete history of expired messages from every table, and nothing else",
    function* () {
      const many = Retention.BATCH_MESSAGES + 5
      const year = { log_days: 365, delivery_days: 30 }
      const own = yield* account(year)
      const forEver = yield* account(Account.DEFAULT_KEEPING)
      yield* Effect.forEach(Array.from({ length: many }), (_, n) => message(own, `Order ${n % 3}`, ending), {
        concurrency: 16,
      })
      yield* message(own, "Order 0")
      const late = { ...ending, _tag: "EmailComplained", feedback_type: null, at: days(300) } as Email.Event
      yield* message(own, "Order late", ending, late)
      yield* message(forEver, "Order 1", ending)
      const sql = yield* Sql
      yield* sql`INSERT INTO email_key_spans VALUES (id_key(${own}), id_key(${own}), 0)`
      yield* Rebuild.rebuild("email_log", OPTIONS)
      yield* Swap.swap("email_log", false)

      // The follower has not counted them yet.
      assert.deepStrictEqual(yield* expireAt(days(366)), NOTHING)
      yield* followLog
      assert.deepStrictEqual(yield* expireAt(Timestamp.plus(days(365), -1)), NOTHING)
      assert.deepStrictEqual(yield* expireAt(days(366)), { messages: many, events: 2 * many, deliveries: 0 })
      assert.deepStrictEqual(yield* expireAt(days(366)), NOTHING)

      assert.deepStrictEqual([yield* inTable("email_log", own), yield* inTable("email_log_v1", own)], [2, 2])
      assert.deepStrictEqual([yield* inTable("email_subjects", own), yield* inTable("email_log_terms", own)], [2, 0])
      // One recipient, one sender, and the tags of the two messages.
      assert.deepStrictEqual([yield* inTable("email_words", own), yield* inTable("email_key_spans", own)], [4, 0])
      assert.strictEqual(yield* inTable("email_log", forEver), 1)
      // The leaves of the log stay, and lose their salts.
      const salts = yield* sql<{ readonly streams: number }>`
        SELECT count(*)::int AS streams FROM log_leaves WHERE salt IS NOT NULL`
      const kept = yield* sql<{ readonly streams: number }>`
        SELECT count(DISTINCT (account_id, stream_id))::int AS streams FROM events`
      assert.deepStrictEqual(salts, kept)
      const { differences, without_data } = yield* TreeAudit.audit()
      assert.deepStrictEqual([differences, without_data], [[], 2 * many])
      for (const { name } of ReadModels.readModels)
        assert.deepStrictEqual([name, (yield* Rebuild.verify(name, OPTIONS)).differences], [name, []])
      assert.strictEqual((yield* expireAt(days(666))).messages, 1)

      // Statistics keep the counts of removed mail, also through a rebuild, and also if histories are retained
      // forever again.
      const counts = yield* countedRecipients(own)
      assert.strictEqual(counts, many + 2)
      const statistics = Effect.gen(function* () {
        const { differences, unproved_rows } = yield* Rebuild.verify("email_stats", OPTIONS)
        assert.deepStrictEqual([differences, unproved_rows > 0], [[], true])
        yield* Rebuild.rebuild("email_stats", OPTIONS)
        yield* Swap.swap("email_stats", false)
        assert.strictEqual(yield* countedRecipients(own), counts)
      })
      yield* at(days(667), statistics)
      const { commit } = yield* EventStore
      const keepingAll = Account.changeKeeping(days(668), Account.DEFAULT_KEEPING)
      yield* commit(Account, { account_id: own, stream_id: own }, keepingAll)
      yield* at(days(2_000), statistics)
      // For an account without removals every row can be verified.
      yield* sql`UPDATE email_stats SET count = 9 WHERE account_id = ${forEver} AND measure = 'delivered' AND tag = ''`
      assert.strictEqual((yield* at(days(2_000), Rebuild.verify("email_stats", OPTIONS))).differing_rows, 1)
    },
    TIMEOUT,
  )

  it.effect(
    "removes a history completely or not at all, even if it changes at that moment",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const { commit } = yield* EventStore
        const own = yield* account({ log_days: 30, delivery_days: 30 })
        const ids = yield* Effect.forEach(Array.from({ length: 100 }), () => message(own, "Order", ending), {
          concurrency: 16,
        })
        yield* followLog
        const now = days(31)
        const opening = EmailReport.recordOpened(now, { user_agent: null, ip: null })
        const opened = Effect.forEach(
          ids,
          (stream_id) => Effect.ignore(commit(Email, { account_id: own, stream_id }, opening)),
          { concurrency: 4 },
        )
        const [{ messages }] = yield* Effect.all([expireAt(now), opened], { concurrency: 2 })
        const streams = yield* sql<{ readonly first: number; readonly last: number; readonly n: number }>`
          SELECT min(version) AS first, max(version) AS last, count(*)::int AS n FROM events
          WHERE account_id = ${own} AND stream = 'email' GROUP BY stream_id`
        assert.strictEqual(streams.length, ids.length - messages)
        for (const { first, last, n } of streams) assert.deepStrictEqual([first, last], [1, n])
        for (const name of ["email_log", "email_log_terms", "email_subjects"])
          assert.deepStrictEqual([name, (yield* Rebuild.verify(name, OPTIONS)).differences], [name, []])
      }).pipe(Effect.orDie),
    TIMEOUT,
  )

  it.effect("waits while an affected read model is being rebuilt, and counts that", () =>
    Effect.gen(function* () {
      const own = yield* account({ log_days: 7, delivery_days: 7 })
      yield* message(own, "Order", ending)
      yield* followLog
      const before = yield* waits
      assert.deepStrictEqual(
        yield* Effect.scoped(Effect.andThen(lockReadModel("email_log"), expireAt(days(8)))),
        NOTHING,
      )
      assert.strictEqual(yield* waits, before + 1)
      yield* World.until(RebuildMarkers.inProgress(), (all) => all.length === 0)
      assert.strictEqual(
        (yield* Effect.scoped(Effect.andThen(lockReadModel("domains"), expireAt(days(8))))).messages,
        1,
      )
      assert.strictEqual(yield* waits, before + 1)
    }).pipe(Effect.orDie),
  )

  it.effect(
    "does not wait for an abandoned rebuild, and resuming it does not restore removed rows",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const own = yield* account({ log_days: 7, delivery_days: 7 })
        yield* message(own, "Order", ending)
        yield* followLog
        yield* sql`
          INSERT INTO projection_versions (name, version, state, position, release)
          VALUES ('domains', 9, 'building', 0, 'test')`
        const filled = yield* Deferred.make<void>()
        const stuck = {
          ...OPTIONS,
          report: ({ phase }: Rebuild.Progress) =>
            phase === "folding" ? Effect.void : Effect.andThen(Deferred.succeed(filled, undefined), Effect.never),
        }
        const rebuild = yield* Effect.forkChild(Rebuild.rebuild("email_log", stuck))
        yield* Deferred.await(filled)
        assert.deepStrictEqual(yield* expireAt(days(8)), NOTHING)
        yield* Fiber.interrupt(rebuild)
        yield* World.until(RebuildMarkers.inProgress(), (all) => all.every(({ working }) => !working))

        // Its last statement may still be running on the server.
        const before = yield* waits
        const unfinished = (yield* Versions.list(sql, "email_log")).find(({ state }) => state === "building")
        const table = unfinished === undefined ? assert.fail("it is unfinished") : Versions.tableOf(unfinished)
        const other = yield* otherClient(replayUrls((yield* Database.Fresh).url)[0])
        yield* other.query(`BEGIN; LOCK TABLE "${table}" IN SHARE MODE`)
        assert.deepStrictEqual(yield* expireAt(days(8)), NOTHING)
        assert.strictEqual(yield* waits, before + 1)
        yield* other.query("COMMIT")

        assert.strictEqual((yield* expireAt(days(8))).messages, 1)
        const left = yield* sql`SELECT name FROM projection_versions WHERE state = 'building'`
        assert.deepStrictEqual(left, [{ name: "domains" }])
        yield* sql`DELETE FROM projection_versions WHERE name = 'domains'`
        yield* Rebuild.rebuild("email_log", OPTIONS)
        yield* Swap.swap("email_log", false)
        assert.strictEqual(yield* inTable("email_log", own), 0)
        assert.deepStrictEqual((yield* Rebuild.verify("email_log", OPTIONS)).differences, [])
      }).pipe(Effect.orDie),
    TIMEOUT,
  )

  it.effect("removes finished webhook deliveries that expired", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const own = yield* account({ log_days: null, delivery_days: 10 })
      const made = Effect.fnUntraced(function* (at: Timestamp.Timestamp, status: string) {
        const delivery = Id.make("WebhookDeliveryId", Timestamp.toMillis(at), new Uint8Array(10).fill(7))
        yield* sql`
          INSERT INTO webhook_deliveries
            (account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, status, created_at)
          VALUES (${own}, ${delivery + status}, 'whk_1', ${delivery + status}, 'email.queued', 'msg_1', 1, ${status},
            ${at}::timestamptz)`
      })
      for (const status of ["pending", "delivered", "failed"]) for (const at of [SENT, days(5)]) yield* made(at, status)
      assert.strictEqual((yield* expireAt(days(11))).deliveries, 2)
      assert.strictEqual((yield* expireAt(days(20))).deliveries, 2)
      assert.strictEqual(yield* inTable("webhook_deliveries", own), 2)
    }).pipe(Effect.orDie),
  )
})
