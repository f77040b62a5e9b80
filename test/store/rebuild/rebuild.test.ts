import * as Conservation from "@waybill/store/operations/Conservation"
import * as EmailLog from "@waybill/store/readmodels/emails/EmailLog"
import * as Email from "@waybill/domain/email/Email"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import * as Follower from "@waybill/store/feed/Follower"
import * as ReadModels from "@waybill/store/commit/ReadModels"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import * as Fill from "@waybill/store/rebuild/fill/Fill"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Status from "@waybill/store/rebuild/Status"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as Versions from "@waybill/store/rebuild/versions/Versions"
import { Clock, Duration, Effect, Fiber, Layer, Queue } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import { replayUrls } from "../../support/cells/testCell.ts"
import * as Histories from "./randomHistories.ts"
import { open, send } from "../commit/commits.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)

const TIMEOUT = { timeout: 120_000 }
const OPTIONS = { release: "test" }

const execute = <A extends object>(statement: (sql: Sql) => Effect.Effect<ReadonlyArray<A>, unknown>) =>
  Effect.flatMap(Sql, (sql) => Effect.orDie(statement(sql)))

/** Definition of the table, its indexes and constraints. */
const described = (table: string) =>
  execute<{ readonly line: string }>(
    (sql) => sql`
      SELECT attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull || ' ' || attcollation
        || ' ' || coalesce(nullif(attstattarget, -1)::text, '') AS line
      FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped
      UNION ALL SELECT indexdef FROM pg_indexes WHERE tablename = ${table}
      UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conrelid = ${table}::regclass AND contype <> 'n'
      UNION ALL SELECT unnest(reloptions) FROM pg_class WHERE oid = ${table}::regclass
      ORDER BY 1`,
  )

const isClean = Effect.fnUntraced(function* (name: string) {
  const found = yield* Rebuild.verify(name, OPTIONS)
  assert.deepStrictEqual([name, found.differing_rows, found.differences], [name, 0, []])
  return found.rows
})

const mail = (messages: number) =>
  Effect.forEach(
    Array.from({ length: messages }),
    (_, nth) =>
      Effect.gen(function* () {
        const { commit, transact } = yield* EventStore
        const account_id = id("AccountId")
        const answer = yield* transact(send(account_id, {}, { subject: `Order ${nth % 7}` }))
        yield* commit(Email, { account_id, stream_id: answer }, open)
        return { account_id, stream_id: answer }
      }),
    { concurrency: 16 },
  ).pipe(Effect.orDie)

layer(Store, { excludeTestServices: true })("rebuilds of random histories", (it) => {
  for (const seed of [1, 2, 3])
    it.effect(
      `of seed ${seed} rebuild to what the commits have written, byte for byte, in every read model`,
      function* () {
        assert.isAbove(yield* Histories.write(seed, 20), 500)
        for (const { name } of ReadModels.readModels) assert.isAbove(yield* isClean(name), 10, name)
        for (const { missing, unexpected } of yield* Conservation.work())
          assert.deepStrictEqual([missing, unexpected], [[], []])
        // The follower stops within the log, and at its end.
        yield* Follower.step(EmailStatsFollower.follower)
        yield* isClean(EmailStatsFollower.follower.name)
        while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
        assert.isAbove(yield* isClean(EmailStatsFollower.follower.name), 10)
        assert.isEmpty((yield* Status.status()).filter(({ state }) => state !== "live" && state !== "following"))
      },
      TIMEOUT,
    )
})

