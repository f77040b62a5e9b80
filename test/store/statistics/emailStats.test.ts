import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import * as GroupTag from "@waybill/store/statistics/GroupTag"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as Follower from "@waybill/store/feed/Follower"
import { Duration, Effect, Fiber, Latch, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import {
  outcome,
  BEGAN,
  Store,
  accept,
  address,
  day,
  delivered,
  followToTheEnd,
  happens,
  later,
  to,
} from "./statsMail.ts"

describe("a latency bucket", () => {
  it("holds latencies within 5 % of its middle, up to 30 days", () => {
    for (let millis = 1; millis < 30 * Timestamp.DAY; millis = Math.ceil(millis * 1.013)) {
      const said = EmailStats.millisOf(EmailStats.bucketOf(millis))
      assert.isAtMost(Math.abs(said - millis), millis * 0.05 + 0.5, `${millis} ms`)
    }
    assert.isAtMost(EmailStats.bucketOf(30 * Timestamp.DAY), 228)
  })
})

layer(Store, { excludeTestServices: true })("email statistics", (it) => {
  it.effect("count recipients by the key that sent, and by the provider of each", function* () {
    const account_id = id("AccountId")
    const api_key_id = id("ApiKeyId")
    const at = (recipient: string) => ({ address: recipient as Address })
    const both = yield* accept(account_id, {
      to: [at("ana@gmail.com"), at("bo@googlemail.com"), at("eve@hotmail.co.uk")],
      cc: [at("cy@acme.example")],
      api_key_id,
      tags: [],
      created_at: BEGAN,
    })
    const one = yield* accept(account_id, { to: [at("dan@gmail.com")], tags: [], created_at: BEGAN })
    const reached = (recipient: string) => ({ ...delivered("", later(1_000)), recipient: recipient as Address })
    yield* happens(account_id, both, reached("ana@gmail.com"), reached("eve@hotmail.co.uk"))
    yield* followToTheEnd
    yield* happens(account_id, both, { _tag: "EmailCanceled", at: later(2_000) })
    yield* happens(account_id, one, reached("dan@gmail.com"))
    yield* followToTheEnd
    const counts = Effect.fnUntraced(function* (group: "api_key" | "provider") {
      const { rows } = yield* day(account_id, { group })
      return rows.map(({ accepted, api_key_id, delivered, provider, recipient_counts: { canceled } }) => [
        provider ?? api_key_id,
        accepted,
        delivered,
        canceled,
      ])
    })
    assert.deepStrictEqual(yield* counts("api_key"), [[api_key_id, 4, 2, 2]])
    assert.deepStrictEqual(yield* counts("provider"), [
      ["gmail", 3, 2, 1],
      ["other", 1, 0, 1],
      ["outlook", 1, 1, 0],
    ])
    // The tags of customers are apart from these.
    assert.deepStrictEqual((yield* day(account_id, { tag: true })).rows, [])
  })

  it.effect("count recipients by hour, domain and tag", function* () {
    const account_id = id("AccountId")
    const first = yield* accept(account_id, { to: to("ana", "bob"), tags: ["receipt", "spring"], created_at: BEGAN })
    const second = yield* accept(account_id, { tags: [], domain: "shop.test", created_at: later(Timestamp.HOUR) })
    yield* happens(account_id, first, delivered("ana", later(2_000)), {
      _tag: "EmailDeferred",
      recipient: address("bob"),
      ...outcome,
      attempt: 1,
      next_attempt_at: later(60_000),
      at: later(1_000),
    })
    yield* happens(account_id, first, delivered("bob", later(Timestamp.HOUR + 1)))
    yield* happens(account_id, second, {
      _tag: "EmailComplained",
      recipient: address("ana"),
      feedback_type: null,
      at: later(2 * Timestamp.HOUR),
    })
    const visitor = { recipient: null, user_agent: null, ip: null, at: later(2 * Timestamp.HOUR) }
    const opened = { _tag: "EmailOpened", ...visitor } as const
    yield* happens(account_id, second, opened, opened, {
      _tag: "EmailClicked",
      url: "https://acme.test/",
      ...visitor,
    })
    yield* followToTheEnd
    const whole = (yield* day(account_id)).rows
    assert.lengthOf(whole, 1)
    assert.deepInclude(whole[0], { accepted: 3, delivered: 2, deferred: 1, complained: 1, bounced: 0, at: null })
    assert.deepInclude(whole[0], { opened: 2, clicked: 1 })
    const shown = (rows: ReadonlyArray<EmailStats.Row>) =>
      rows.map(({ accepted, at, delivered, domain, tag }) => [at, domain, tag, accepted, delivered])
    assert.deepStrictEqual(shown((yield* day(account_id, { time: "hour", domain: true })).rows), [
      ["2026-11-21T09:00:00.000Z", "acme.test", null, 2, 1],
      ["2026-11-21T10:00:00.000Z", "acme.test", null, 0, 1],
      ["2026-11-21T10:00:00.000Z", "shop.test", null, 1, 0],
      ["2026-11-21T11:00:00.000Z", "shop.test", null, 0, 0],
    ])
    assert.deepStrictEqual(shown((yield* day(account_id, { tag: true })).rows), [
      [null, null, "receipt", 2, 2],
      [null, null, "spring", 2, 2],
    ])
    assert.deepStrictEqual(shown((yield* day(account_id, {}, { tag: "spring", domain: "acme.test" })).rows), [
      [null, null, null, 2, 2],
    ])
    assert.deepStrictEqual(shown((yield* day(account_id, { time: "day" }, { domain: "shop.test" })).rows), [
      ["2026-11-21T00:00:00.000Z", null, null, 1, 0],
    ])
  })

  it.effect("measure the latency of a scheduled message from its last scheduled time", function* () {
    const account_id = id("AccountId")
    const email = yield* accept(account_id, { scheduled_at: later(60_000), created_at: BEGAN })
    yield* happens(
      account_id,
      email,
      { _tag: "EmailRescheduled", scheduled_at: later(120_000), at: later(1) },
      delivered("ana", later(121_000)),
    )
    yield* followToTheEnd
    const [row] = (yield* day(account_id)).rows
    assert.strictEqual(row?.latency_ms?.p99, EmailStats.millisOf(EmailStats.bucketOf(1_000)))
  })

  it.effect("show the first thousand tags of an account, and report if there are more", function* () {
    const account_id = id("AccountId")
    const sql = yield* Sql
    const tagged = (from: number, to: number) => sql`
        INSERT INTO email_stats (account_id, tag, hour, domain, measure, bucket, count)
        SELECT ${account_id}, 'tag ' || lpad(n::text, 5, '0'), ${BEGAN}::timestamptz, 'acme.test', 'accepted', 0, n
        FROM generate_series(${from}::int, ${to}::int) AS n`
    yield* tagged(1, EmailStats.MAX_TAGS)
    const whole = yield* day(account_id, { tag: true })
    assert.deepStrictEqual([whole.rows.length, whole.more_tags], [EmailStats.MAX_TAGS, false])
    yield* tagged(EmailStats.MAX_TAGS + 1, EmailStats.MAX_TAGS + 5)
    const part = yield* day(account_id, { tag: true })
    assert.deepStrictEqual([part.rows, part.more_tags], [whole.rows, true])
    const one = yield* day(account_id, { tag: true }, { tag: "tag 01003" })
    assert.deepStrictEqual([one.rows[0]?.accepted, one.more_tags], [1_003, false])
    assert.isFalse((yield* day(account_id)).more_tags)
    // Also if none of the shown tags was used in the period.
    yield* sql`
      UPDATE email_stats SET hour = (hour AT TIME ZONE 'UTC' - interval '9 days') AT TIME ZONE 'UTC'
      WHERE account_id = ${account_id} AND count <= 1000`
    const none = yield* day(account_id, { tag: true })
    assert.deepStrictEqual([none.rows, none.more_tags], [[], true])
  })

  it.effect("say when each template was last used, of more versions than a list shows", function* () {
    const account_id = id("AccountId")
    const sql = yield* Sql
    const [first, last, unused] = ["tpl_1", "tpl_2", "tpl_3"]
    const used = (template: string, versions: number, hour: string) => sql`
      INSERT INTO email_stats (account_id, tag, hour, domain, measure, bucket, count)
      SELECT ${account_id}, ${GroupTag.ofTemplate({ id: template, version: 0 })} || n, ${hour}::timestamptz, 'a.test', 'accepted', 0, 1
      FROM generate_series(1, ${versions}::int) AS n`
    yield* used(first, EmailStats.MAX_TAGS, "2026-01-01T00:00:00Z")
    yield* used(last, 2, "2026-01-02T00:00:00Z")
    assert.deepStrictEqual(
      [...(yield* EmailStats.templatesUsed(account_id, [last, unused, first]))],
      [
        [first, "2026-01-01T00:00:00.000Z"],
        [last, "2026-01-02T00:00:00.000Z"],
      ],
    )
  })

  it.effect("merge the latencies of hours and domains into quantiles within 5 %", function* () {
    const account_id = id("AccountId")
    const waits = Array.from({ length: 200 }, (_, nth) => 10 + nth * nth * 20)
    yield* Effect.forEach(
      waits,
      (wait, nth) =>
        Effect.flatMap(
          accept(account_id, { domain: nth % 2 === 0 ? "acme.test" : "shop.test", created_at: later(nth * 60_000) }),
          (email) => happens(account_id, email, delivered("ana", later(nth * 60_000 + wait))),
        ),
      { concurrency: 20 },
    )
    yield* followToTheEnd
    const { p50, p90, p99 } = (yield* day(account_id)).rows[0]?.latency_ms ?? assert.fail("no latencies")
    const exact = (share: number) => waits[Math.ceil(waits.length * share) - 1] ?? 0
    for (const [said, share] of [
      [p50, 0.5],
      [p90, 0.9],
      [p99, 0.99],
    ] as const)
      assert.isAtMost(Math.abs(said - exact(share)), exact(share) * 0.05)
  })
})

const Replayed = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(Store),
)

