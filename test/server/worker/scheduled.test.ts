import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Duration, Effect, Exit, Layer, Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Database from "../../support/postgres/database.ts"
import * as Delivery from "../../support/mail/delivery.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { World } from "../../support/world.ts"

/** What takes this long will never be. */
const HANGS = Duration.seconds(60)

/** Five mails that come due one after another, and by how much each was late. */
const lateness = Effect.fnUntraced(function* (from: Delivery.Sender) {
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const times = [1_000, 1_300, 1_700, 2_200, 2_900].map((wait) => Timestamp.plus(now, wait))
  const refs = yield* Effect.forEach(times, (scheduled_at) => Delivery.accept(from, { scheduled_at }))
  const late: Array<number> = []
  for (const [i, ref] of refs.entries()) {
    const { state } = yield* Delivery.settled(ref, HANGS)
    const delivered = state._tag === "Message" ? (state.recipients[0]?.delivered_at ?? now) : now
    late.push(Timestamp.between(times[i] ?? now, delivered))
  }
  assert.isAtLeast(Math.min(...late), 0)
  return late.toSorted((a, b) => a - b)
})

/** Of the look in which it was the least, by how much the third of five was late. */
const middle = (looks: ReadonlyArray<ReadonlyArray<number>>) =>
  Math.min(...looks.map(([, , median = Infinity]) => median))

interface Scans {
  readonly scans: number
  readonly rows: number
}

/** What sessions have read is counted some seconds later, or when they are over: those of the test's pool say it now. */
const tellWhatWasRead = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.forEach(
    Array.from({ length: 20 }),
    () => Effect.orDie(sql`SELECT pg_stat_force_next_flush(), pg_sleep(0.2)`),
    { concurrency: "unbounded", discard: true },
  ),
)

/** What has been read of the outbox in this database, as far as it was told: from end to end, and by its indexes. */
const readOfOutbox = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [read = { scans: 0, rows: 0 }] = yield* Effect.orDie(sql<Scans>`
    SELECT seq_scan::int AS scans, (SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes WHERE relname = 'outbox') AS rows
    FROM pg_stat_user_tables WHERE relname = 'outbox'`)
  return read
})

const sessions = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(
    Effect.orDie(sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`),
    (rows) => rows.length,
  ),
)

/** So many rows just written keep the disk busy for a while, which is not what is measured here. */
const settleDown = Effect.gen(function* () {
  const { adminUrl } = yield* Database.Fresh
  const admin = yield* PgClient.makeClient({ url: adminUrl }).pipe(Effect.provide(Reactivity.layer))
  yield* admin`VACUUM ANALYZE outbox`
  yield* admin`CHECKPOINT`
}).pipe(Effect.scoped, Effect.orDie)

describe("a pipeline", () => {
  it.live(
    "fires scheduled mail with 200,000 rows waiting as it does without, and reads none of them",
    () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const server = yield* SmtpServer.listen()
        const from = yield* Delivery.sender()
        const { url } = yield* Database.Fresh
        const worker = Delivery.worker(url, { relay: Delivery.relay(server) })
        const first = yield* Scope.fork(yield* Effect.scope)
        yield* Layer.buildWithScope(worker, first)
        const before = yield* lateness(from)
        yield* Scope.close(first, Exit.void)
        // `npm run bench -- deliver` does the same with a million.
        for (let from = 0; from < 200_000; from += 100_000) {
          yield* Effect.orDie(sql`
          INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
          SELECT 'w' || n, 'acc' || n % 1000, 'delivery', 'w' || n, now() + make_interval(days => 1, secs => n), '{}'
          FROM generate_series(${from}::int + 1, ${from}::int + 100000) AS n`)
        }
        yield* settleDown
        yield* tellWhatWasRead
        const others = yield* sessions
        const read = yield* readOfOutbox
        const second = yield* Scope.fork(yield* Effect.scope)
        // On sessions of its own: what they have read is counted when they are over.
        yield* Layer.buildWithScope(worker.pipe(Layer.provide(Layer.fresh(Delivery.store(url)))), second)
        // A second is the promise; a machine that is late without them may be as late with them. Of several looks the best,
        // for the machine may have been away for a while.
        const most = 1_000 + 3 * Math.max(...before)
        const looks = [yield* lateness(from)]
        while (looks.length < 3 && middle(looks) >= most) looks.push(yield* lateness(from))
        yield* Scope.close(second, Exit.void)
        yield* Delivery.until(sessions, (open) => open <= others, HANGS)
        const since = yield* readOfOutbox
        assert.strictEqual(since.scans - read.scans, 0, "something reads the outbox from end to end")
        assert.isBelow(since.rows - read.rows, 10_000)
        assert.isBelow(middle(looks), most, `late by ${looks.join("; ")} ms, before by ${before.join(", ")} ms`)
      }).pipe(Effect.scoped, Effect.provide(World)),
    4 * Duration.toMillis(HANGS),
  )
})
