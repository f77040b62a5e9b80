import { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as EmailStatsMonths from "@waybill/store/statistics/EmailStatsMonths"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Status from "@waybill/store/rebuild/Status"
import * as Swap from "@waybill/store/rebuild/Swap"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import { send } from "../commit/commits.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

const keepAt = (at: string) =>
  TestClock.setTime(Timestamp.toMillis(Timestamp.Timestamp.make(at))).pipe(
    Effect.andThen(EmailStatsMonths.keep(25)),
    Effect.provide(TestClock.layer()),
  )

const account_id = id("AccountId")

const count = Effect.fnUntraced(function* (...hours: ReadonlyArray<string>) {
  const sql = yield* Sql
  yield* sql`
    INSERT INTO email_stats (account_id, tag, hour, domain, measure, bucket, count)
    SELECT ${account_id}, '', hour, 'acme.test', 'accepted', 0, 1 FROM unnest(${hours}::timestamptz[]) AS hour`
})

/** Name of the partition of a row, without the schema and the number of the shard that it has on a node of Citus. */
const place = (sql: Sql) => sql`regexp_replace(tableoid::regclass::text, '^.*[.]|_[0-9]{6,}$', '', 'g') AS place`

/** The partition of each hour. */
const partitionOfHours = Effect.gen(function* () {
  const sql = yield* Sql
  return yield* sql<{ readonly hour: string; readonly place: string }>`
    SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24') AS hour, ${place(sql)}
    FROM email_stats WHERE account_id = ${account_id} ORDER BY 1`
})

const accepted = (from: string, to: string) =>
  Effect.map(
    EmailStats.find({ account_id, from, to, by: { time: null, domain: false, tag: false } }),
    ({ rows }) => rows[0]?.accepted ?? 0,
  )

layer(Store, { excludeTestServices: true })("monthly statistics tables", (it) => {
  it.effect("are created in advance, filled from the default partition, and dropped when expired", function* () {
    const sql = yield* Sql
    yield* count(
      "2024-09-30T23:00Z",
      "2024-10-01T00:00Z",
      "2026-10-31T23:00Z",
      "2026-11-01T00:00Z",
      "9999-12-31T00:00Z",
    )

    assert.deepStrictEqual(yield* keepAt("2026-11-22T12:00:00.000Z"), {
      made: ["2024_10", "2026_10", "2026_11", "2026_12", "2027_01"].map((month) => `email_stats_${month}`),
      dropped: [],
    })
    assert.deepStrictEqual(yield* partitionOfHours, [
      { hour: "2024-10-01 00", place: "email_stats_2024_10" },
      { hour: "2026-10-31 23", place: "email_stats_2026_10" },
      { hour: "2026-11-01 00", place: "email_stats_2026_11" },
      // A row with a wrong date gets no table of its own, which would never expire.
      { hour: "9999-12-31 00", place: "email_stats_rest" },
    ])
    assert.deepStrictEqual(yield* keepAt("2026-11-22T13:00:00.000Z"), { made: [], dropped: [] })

    // Counts of a month with a table go there directly.
    yield* count("2026-12-24T18:00Z")
    assert.deepInclude(yield* partitionOfHours, { hour: "2026-12-24 18", place: "email_stats_2026_12" })

    assert.deepStrictEqual(yield* keepAt("2026-12-01T00:00:00.000Z"), {
      made: ["email_stats_2027_02"],
      dropped: ["email_stats_2024_10"],
    })
    assert.strictEqual((yield* sql`SELECT 1 AS there WHERE to_regclass('email_stats_2024_10') IS NOT NULL`).length, 0)
    assert.strictEqual(yield* accepted("2024-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), 3)
  })

  it.effect("receive the follower's counts before and after they exist", function* () {
    const store = yield* EventStore
    const sql = yield* Sql
    const created_at = Timestamp.Timestamp.make("2027-05-10T09:00:00.000Z")
    const accept = Effect.gen(function* () {
      yield* store.transact(send(account_id, {}, { created_at }))
      while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
    })
    const places = sql<{ readonly place: string; readonly n: number }>`
        SELECT ${place(sql)}, sum(count)::int AS n FROM email_stats
        WHERE account_id = ${account_id} AND tag = '' AND hour = ${created_at}::timestamptz GROUP BY 1`
    yield* accept
    assert.deepStrictEqual(yield* places, [{ place: "email_stats_rest", n: 1 }])
    yield* keepAt("2027-05-11T00:00:00.000Z")
    yield* accept
    assert.deepStrictEqual(yield* places, [{ place: "email_stats_2027_05", n: 2 }])
  })

  it.effect("are created even if moving their rows exceeds the statement timeout", function* () {
    const sql = yield* Sql
    const { url } = yield* Database.Fresh
    yield* count("2028-01-10T00:00Z")
    yield* sql.unsafe(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$`)
    yield* sql`CREATE TRIGGER slow BEFORE DELETE ON email_stats_rest EXECUTE FUNCTION slow()`
    const hurried = PgClient.layer({ url, startupParameters: { statement_timeout: "100ms" } })
    const { made } = yield* Effect.provide(keepAt("2027-05-11T00:00:00.000Z"), hurried)
    assert.deepStrictEqual(made, ["email_stats_2028_01"])
    yield* sql`DROP FUNCTION slow CASCADE`
  })

  it.effect("are not read by queries of other months", function* () {
    const sql = yield* Sql
    const asked = EmailStats.statement(sql, {
      account_id,
      from: "2026-11-01T00:00:00Z",
      to: "2026-12-01T00:00:00Z",
      by: { time: "day", domain: false, tag: false },
    })
    const plan = JSON.stringify(yield* sql`EXPLAIN ${asked}`)
    assert.include(plan, "email_stats_2026_11")
    assert.notInclude(plan, "email_stats_2026_10")
    assert.notInclude(plan, "email_stats_rest")
  })

  it.effect(
    "are verified and rebuilt like an unpartitioned table, without counting expired months again",
    function* () {
      const sql = yield* Sql
      const store = yield* EventStore
      // From here on all counts come from the log.
      yield* sql`TRUNCATE email_stats`
      const sent = Effect.fnUntraced(function* (created_at: string) {
        yield* store.transact(send(account_id, {}, { created_at: Timestamp.Timestamp.make(created_at) }))
      })
      yield* sql`DELETE FROM events`
      yield* sent("2027-01-10T09:00:00.000Z")
      yield* sent("2029-06-10T09:00:00.000Z")
      while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
      yield* keepAt("2029-06-15T00:00:00.000Z")
      const all = accepted("2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z")
      assert.strictEqual(yield* all, 1)
      assert.deepInclude(yield* Rebuild.verify("email_stats", { release: "test" }), { differing_rows: 0, rows: 3 }) // all, and by provider

      const { version } = yield* Rebuild.rebuild("email_stats", { release: "test" })
      yield* Swap.swap("email_stats", false)
      assert.strictEqual(yield* all, 1)
      assert.deepStrictEqual(yield* keepAt("2029-06-15T01:00:00.000Z"), {
        made: ["2029_06", "2029_07", "2029_08"].map((month) => `email_stats_v${version}_${month}`),
        dropped: [],
      })
      yield* sent("2029-06-11T09:00:00.000Z")
      while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
      assert.strictEqual(yield* all, 2)
      const shown = (yield* Status.status()).find(({ name, state }) => name === "email_stats" && state === "following")
      assert.isAbove(shown?.size_bytes ?? 0, 0)

      yield* Swap.swap("email_stats", true)
      assert.strictEqual(yield* all, 2)
      assert.deepInclude(yield* Rebuild.verify("email_stats", { release: "test" }), { differing_rows: 0, rows: 6 })
      yield* Rebuild.drop("email_stats", version)
      const left = yield* sql<{ readonly name: string }>`
        SELECT relname AS name FROM pg_class WHERE relname LIKE ${`email\\_stats\\_v${version}%`}`
      assert.deepStrictEqual(left, [])
    },
  )
})