layer(Replayed, { excludeTestServices: true, timeout: "60 seconds" })("rebuilding email statistics", (it) => {
  const options = { release: "test" }
  const broken = Effect.flatMap(Sql, (sql) => sql`UPDATE email_stats SET count = count + 5 WHERE tag = ''`)

  it.effect("verifies them against the log and repairs them while the follower continues", function* () {
    const account_id = id("AccountId")
    const message = (nth: number) =>
      Effect.flatMap(accept(account_id, { to: to("ana"), tags: [`tag ${nth % 3}`], created_at: BEGAN }), (email) =>
        happens(account_id, email, delivered("ana", later(nth * 1_000))),
      )
    yield* Effect.forEach(Array.from({ length: 30 }), (_, nth) => message(nth), { concurrency: 16 })
    yield* followToTheEnd
    const right = (yield* day(account_id, { tag: true })).rows
    // A count that falls to zero leaves no row, neither here nor in the rebuilt table.
    const deferred = yield* accept(account_id, { to: to("bob"), tags: ["once"], created_at: BEGAN })
    yield* happens(account_id, deferred, {
      _tag: "EmailDeferred",
      recipient: address("bob"),
      ...outcome,
      attempt: 1,
      next_attempt_at: later(60_000),
      at: later(1),
    })
    yield* followToTheEnd
    yield* happens(account_id, deferred, {
      _tag: "EmailFailed",
      recipient: address("bob"),
      ...outcome,
      attempt: 2,
      at: later(2),
    })
    yield* followToTheEnd
    assert.deepInclude(yield* Rebuild.verify("email_stats", options), { differing_rows: 0 })
    yield* broken
    const [row] = (yield* Rebuild.verify("email_stats", options)).differences
    assert.strictEqual(Number(row?.live?.["count"]), Number(row?.folded?.["count"]) + 5)
    yield* Rebuild.rebuild("email_stats", options)
    // Events after a rebuild are counted only in the live table until the swap.
    yield* message(40)
    yield* followToTheEnd
    assert.deepInclude(yield* Swap.swap("email_stats", false), { live: 2, kept: 1 })
    assert.deepInclude(yield* Rebuild.verify("email_stats", options), { differing_rows: 0 })
    assert.deepStrictEqual((yield* day(account_id)).rows[0]?.delivered, 31)
    assert.lengthOf(right, 3)
    yield* message(41)
    yield* followToTheEnd
    assert.deepStrictEqual((yield* day(account_id)).rows[0]?.delivered, 32)
    yield* Swap.swap("email_stats", true)
    assert.isAbove((yield* day(account_id)).rows[0]?.delivered ?? 0, 32)
    yield* Swap.swap("email_stats", true)
    assert.deepInclude(yield* Rebuild.verify("email_stats", options), { differing_rows: 0 })
  })

  it.effect("counts exactly as far as the live table, so that both cover the same events", function* () {
    const account_id = id("AccountId")
    yield* Effect.forEach(Array.from({ length: 20 }), () => accept(account_id, { created_at: BEGAN }))
    yield* Follower.step(EmailStatsFollower.follower, 7)
    assert.deepInclude(yield* Rebuild.verify("email_stats", options), { differing_rows: 0 })
    yield* Rebuild.rebuild("email_stats", options)
    yield* Swap.swap("email_stats", false)
    const { position, rows } = yield* day(account_id)
    assert.strictEqual(rows[0]?.accepted, 7)
    yield* followToTheEnd
    const after = yield* day(account_id)
    assert.deepStrictEqual([after.rows[0]?.accepted, after.position > position], [20, true])
  })
})

