import { PgClient } from "@effect/sql-pg"
import type { StorageError } from "@waybill/store/postgres/StorageError"
import * as PipelinedConnection from "@waybill/store/database/PipelinedConnection"
import * as PostgresLogStorage from "@waybill/store/commit/PostgresLogStorage"
import * as SqlErrors from "@waybill/store/postgres/SqlErrors"
import { Context, Effect, Exit, Layer, Redacted } from "effect"
import { SqlError } from "effect/sql"
import { of } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"

const client = (url: Redacted.Redacted, startupParameters: Readonly<Record<string, string>> = {}) =>
  Layer.build(PgClient.layer({ url, startupParameters })).pipe(
    Effect.map((found) => Context.get(found, PgClient.PgClient)),
  )

const raise = (state: string, message = "provoked") =>
  `DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${state}'; END $$`
/** As a node of Citus reports it, with the number of a shard. */
const duplicate = (key: string) =>
  `DO $$ BEGIN RAISE EXCEPTION 'provoked' USING ERRCODE = '23505', CONSTRAINT = '${key}_102022'; END $$`

interface Case {
  readonly name: string
  readonly statements: ReadonlyArray<string>
  readonly tag: StorageError["_tag"]
  readonly isDuplicate?: boolean
  readonly session?: Readonly<Record<string, string>>
}

const EVENT = `INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
  VALUES ('a', 's', 1, 'email', 'EmailOpened', 'e', '{}', '{}', now())`
const LOG_ROW = `INSERT INTO domains (account_id, id, version, name, status, removed) VALUES ('a', gen_random_uuid(), 1, 'n', 's', false)`
const END_SELF = "SELECT pg_terminate_backend(pg_backend_pid())"

const CASES: ReadonlyArray<Case> = [
  { name: "a taken version of a stream", statements: [EVENT, EVENT], tag: "TryAgain" },
  { name: "another unique violation", statements: [LOG_ROW, LOG_ROW], tag: "RowRejected", isDuplicate: true },
  { name: "a taken version on a node of Citus", statements: [duplicate("events_pkey")], tag: "TryAgain" },
  {
    name: "a taken version on another node of Citus than the cell's connection",
    statements: [raise("XX000", 'duplicate key value violates unique constraint "events_pkey_102023"')],
    tag: "TryAgain",
  },
  {
    name: "another unique violation on a node of Citus",
    statements: [duplicate("domains_pkey")],
    tag: "RowRejected",
    isDuplicate: true,
  },
  { name: "a CHECK violation", statements: [EVENT.replace("'s', 1", "'s', 0")], tag: "RowRejected" },
  { name: "a NOT NULL violation", statements: [EVENT.replace("'{}', '{}'", "NULL, '{}'")], tag: "RowRejected" },
  { name: "invalid JSON", statements: ["SELECT '{'::jsonb"], tag: "RowRejected" },
  { name: "a NUL in JSON", statements: [`SELECT '"\\u0000"'::jsonb`], tag: "RowRejected" },
  { name: "a number too large", statements: ["SELECT 3000000000::int"], tag: "RowRejected" },
  {
    name: "a key too long for its index",
    statements: [
      "INSERT INTO users (id, email, created_at) SELECT (SELECT string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 900)), '', now()",
    ],
    tag: "RowRejected",
  },
  { name: "a serialization failure", statements: [raise("40001")], tag: "TryAgain" },
  { name: "a deadlock", statements: [raise("40P01")], tag: "TryAgain" },
  {
    name: "a lock timeout",
    statements: ["SELECT FROM idempotency_keys", "LOCK TABLE content"],
    tag: "TryAgain",
    session: { lock_timeout: "20ms" },
  },
  { name: "a lock with NOWAIT", statements: ["LOCK TABLE content NOWAIT"], tag: "TryAgain" },
  { name: "pg_terminate_backend", statements: [END_SELF], tag: "OutcomeUnknown" },
  { name: "a crash of another backend", statements: [raise("57P02")], tag: "OutcomeUnknown" },
  { name: "a server that starts or stops", statements: [raise("57P03")], tag: "OutcomeUnknown" },
  { name: "an error of I/O of Postgres", statements: [raise("58030")], tag: "Failed" },
  {
    name: "an idle-in-transaction timeout",
    statements: ["SELECT 1", "idle"],
    tag: "OutcomeUnknown",
    session: { idle_in_transaction_session_timeout: "20ms" },
  },
  { name: "a protocol violation", statements: [raise("08P01")], tag: "OutcomeUnknown" },
  {
    name: "a statement timeout",
    statements: ["SELECT pg_sleep(9)"],
    tag: "Failed",
    session: { statement_timeout: "20ms" },
  },
  { name: "a missing privilege", statements: ["SELECT * FROM pg_authid"], tag: "Failed" },
  { name: "a missing table", statements: ["SELECT * FROM nowhere"], tag: "Failed" },
  {
    name: "a table of Citus that has moved to another node",
    statements: [raise("42P01", 'relation "cell_a.events_102009" does not exist')],
    tag: "OutcomeUnknown",
  },
  {
    name: "a node of Citus that a cell has left",
    statements: [raise("42P01", 'relation "event_position" does not exist')],
    tag: "OutcomeUnknown",
  },
  { name: "a full disk", statements: [raise("53100")], tag: "Failed" },
  { name: "an internal error of Postgres", statements: [raise("XX000")], tag: "Failed" },
]

