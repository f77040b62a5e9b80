import * as PipelinedConnection from "@waybill/store/database/PipelinedConnection"
import * as Rests from "@waybill/store/database/Rests"
import { PgClient } from "@effect/sql-pg"
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as StoreDatabase from "@waybill/store/database/Database"
import { Context, Effect, Fiber, Layer } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { of, Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { otherClient, blockedBackend } from "../../support/postgres/otherClient.ts"

const LOCK = 4711
const lock = (sql: PgClient.PgClient) => sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)::text AS taken`

/** Statements of a transaction: BEGIN, its own and COMMIT. */
const STATEMENTS = 3
/** Number of statements that the driver keeps of a connection, answered or not. */
const entriesOf = (connection: object | undefined): number =>
  (connection as { readonly pipelineInFlight: ReadonlyArray<unknown> }).pipelineInFlight.length

/** A server that is reached by TCP, as a node of Citus is. */
const overTcp = Effect.gen(function* () {
  const dataDir = mkdtempSync(join(tmpdir(), "waybill-tcp-"))
  const server = yield* EmbeddedPostgres.start({ dataDir, scratch: true, loopback: true })
  return of(Context.get(yield* Layer.build(StoreDatabase.layer({ url: server.url })), PgClient.PgClient))
})

layer(Database.layerFresh, { excludeTestServices: true })("pipelined connection", (it) => {
  it.effect("sends the next transaction before the first is answered", function* () {
    const { driver: sql } = yield* Sql
    const connection = yield* PipelinedConnection.make(yield* Sql)
    const other = yield* otherClient((yield* Database.Fresh).url)
    yield* other.query("SELECT pg_advisory_lock($1)", [LOCK])
    const first = yield* Effect.forkChild(connection.transaction((send) => send(lock(sql))))
    yield* blockedBackend(other)
    const second = yield* Effect.forkChild(
      connection.transaction(() => sql<{ one: number }>`SELECT 1 AS one`),
      {
        startImmediately: true,
      },
    )
    assert.isUndefined(first.pollUnsafe())
    assert.isUndefined(second.pollUnsafe())
    yield* other.query("SELECT pg_advisory_unlock($1)", [LOCK])
    yield* Fiber.join(first)
    assert.deepStrictEqual(yield* Fiber.join(second), [{ one: 1 }])
  })

  it.effect("rests after so many transactions, so that the driver forgets what it has sent", function* () {
    const { driver: sql } = yield* Sql
    const opened: Array<object> = []
    const connection = yield* PipelinedConnection.make(yield* Sql, undefined, (one) =>
      Effect.sync(() => void opened.push(one)),
    )
    let kept = 0
    const loopOf = (seconds: number) =>
      Effect.forEach(Array.from({ length: Rests.MAX_SENT_WITHOUT_REST }), () =>
        // Another transaction is under way whenever one is answered.
        Effect.tap(
          connection.transaction((send) => send(sql`SELECT pg_sleep(${seconds}::float8)::text AS slept`)),
          Effect.sync(() => (kept = Math.max(kept, entriesOf(opened[0])))),
        ),
      )
    const most = STATEMENTS * (Rests.MAX_SENT_WITHOUT_REST - 3)
    // All three may be answered before a busy machine looks again, which is a rest as well; slower ones less often.
    for (let seconds = 0.001; seconds < 0.1 && kept <= most; seconds *= 2) {
      const loop = loopOf(seconds)
      yield* Effect.all([loop, loop, loop], { concurrency: "unbounded" })
    }
    assert.isAbove(kept, most)
    assert.isBelow(kept, STATEMENTS * (Rests.MAX_SENT_WITHOUT_REST + 3))
  })

  it.effect("isolates transactions: only committed rows remain", function* () {
    const { driver: sql } = yield* Sql
    const connection = yield* PipelinedConnection.make(yield* Sql)
    const add = (n: number) =>
      sql`INSERT INTO webhook_failures (account_id, webhook_id, since) VALUES ('acc_n', ${String(n)}, now())`
    const outcomes = yield* Effect.forEach(
      Array.from({ length: 60 }, (_, n) => n),
      (n) =>
        Effect.result(
          connection.transaction((send) =>
            n % 3 === 0 ? Effect.andThen(send(add(n)), Effect.fail("no")) : send(add(n)),
          ),
        ),
      { concurrency: "unbounded" },
    )
    const rows = yield* sql<{ n: number }>`
      SELECT webhook_id::int AS n FROM webhook_failures WHERE account_id = 'acc_n' ORDER BY 1`
    assert.deepStrictEqual(
      rows.map(({ n }) => n),
      outcomes.flatMap((outcome, n) => (outcome._tag === "Success" ? [n] : [])),
    )
    assert.lengthOf(rows, 40)
  })

  it.effect("runs onWritten before the COMMIT, and not after an error", function* () {
    const { driver: sql } = yield* Sql
    const connection = yield* PipelinedConnection.make(yield* Sql)
    let calls = 0
    const onWritten = Effect.sync(() => calls++)
    yield* Effect.exit(connection.transaction((send) => send(sql`SELECT 1 / 0 AS x`), onWritten))
    yield* Effect.exit(connection.transaction(() => Effect.fail("no"), onWritten))
    assert.strictEqual(calls, 0)
    yield* connection.transaction((send) => send(sql`SELECT 1 AS x`), onWritten)
    assert.strictEqual(calls, 1)
  })

  it.effect("fails with the first error and stays usable", function* () {
    const { driver: sql } = yield* Sql
    const connection = yield* PipelinedConnection.make(yield* Sql)
    const error = yield* Effect.flip(
      connection.transaction((send) => Effect.andThen(send(sql`SELECT 1 / 0 AS x`), sql`SELECT 1 AS x`)),
    )
    assert.strictEqual((error.reason.cause as { code?: string }).code, "22012")
    const late = yield* Effect.flip(connection.transaction((send) => send(sql`SELECT 1 / 0 AS x`)))
    assert.strictEqual((late.reason.cause as { code?: string }).code, "22012")
    assert.deepStrictEqual(yield* connection.transaction(() => sql`SELECT 1 AS x`), [{ x: 1 }])
  })

  it.effect("opens a new connection when the server has ended the old one", function* () {
    const { driver: sql } = yield* Sql
    const connection = yield* PipelinedConnection.make(yield* Sql)
    const pid = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
    const [old] = yield* connection.transaction(() => pid)
    const error = yield* Effect.flip(
      connection.transaction((send) => send(sql`SELECT pg_terminate_backend(pg_backend_pid()) AS x`)),
    )
    assert.isTrue(error.isRetryable)
    const [reopened] = yield* connection.transaction(() => pid)
    assert.notStrictEqual(reopened?.pid, old?.pid)
  })

  it.effect(
    "tells the server by TCP to release the locks of a client that is gone",
    () =>
      Effect.gen(function* () {
        const store = process.env["WAYBILL_TEST_CELL"] === undefined ? yield* overTcp : yield* Sql
        const { driver: sql } = store
        const connection = yield* PipelinedConnection.make(store)
        const names = Object.keys(PipelinedConnection.TCP)
        const rows = yield* connection.transaction(
          () => sql<{ readonly name: string; readonly value: string }>`
            SELECT name, current_setting(name) AS value FROM unnest(${names}::text[]) AS name`,
        )
        assert.deepStrictEqual(
          Object.fromEntries(rows.map(({ name, value }) => [name, value])),
          PipelinedConnection.TCP as Record<string, string>,
        )
      }).pipe(Effect.scoped),
    60_000,
  )
})
