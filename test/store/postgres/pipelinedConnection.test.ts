import { assert, layer } from "@effect/vitest"
import * as PipelinedConnection from "@waybill/store/postgres/PipelinedConnection"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber } from "effect"
import * as Database from "../../support/postgres/database.ts"
import { rival, waiter } from "../../support/postgres/rival.ts"

const LOCK = 4711
const lock = (sql: PgClient.PgClient) => sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)::text AS taken`

layer(Database.layerFresh, { excludeTestServices: true })("transactions in line", (it) => {
  it.effect("follow one another while the first has not been answered", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const line = yield* PipelinedConnection.make(sql)
      const other = yield* rival((yield* Database.Fresh).url)
      yield* other.query("SELECT pg_advisory_lock($1)", [LOCK])
      const first = yield* Effect.forkChild(line.transaction((send) => send(lock(sql))))
      yield* waiter(other)
      const second = yield* Effect.forkChild(
        line.transaction(() => sql<{ one: number }>`SELECT 1 AS one`),
        {
          startImmediately: true,
        },
      )
      assert.isUndefined(first.pollUnsafe())
      assert.isUndefined(second.pollUnsafe())
      yield* other.query("SELECT pg_advisory_unlock($1)", [LOCK])
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* Fiber.join(second), [{ one: 1 }])
    }),
  )

  it.effect("see nothing of one another but what was committed", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const line = yield* PipelinedConnection.make(sql)
      yield* sql`CREATE TABLE numbers (n int PRIMARY KEY)`
      const add = (n: number) => sql`INSERT INTO numbers SELECT ${n}::int`
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => n),
        (n) =>
          Effect.result(
            line.transaction((send) => (n % 3 === 0 ? Effect.andThen(send(add(n)), Effect.fail("no")) : send(add(n)))),
          ),
        { concurrency: "unbounded" },
      )
      const rows = yield* sql<{ n: number }>`SELECT n FROM numbers ORDER BY n`
      assert.deepStrictEqual(
        rows.map(({ n }) => n),
        outcomes.flatMap((outcome, n) => (outcome._tag === "Success" ? [n] : [])),
      )
      assert.lengthOf(rows, 40)
    }),
  )

  it.effect("say that all is written before it is committed, and nothing of what has failed by then", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const line = yield* PipelinedConnection.make(sql)
      let told = 0
      const written = Effect.sync(() => told++)
      yield* Effect.exit(line.transaction((send) => send(sql`SELECT 1 / 0 AS x`), written))
      yield* Effect.exit(line.transaction(() => Effect.fail("no"), written))
      assert.strictEqual(told, 0)
      yield* line.transaction((send) => send(sql`SELECT 1 AS x`), written)
      assert.strictEqual(told, 1)
    }),
  )

  it.effect("fail by their first trouble, not by what came of it, and leave the line as it was", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const line = yield* PipelinedConnection.make(sql)
      const error = yield* Effect.flip(
        line.transaction((send) => Effect.andThen(send(sql`SELECT 1 / 0 AS x`), sql`SELECT 1 AS x`)),
      )
      assert.strictEqual((error.reason.cause as { code?: string }).code, "22012")
      const late = yield* Effect.flip(line.transaction((send) => send(sql`SELECT 1 / 0 AS x`)))
      assert.strictEqual((late.reason.cause as { code?: string }).code, "22012")
      assert.deepStrictEqual(yield* line.transaction(() => sql`SELECT 1 AS x`), [{ x: 1 }])
    }),
  )

  it.effect("go on over a new connection when theirs was ended", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const line = yield* PipelinedConnection.make(sql)
      const pid = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
      const [old] = yield* line.transaction(() => pid)
      const error = yield* Effect.flip(
        line.transaction((send) => send(sql`SELECT pg_terminate_backend(pg_backend_pid()) AS x`)),
      )
      assert.isTrue(error.isRetryable)
      const [fresh] = yield* line.transaction(() => pid)
      assert.notStrictEqual(fresh?.pid, old?.pid)
    }),
  )
})