layer(Store, { excludeTestServices: true })("a follower with nothing to read", (it) => {
  it.effect("waits for no lock, and opens no transaction", function* () {
    const sql = yield* Sql
    yield* followToTheEnd
    const [locked, done] = [yield* Latch.make(), yield* Latch.make()]
    const lock = sql`SELECT name FROM followers WHERE name = ${EmailStats.FOLLOWER} FOR UPDATE`
    const other = yield* Effect.forkChild(
      sql.withTransaction(Effect.andThen(lock, Effect.andThen(locked.open, done.await))),
    )
    yield* locked.await
    const step = Effect.map(Follower.step(EmailStatsFollower.follower), ({ events, isBusy }) => ({ events, isBusy }))
    assert.deepStrictEqual(yield* step, { events: 0, isBusy: false })
    yield* accept(id("AccountId"), { created_at: BEGAN })
    assert.deepStrictEqual(yield* step, { events: 0, isBusy: true })
    yield* done.open
    yield* Fiber.join(other)
    assert.deepStrictEqual(yield* step, { events: 1, isBusy: false })
  })
})

layer(Store, { excludeTestServices: true, timeout: "60 seconds" })("email statistics after crashes", (it) => {
  it.effect("count each event once, however often a follower dies within a page and another continues", function* () {
    const sql = yield* Sql
    const account_id = id("AccountId")
    const write = Effect.forEach(
      Array.from({ length: 150 }),
      () =>
        Effect.flatMap(accept(account_id, { to: to("ana", "bob"), created_at: BEGAN }), (email) =>
          happens(account_id, email, delivered("ana", later(20)), delivered("bob", later(40))),
        ),
      { concurrency: 16, discard: true },
    )
    // The server terminates the session after the counts are written and before the page is committed.
    let deaths = 0
    const mortal: Follower.Follower = {
      ...EmailStatsFollower.follower,
      count: (sql, events) =>
        Effect.andThen(
          EmailStatsFollower.follower.count(sql, events),
          deaths++ % 3 === 2 ? Effect.void : Effect.asVoid(sql`SELECT pg_terminate_backend(pg_backend_pid())`),
        ),
    }
    const writing = yield* Effect.forkChild(write)
    const followers = yield* Effect.forEach([1, 2, 3], () =>
      Follower.step(mortal, 17).pipe(Effect.exit, Effect.andThen(Effect.yieldNow), Effect.forever, Effect.forkChild),
    )
    yield* Fiber.join(writing)
    yield* World.until(Follower.lag(sql, EmailStats.FOLLOWER), ({ behind }) => behind === 0n, Duration.seconds(50))
    yield* Effect.forEach(followers, Fiber.interrupt)
    assert.isAbove(deaths, 10)
    yield* followToTheEnd
    const [row] = (yield* day(account_id, {}, { tag: "receipt" })).rows
    assert.deepInclude(row, { accepted: 300, delivered: 300 })
    const latencies = yield* sql<{ readonly n: bigint }>`
        SELECT sum(count)::bigint AS n FROM email_stats WHERE account_id = ${account_id} AND tag = '' AND measure = 'latency'`
    assert.strictEqual(latencies[0]?.n, 300n)
    assert.strictEqual((yield* Follower.lag(sql, EmailStats.FOLLOWER)).behind, 0n)
  })

  it.effect("report their position from the same snapshot as the counts", function* () {
    const account_id = id("AccountId")
    const before = (yield* day(account_id)).position
    yield* accept(account_id, { created_at: BEGAN })
    assert.deepInclude(yield* day(account_id), { rows: [], position: before })
    yield* followToTheEnd
    const after = yield* day(account_id)
    assert.isTrue(after.position > before)
    assert.strictEqual(after.rows[0]?.accepted, 1)
  })
})
