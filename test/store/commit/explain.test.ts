import { PgClient } from "@effect/sql-pg"
import type { AccountId } from "@waybill/domain/values/Id"
import { system } from "@waybill/store/log/Provenance"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as ClockedRows from "@waybill/store/outbox/ClockedRows"
import * as DueRows from "@waybill/store/outbox/DueRows"
import * as Leases from "@waybill/store/outbox/Leases"
import { FAR_FUTURE } from "@waybill/store/outbox/OutboxRow"
import * as UsageRows from "@waybill/store/facts/UsageRows"
import * as StoredAnswers from "@waybill/store/idempotency/StoredAnswers"
import { BatchRows } from "@waybill/store/log/BatchTable"
import * as DueWork from "@waybill/store/outbox/DueWork"
import type { LogStorage, Write } from "@waybill/store/commit/LogStorage"
import * as Feed from "@waybill/store/feed/Feed"
import * as PipelinedConnection from "@waybill/store/database/PipelinedConnection"
import * as PageBytes from "@waybill/store/feed/PageBytes"
import * as PostgresLogStorage from "@waybill/store/commit/PostgresLogStorage"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as WebhookReplays from "@waybill/store/webhooks/WebhookReplays"
import { Effect, Layer } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { type Plan, plansOf } from "../../support/postgres/plans.ts"

const ACCOUNTS = 20
const STREAMS = 20_000
const VERSIONS = 4
const LONG = 5_000
const LARGE = ["events", "idempotency_keys", "outbox", "email_log", "suppressions", "domains", "accounts"]
const NOW = "2026-11-21T09:00:00.000Z"

const account = (n: number) => `acc_${n}` as AccountId
const stream = (n: number) => ({ account_id: account(n % ACCOUNTS), stream_id: `msg_${n}` })
const stretch = (length: number) => Array.from({ length }, (_, n) => n)

/** Fills the tables as after long use: many rows, few of them wanted, current statistics. */
const fill = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* Sql
    const series = sql.literal(`generate_series(0, ${STREAMS - 1}) AS n`)
    const own = sql.literal(`'acc_' || n % ${ACCOUNTS}, 'msg_' || n`)
    yield* sql`
      INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
      SELECT ${own}, v, 'email', CASE v WHEN 1 THEN 'EmailQueued' ELSE 'EmailOpened' END, 'evt_' || n || '_' || v,
        '{}', '{}', ${NOW}::timestamptz + make_interval(secs => (v - 1) * ${STREAMS}::int + n)
      FROM generate_series(1, ${VERSIONS}::int) AS v, ${series}`
    yield* sql`
      INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
      SELECT 'acc_0', 'dom_long', v, 'domain', 'DomainTrackingChanged', 'evt_long_' || v, '{}', '{}', ${NOW}::timestamptz
      FROM generate_series(1, ${LONG}::int) AS v`
    yield* sql`
      INSERT INTO idempotency_keys SELECT 'acc_' || n % ${ACCOUNTS}::int, 'POST /email/send', 'key_' || n, 'f', '',
        ${NOW}::timestamptz + interval '1 day' FROM ${series}`
    yield* sql`
      INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload, ready)
      SELECT 'msg_' || n, 'acc_' || n % ${ACCOUNTS}::int, 'delivery', 'msg_' || n, ${NOW}::timestamptz, '{}', n % 4 = 0
      FROM ${series}`
    yield* sql`
      INSERT INTO email_log SELECT md5('acc' || n % ${ACCOUNTS}::int)::uuid, md5('msg' || n)::uuid, 1, 1, n, 1, 1,
        ${VERSIONS}::int, 2, 2, 0 FROM ${series}`
    yield* sql`
      INSERT INTO suppressions (account_id, address, version, id, reason, active, record)
      SELECT 'acc_' || n % ${ACCOUNTS}::int, n || '@example.org', 1, 'sup_' || n, 'bounce', true, '{}' FROM ${series}`
    const leading = JSON.stringify({ verified_at: NOW, tracking_domain: { name: "l.acme.dev", verified: true } })
    yield* sql`
      INSERT INTO domains (account_id, id, version, name, status, removed, record)
      SELECT 'acc_' || n % ${ACCOUNTS}::int, 'dom_' || n, 1, n || '.test', 'verified', false,
        CASE n % 5000 WHEN 0 THEN ${leading}::jsonb ELSE '{}' END FROM ${series}`
    yield* sql`
      INSERT INTO accounts SELECT 'acc_' || n, 1, 'free', CASE n % 5000 WHEN 0 THEN '{"links_stopped_at": "x"}' ELSE '{}' END::jsonb
      FROM ${series}`
    for (const table of LARGE) {
      yield* sql`ANALYZE ${sql(table)}`
    }
  }),
)

