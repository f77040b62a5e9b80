import { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Duration, Effect, Exit, Layer, Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

/** Time limit of waiting. */
const HANGS = Duration.seconds(60)

/** Schedules five mails one after another, and returns how late each was. */
const lateness = Effect.fnUntraced(function* (from: World.SendingDomain) {
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const times = [1_000, 1_300, 1_700, 2_200, 2_900].map((wait) => Timestamp.plus(now, wait))
  const refs = yield* Effect.forEach(times, (scheduled_at) => World.send(from, { scheduled_at }))
  const late: Array<number> = []
  for (const [i, ref] of refs.entries()) {
    const { state } = yield* World.settled(ref, HANGS)
    const delivered = state._tag === "Message" ? (state.recipients[0]?.delivered_at ?? now) : now
    late.push(Timestamp.between(times[i] ?? now, delivered))
  }
  assert.isAtLeast(Math.min(...late), 0)
  return late.toSorted((a, b) => a - b)
})

/** Returns the smallest median delay of several runs. */
const middle = (looks: ReadonlyArray<ReadonlyArray<number>>) =>
  Math.min(...looks.map(([, , median = Infinity]) => median))

interface Scans {
  readonly scans: number
  readonly rows: number
}

/** Flushes the statistics of the pool's sessions, which Postgres counts with a delay. */
const tellWhatWasRead = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.forEach(
    Array.from({ length: 20 }),
    () => Effect.orDie(sql`SELECT pg_stat_force_next_flush(), pg_sleep(0.2)`),
    { concurrency: "unbounded", discard: true },
  ),
)

/** Returns the rows read from the outbox by sequential scans and by indexes. */
const readOfOutbox = Effect.gen(function* () {
  const sql = yield* Sql
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

/** Waits until the disk has written the rows, which is not to be measured. */
const settleDown = Effect.gen(function* () {
  const { adminUrl } = yield* Database.Fresh
  const admin = yield* PgClient.makeClient({ url: adminUrl }).pipe(Effect.provide(Reactivity.layer))
  yield* admin`VACUUM ANALYZE outbox`
  yield* admin`CHECKPOINT`
}).pipe(Effect.scoped, Effect.orDie)

describe("a pipeline", () => {
  it.live(
    "sends scheduled mail on time with 200,000 waiting rows, without reading them",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const server = yield* SmtpServer.listen()
        const from = yield* World.verifiedDomain()
        const { url } = yield* Database.Fresh
        const worker = World.worker(url, { relay: World.relay(server) })
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
        // On sessions of its own, whose reads are counted when they end.
        yield* Layer.buildWithScope(worker.pipe(Layer.provide(Layer.fresh(World.services(url)))), second)
        // The limit is one second, or the delay without the rows on a slow machine. The best of several runs counts,
        // since the machine may pause.
        const most = 1_000 + 3 * Math.max(...before)
        const looks = [yield* lateness(from)]
        while (looks.length < 3 && middle(looks) >= most) looks.push(yield* lateness(from))
        yield* Scope.close(second, Exit.void)
        yield* World.until(sessions, (open) => open <= others, HANGS)
        const since = yield* readOfOutbox
        assert.strictEqual(since.scans - read.scans, 0, "something reads the outbox from end to end")
        assert.isBelow(since.rows - read.rows, 10_000)
        assert.isBelow(middle(looks), most, `late by ${looks.join("; ")} ms, before by ${before.join(", ")} ms`)
      }).pipe(Effect.scoped, Effect.provide(World.layer)),
    4 * Duration.toMillis(HANGS),
  )
})