layer(Database.layerFresh, { excludeTestServices: true })("an error in a transaction", (it) => {
  for (const { isDuplicate, name, session, statements, tag } of CASES) {
    it.effect(`${name}: ${tag}`, function* () {
      const { url } = yield* Database.Fresh
      const locker = yield* otherClient(url)
      yield* locker.query("BEGIN")
      yield* locker.query("LOCK TABLE content")
      const sql = yield* client(url, session)
      const watcher = yield* otherClient(url)
      const isEnded = (pid: number | undefined) =>
        watcher
          .query("SELECT FROM pg_stat_activity WHERE pid = $1", [pid])
          .pipe(Effect.repeat({ until: (found) => found.length === 0 }))
      const storage = PostgresLogStorage.make({
        sql: of(sql),
        connection: yield* PipelinedConnection.make(of(sql)),
      })
      const error = yield* storage
        .transaction({ accounts: [], isExclusive: false }, () =>
          Effect.gen(function* () {
            const [own] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
            yield* Effect.forEach(statements, (text) =>
              text === "idle" ? Effect.andThen(isEnded(own?.pid), sql.unsafe("SELECT 1")) : sql.unsafe(text),
            )
          }).pipe(Effect.mapError(SqlErrors.classify)),
        )
        .pipe(Effect.flip)
      assert.strictEqual(error._tag, tag)
      assert.strictEqual(error._tag === "RowRejected" && error.isDuplicate === true, isDuplicate ?? false)
      yield* locker.query("ROLLBACK")
    })
  }

  it.effect("a parameter that the driver cannot encode: RowRejected", function* () {
    const sql = yield* client((yield* Database.Fresh).url)
    const error = yield* Effect.flip(sql`SELECT ${{ no: "codec" } as never} AS x`)
    assert.strictEqual(SqlErrors.classify(error)._tag, "RowRejected")
  })

  it.effect("too many clients: OutcomeUnknown, like any lost connection", function* () {
    const { adminUrl, name, url } = yield* Database.Fresh
    const administrator = yield* otherClient(adminUrl)
    yield* administrator.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`)
    const sql = yield* client(url)
    const error = yield* Effect.flip(sql`SELECT 1`)
    yield* administrator.query(`ALTER DATABASE ${name} CONNECTION LIMIT -1`)
    assert.strictEqual(SqlErrors.classify(error)._tag, "OutcomeUnknown")
  })

  it.effect("a wrong password: Failed, because a retry does not help, and nothing was sent", function* () {
    const wrong = new URL(Redacted.value((yield* Database.Fresh).url))
    wrong.password = "wrong"
    const sql = yield* client(Redacted.make(wrong.href))
    const error = yield* Effect.flip(sql`SELECT 1`)
    assert.strictEqual(SqlErrors.classify(error)._tag, "Failed")
    assert.deepInclude(yield* Effect.flip(SqlErrors.outcomeOf(error)), { why: "away", status: 503 })
  })

  it.effect("a lost connection is a defect of sql-pg, and OutcomeUnknown of the storage", function* () {
    const { url } = yield* Database.Fresh
    const sql = yield* client(url)
    const bare = yield* Effect.exit(sql.withTransaction(sql.unsafe(END_SELF)))
    assert.isTrue(Exit.hasDies(bare))
    assert.isTrue(
      Exit.isFailure(bare) &&
        bare.cause.reasons.some((reason) => reason._tag === "Die" && reason.defect instanceof SqlError.SqlError),
    )
    const error = yield* PostgresLogStorage.make({
      sql: of(sql),
      connection: yield* PipelinedConnection.make(of(sql)),
    })
      .transaction({ accounts: [], isExclusive: false }, () =>
        Effect.mapError(sql.unsafe(END_SELF), SqlErrors.classify),
      )
      .pipe(Effect.flip)
    assert.strictEqual(error._tag, "OutcomeUnknown")
  })
})