layer(Store, { excludeTestServices: true })("a row that differs from the log", (it) => {
  it.effect(
    "is found, reported with both of its contents, and repaired by a rebuild and a swap",
    function* () {
      const refs = yield* mail(50)
      const [broken, missing] = refs
      yield* execute(
        (sql) => sql`
            UPDATE email_log SET facets = 7 WHERE id = id_key(${broken?.stream_id ?? ""})`,
      )
      yield* execute((sql) => sql`DELETE FROM email_log WHERE id = id_key(${missing?.stream_id ?? ""})`)
      const stray = id("EmailId")
      yield* execute(
        (sql) => sql`
            INSERT INTO email_log SELECT account_id, id_key(${stray}), from_key, subject_key, to_key, tag_key, domain_key,
              version, status, listed, facets FROM email_log LIMIT 1`,
      )
      const found = yield* Rebuild.verify("email_log", OPTIONS)
      assert.deepInclude(found, { rows: 50, differing_rows: 3, buckets: 64 })
      assert.isAtMost(found.differing_buckets, 3)
      const of = (email_id: string | undefined) => found.differences.find(({ key }) => key["id"] === email_id)
      const { folded, live } = of(broken?.stream_id) ?? {}
      assert.deepStrictEqual([live?.["facets"], folded?.["facets"]], [7, 0])
      assert.isNull(of(missing?.stream_id)?.live)
      assert.isNotNull(of(missing?.stream_id)?.folded)
      assert.isNull(of(stray)?.folded)
      const before = yield* described("email_log")
      yield* Rebuild.rebuild("email_log", OPTIONS)
      yield* Swap.swap("email_log", false)
      assert.strictEqual(yield* isClean("email_log"), 50)
      assert.deepStrictEqual(yield* described("email_log"), before)
      // Swaps back: the damaged version is live again, with all events since.
      yield* mail(3)
      yield* Swap.swap("email_log", true)
      assert.deepStrictEqual(yield* described("email_log"), before)
      assert.strictEqual((yield* Rebuild.verify("email_log", OPTIONS)).differing_rows, 3)
      yield* Swap.swap("email_log", true)
      assert.strictEqual(yield* isClean("email_log"), 53)
    },
    TIMEOUT,
  )
})