/** Asserts that no table is scanned or sorted as a whole, and that few pages are read. */
const holds = (plans: ReadonlyArray<Plan>, index: string, most: number): void => {
  const uses = plans.filter(({ steps }) => steps.some((step) => step.endsWith(` ${index}`)))
  assert.isAbove(uses.length, 0, `nothing uses ${index}: ${JSON.stringify(plans)}`)
  for (const { steps, text } of plans) {
    assert.deepStrictEqual(
      LARGE.filter((table) => steps.includes(`Seq Scan ${table}`)),
      [],
      text,
    )
  }
  for (const { pages, steps, text } of uses) assert.isAtMost(pages, most, `${text}\n${steps.join("\n")}`)
}

/** Whether a plan is of a statement of `writeStatements`. */
const isWrite = ({ text }: Plan): boolean =>
  /^(?:WITH part_0 AS \(\s*INSERT INTO events|UPDATE outbox SET lease_token = NULL)/u.test(text)

/** A server with default settings: whatever a plan needs, the service has to set itself. */
const asItCame = Layer.unwrap(
  Effect.gen(function* () {
    const fresh = yield* Database.Fresh
    const settle = Effect.flatMap(PgClient.PgClient, (sql) =>
      sql.unsafe(`ALTER DATABASE ${fresh.name} SET random_page_cost = 4`),
    )
    yield* Effect.provide(settle, Database.layerOf(fresh))
    return Database.layerOf(fresh)
  }),
).pipe(Layer.provideMerge(Layer.effect(Database.Fresh, Database.freshDatabase)))

layer(fill.pipe(Layer.provideMerge(asItCame)), { excludeTestServices: true })("query plans with many rows", (it) => {
  const plans = (use: (storage: LogStorage) => Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      const sql = yield* Sql
      return yield* plansOf(
        sql,
        use(
          PostgresLogStorage.make({
            sql,
            connection: yield* PipelinedConnection.make(sql),
          }),
        ),
      )
    })
  const inTransaction = (use: Parameters<LogStorage["transaction"]>[1]) => (storage: LogStorage) =>
    storage.transaction({ accounts: [account(1)], isExclusive: false }, use)

  it.effect("a stream is loaded by its key", function* () {
    const found = yield* plans((storage) => storage.readStreams([stream(7)]))
    holds(found, "events_pkey", 12)
    assert.lengthOf(found, 1)
  })

  it.effect("a part of a long stream is loaded without the rest", function* () {
    for (const stretch of [{ from: LONG - 1 }, { from: 1, to: 10 }]) {
      const long = { account_id: account(0), stream_id: "dom_long", ...stretch }
      holds(yield* plans((storage) => storage.readStreams([long, stream(7)])), "events_pkey", 40)
    }
  })

  it.effect("the streams of a full batch are loaded by their keys", function* () {
    holds(yield* plans((storage) => storage.readStreams(stretch(100).map((n) => stream(n * 191)))), "events_pkey", 1200)
  })

  it.effect("a page of the feed is read by the index of positions", function* () {
    for (const after of [0n, 40_000n, 79_500n]) {
      const found = yield* plans((storage) => storage.feed({ after }))
      holds(found, "events_by_position", 200)
      for (const { steps } of found) assert.notInclude(steps, "Sort")
    }
  })

  it.effect("the feed of an account is read without the events of others", function* () {
    for (const types of [undefined, ["EmailQueued", "EmailOpened"]]) {
      const query = { after: 20_000n, account_id: account(3), ...(types === undefined ? {} : { types }) }
      for (const bound of [{}, { max_bytes: PageBytes.MAX_PAGE_BYTES }]) {
        const found = yield* plans((storage) => storage.feed({ ...query, ...bound }))
        holds(found, "events_by_account_position", Feed.MAX_FEED_PAGE + 20)
        for (const { steps } of found) assert.notInclude(steps, "Sort")
      }
    }
  })

  it.effect("a time range of an account's log is read without the events outside it", function* () {
    const sql = yield* Sql
    const seconds = (n: number) => Timestamp.plus(Timestamp.Timestamp.make(NOW), n * Timestamp.SECOND)
    const range = {
      account_id: account(3),
      webhook_id: "whk_1",
      created_after: seconds(40_000),
      created_before: seconds(40_100),
      after_position: 0n,
      types: [{ tag: "EmailOpened", type: "email.opened" }],
      scheduled: null,
      unsubscribes: false,
      ids: stretch(10).map((n) => `whd_${n}`),
      now: NOW,
    }
    let queued = 0
    const replay = Effect.tap(WebhookReplays.replay(range), (done) => Effect.sync(() => (queued = done.queued)))
    holds(yield* plansOf(sql, replay), "events_by_account_position", 600)
    assert.strictEqual(queued, 5)
  })

  it.effect("the end of the feed is found by its last event alone", function* () {
    const found = yield* plans((storage) => storage.feed({ after: 1_000_000n }))
    assert.lengthOf(found, 3)
    for (const { pages } of found) assert.isAtMost(pages, 6)
  })

  it.effect("idempotency keys are found by their key", function* () {
    const refs = stretch(100).map((n) => ({
      account_id: account(n % ACCOUNTS),
      route: "POST /email/send",
      key: `key_${n * 3}`,
      fingerprint: "f",
    }))
    const found = yield* plans(inTransaction((transaction) => transaction.findAnswers(refs, NOW)))
    holds(found, "idempotency_keys_pkey", 800)
  })

  it.effect("the facts for decisions are found by keys", function* () {
    const found = yield* plans(
      inTransaction((transaction) =>
        transaction.readFacts(
          stretch(50).map((n) => ({
            account_id: account(n % ACCOUNTS),
            domains: [`${n}.test`],
            addresses: [`${n}@example.org`],
            outbox: [`msg_${n}`],
            month: "2026-11",
          })),
          NOW,
        ),
      ),
    )
    for (const index of ["domains_by_name", "suppressions_pkey", "outbox_pkey"]) holds(found, index, 900)
  })

  it.effect("a batch writes without reading other rows", function* () {
    const events = stretch(100).map((n) => ({
      position: 0n,
      ...stream(n),
      event_id: `evt_new_${n}` as never,
      stream: "email",
      version: VERSIONS + 1,
      type: "EmailOpened",
      data: {},
      meta: { ...system, schema_version: 1 },
      recorded_at: NOW,
    }))
    const ids = events.map(({ stream_id }) => stream_id)
    const arm = events.slice(0, 50).map(({ account_id, stream_id }) => ({
      id: stream_id,
      account_id,
      kind: "delivery" as const,
      stream_id,
      available_at: NOW,
      attempt: 1,
      payload: {},
    }))
    const answers = stretch(100).map((n) => ({
      account_id: account(n % ACCOUNTS),
      route: "POST /email/send",
      // Half of them take the place of expired ones.
      key: `${n % 2 === 0 ? "key" : "new"}_${n}`,
      fingerprint: "f",
      answer: new Uint8Array(),
      expires_at: NOW,
    }))
    const rows = new BatchRows()
    const write: Write = {
      changedStreams: [],
      events,
      rows,
      now: NOW,
    }
    const { table } = DueWork
    for (const answer of answers) rows.add(StoredAnswers.table, answer)
    for (const row of arm) rows.add(table, { arm: row })
    for (const [nth, id] of ids.entries()) if (nth >= 50) rows.add(table, nth < 70 ? { settle: id } : { release: id })
    const written = (write: Write) =>
      plans((storage) =>
        // Rolled back, so that the same statements can be explained afterwards.
        storage
          .transaction({ accounts: [], isExclusive: false }, (transaction) =>
            Effect.andThen(transaction.write(write), Effect.die("undone")),
          )
          .pipe(Effect.catchDefect(() => Effect.void)),
      )
    const found = yield* written(write)
    assert.lengthOf(found.filter(isWrite), 2)
    holds(found, "outbox_pkey", 1500)

    const accounts = [...new Set(events.map(({ account_id }) => account_id))]
    const ended = new BatchRows()
    for (const account_id of accounts) ended.add(UsageRows.table, { account_id, month: "2026-11", delta: 1 })
    for (const answer of answers) ended.add(StoredAnswers.table, answer)
    for (const id of ids) for (const change of [{ settle: id }, { release: id }]) ended.add(table, change)
    const settled = yield* written({ ...write, rows: ended })
    assert.lengthOf(settled.filter(isWrite), 1)
    for (const index of ["outbox_pkey", "monthly_usage_pkey"]) holds(settled, index, 4000)
  })

  it.effect("accounts with stopped links are read from their partial index", function* () {
    const sql = yield* Sql
    holds(yield* plansOf(sql, Accounts.withLinksStopped()), "accounts_links_stopped", 6)
  })

  it.effect("tracking domain names are read from their partial index", function* () {
    const sql = yield* Sql
    const names = Domains.trackingNames()
    assert.lengthOf(yield* names, STREAMS / 5000)
    // A page of the directory of cells, too.
    holds(yield* plansOf(sql, names), "domains_tracking", 7)
  })

  it.effect("a claim of outbox rows uses the index of ready rows", function* () {
    const sql = yield* Sql
    const query = {
      kind: "delivery" as const,
      owner: "o",
      token: "t",
      limit: 100,
      without: new Set<string>(),
      after: "",
    }
    // A claim may read the directory of cells as well.
    const found = (yield* plansOf(sql, Leases.claim(query))).filter(({ text }) => text.includes("outbox"))
    holds(found, "outbox_ready", 2000)
    const waiting = found.flatMap(({ steps }) => steps).filter((step) => step.includes("Sort"))
    assert.deepStrictEqual(waiting, [])
  })

  it.effect("work on a test clock is found by its index, and never by a statement on real time", function* () {
    const sql = yield* Sql
    yield* sql`
      INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload, clock, clock_due)
      SELECT 'clocked_' || n, 'acc_1', 'delivery', 'clocked_' || n, ${FAR_FUTURE}::timestamptz, '{}', 'clk_' || n % 20,
        ${NOW}::timestamptz - make_interval(mins => n) FROM generate_series(1, 2000) AS n`
    const found = yield* plansOf(sql, ClockedRows.work("clk_3"))
    holds(found, "outbox_by_clock", 20)
    for (const { steps } of found) assert.notInclude(steps, "Sort")
    yield* DueRows.markReady()
    const [ready] = yield* sql`SELECT 1 AS one FROM outbox WHERE clock IS NOT NULL AND ready`
    assert.isUndefined(ready)
    holds(yield* plansOf(sql, ClockedRows.markReady("clk_3", NOW as Timestamp.Timestamp)), "outbox_by_clock", 2000)
    const [released] = yield* sql<{ readonly rows: number }>`
      SELECT count(*)::int AS rows FROM outbox WHERE clock IS NOT NULL AND ready`
    assert.strictEqual(released?.rows, 100)
  })
})
