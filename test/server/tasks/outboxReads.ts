import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Database from "../../support/database.ts"

interface Scans {
  readonly scans: number
  readonly rows: number
}

/** What sessions have read is counted some seconds later, or when they are over: those of the test's pool say it now. */
export const tell = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.forEach(
    Array.from({ length: 20 }),
    () => Effect.orDie(sql`SELECT pg_stat_force_next_flush(), pg_sleep(0.2)`),
    { concurrency: "unbounded", discard: true },
  ),
)

/** What has been read of the outbox in this database, as far as it was told: from end to end, and by its indexes. */
export const told = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [read = { scans: 0, rows: 0 }] = yield* Effect.orDie(sql<Scans>`
    SELECT seq_scan::int AS scans, (SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes WHERE relname = 'outbox') AS rows
    FROM pg_stat_user_tables WHERE relname = 'outbox'`)
  return read
})

export const sessions = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(
    Effect.orDie(sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`),
    (rows) => rows.length,
  ),
)

/** So many rows just written keep the disk busy for a while, which is not what is measured here. */
export const settleDown = Effect.gen(function* () {
  const { adminUrl } = yield* Database.Fresh
  const admin = yield* PgClient.makeClient({ url: adminUrl }).pipe(Effect.provide(Reactivity.layer))
  yield* admin`VACUUM ANALYZE outbox`
  yield* admin`CHECKPOINT`
}).pipe(Effect.scoped, Effect.orDie)