layer(Store, { excludeTestServices: true })("a rebuild", (it) => {
  it.effect(
    "does not stop or lose reads and writes, nor does the swap or the swap back",
    function* () {
      yield* mail(300)
      let isOver = false
      let written = 300
      const traffic = Effect.gen(function* () {
        while (!isOver) {
          yield* mail(5)
          written += 5
          yield* execute((sql) => sql`SELECT count(*) FROM email_log WHERE status = 0`)
          yield* Effect.sleep("20 millis")
        }
      })
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(traffic))
      for (const name of ["email_log", "email_log_terms", "email_subjects"]) {
        yield* Rebuild.rebuild(name, OPTIONS)
        const during = written
        yield* Swap.swap(name, false)
        yield* isClean(name)
        yield* Swap.swap(name, true)
        yield* isClean(name)
        assert.isAbove(written, during)
      }
      isOver = true
      yield* Effect.forEach(fibers, Fiber.join)
      for (const { name } of ReadModels.readModels) yield* isClean(name)
      const [row] = yield* execute<{ readonly n: bigint }>((sql) => sql`SELECT count(*) AS n FROM email_log`)
      assert.strictEqual(Number(row?.n), written)
    },
    TIMEOUT,
  )

  it.effect(
    "writes only its own tables: it succeeds while all other tables refuse writes",
    function* () {
      yield* mail(20)
      yield* execute(
        (sql) => sql`
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'a replay has written into %', TG_TABLE_NAME; END $$`,
      )
      const guarded = yield* execute<{ readonly name: string }>(
        (sql) => sql`
            SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
            WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename NOT LIKE 'projection_%'`,
      )
      assert.includeMembers(
        guarded.map(({ name }) => name),
        ["public.outbox", "public.events", "public.webhook_deliveries", "graphile_worker._private_jobs"],
      )
      for (const { name } of guarded)
        yield* execute((sql) =>
          sql.unsafe(`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${name}
              FOR EACH STATEMENT EXECUTE FUNCTION refuse()`),
        )
      for (const { name } of ReadModels.readModels) {
        yield* Rebuild.rebuild(name, OPTIONS)
        yield* isClean(name)
      }
      yield* execute((sql) => sql`DROP FUNCTION refuse CASCADE`)
    },
    TIMEOUT,
  )

  it.effect(
    "is refused for an unknown name, while another is running, and if there is nothing to swap or drop",
    function* () {
      const says = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(effect), ({ message }) => message)
      assert.include(
        yield* says(Rebuild.rebuild("mails", OPTIONS)),
        "there is no read model mails; the read models are accounts",
      )
      assert.include(yield* says(Swap.swap("domains", true)), "there is no earlier version of domains")
      assert.include(yield* says(Swap.swap("suppressions", true)), "there is no earlier version of suppressions")
      assert.include(yield* says(Rebuild.drop("domains", 7)), "domains has no version 7")
      const { version } = yield* Rebuild.rebuild("domains", OPTIONS)
      yield* Swap.swap("domains", false)
      assert.include(yield* says(Rebuild.drop("domains", version)), `version ${version} of domains is live`)
      yield* Rebuild.drop("domains", version - 1)
      const first = yield* Queue.unbounded<void>()
      const slow = { ...OPTIONS, report: () => Effect.andThen(Queue.offer(first, undefined), Effect.never) }
      const fiber = yield* Effect.forkChild(Rebuild.rebuild("domains", slow))
      yield* Queue.take(first)
      assert.include(yield* says(Rebuild.rebuild("domains", OPTIONS)), "another process is working on domains")
      yield* Fiber.interrupt(fiber)
    },
  )

  it.effect("removes what an interrupted or killed verification left behind", () =>
    Effect.gen(function* () {
      const { sql } = yield* Replay
      const versions = Effect.map(Versions.list(sql, "webhooks"), (all) => all.map(({ version }) => version))
      yield* Versions.ensureLive(sql, "webhooks")
      const before = yield* versions
      const first = yield* Queue.unbounded<void>()
      const slow = { ...OPTIONS, report: () => Effect.andThen(Queue.offer(first, undefined), Effect.never) }
      const fiber = yield* Effect.forkChild(Rebuild.verify("webhooks", slow))
      yield* Queue.take(first)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* versions, before)
      yield* sql`
        INSERT INTO projection_versions (name, version, state, position, release)
        VALUES ('webhooks', 99, 'building', 0, 'verify')`
      // The server may not have noticed the killed process yet.
      const again = yield* Rebuild.verify("webhooks", OPTIONS).pipe(
        Effect.retry({ while: ({ message }) => message.includes("another process is working") }),
      )
      assert.deepStrictEqual(again.differences, [])
      assert.deepStrictEqual(yield* versions, before)
    }).pipe(Effect.orDie),
  )
})

/** A clock that advances only through sleeps, and then immediately. */
const sleepless = () => {
  let now = 0
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    sleep: (duration) => Effect.sync(() => void (now += Duration.toMillis(duration))),
  }
  return { clock, elapsed: () => now }
}

layer(Store, { excludeTestServices: true })("a throttled rebuild", (it) => {
  it.effect("never folds more events than its rate allows", function* () {
    yield* mail(400)
    yield* Rebuild.rebuild("email_log", OPTIONS)
    const { sql } = yield* Replay
    yield* sql`TRUNCATE projection_slices, email_log_v2`
    const version = Versions.newest(yield* Versions.list(sql, "email_log"), "ready") ?? assert.fail("none is ready")
    const { clock, elapsed } = sleepless()
    let events = 0
    const report = (more: number) => Effect.sync(() => void assert.isAtMost((events += more), elapsed() + 100 + 1))
    // 1,000 events per second are steps of 100; a step ends with a complete stream, so it may be one event longer.
    yield* Fill.fill(EmailLog.readModel, version, { lanes: 3, throttle: 1_000 }, report).pipe(
      Effect.provideService(Clock.Clock, clock),
    )
    assert.strictEqual(events, 800)
    assert.isAtLeast(elapsed(), 800)
  })
})
