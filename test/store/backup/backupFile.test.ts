import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Sql } from "@waybill/store/postgres/Sql"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as EmailStatsMonths from "@waybill/store/statistics/EmailStatsMonths"
import { Effect, Fiber, Layer, Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as Database from "../../support/postgres/Database.ts"
import { dumpSchema } from "../../support/postgres/schemaDump.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { openedMail, send } from "../commit/commits.ts"
import * as Histories from "../rebuild/randomHistories.ts"

const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))
const TIMEOUT = { timeout: 240_000 }

const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-backup-file-"))),
  (made) => Effect.promise(() => fs.rm(made, { recursive: true, force: true })),
)

const query = (url: string, text: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(text)).rows as ReadonlyArray<Readonly<Record<string, unknown>>>
    } finally {
      await client.end()
    }
  })

const waybill = (url: string, ...words: ReadonlyArray<string>) =>
  Effect.map(
    CommandLine.typeWith({ DATABASE_URL: url, WAYBILL_DATA: NOWHERE }, ...words),
    ({ errors, exit, output }) => ({
      code: CommandLine.codeOf(exit),
      output: [output, errors].join("\n"),
    }),
  )

const succeed = Effect.fnUntraced(function* (url: string, ...words: ReadonlyArray<string>) {
  const { code, output } = yield* waybill(url, ...words)
  assert.strictEqual(code, 0, output)
})

/** Returns every row of every table that is not unlogged, and the constraints, indexes and positions of all schemas. */
const contents = Effect.fnUntraced(function* (url: string) {
  const tables = yield* query(
    url,
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND n.nspname IN ('public', 'cell_b') ORDER BY 1`,
  )
  const all: Record<string, unknown> = {}
  for (const { name } of tables)
    all[String(name)] = yield* query(url, `SELECT t::text AS row FROM ${String(name)} t ORDER BY 1`)
  all["schema"] = yield* Effect.promise(() => dumpSchema(url))
  all["indexes"] = yield* query(url, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'cell_b' ORDER BY indexdef")
  all["constraints"] = yield* query(
    url,
    `SELECT conrelid::regclass::text AS of, conname, pg_get_constraintdef(oid) AS is FROM pg_constraint
     WHERE connamespace = to_regnamespace('cell_b') AND contype <> 'n' ORDER BY 1, 2`,
  )
  all["positions"] = yield* query(
    url,
    "SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE schemaname IN ('public', 'cell_b') ORDER BY 1, 2",
  )
  return all
})

layer(Store, { excludeTestServices: true })("a backup", (it) => {
  it.effect(
    "that is made under load restores to one moment, with all that was acknowledged before",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const [source, target] = [Redacted.value(url), yield* Database.emptyDatabase]
        const file = path.join(yield* folder, "one.backup")
        yield* CellSchema.make("cell_b")
        yield* RequestLogDays.keep(7)
        yield* EmailStatsMonths.keep(25)
        yield* Histories.write(3, 20)
        yield* openedMail(200)
        const sql = yield* Sql
        // Longer than a message of the protocol, so that the reader has to wait for the file.
        yield* sql`
          INSERT INTO inbound_content (account_id, id, size_bytes, bytes, expires_at)
          SELECT 'acc', 'big' || n, 1600000, decode(repeat(md5(n::text), 100000), 'hex'), now() FROM generate_series(1, 8) n`
        const { transact } = yield* EventStore
        const account = id("AccountId")
        const acknowledged: Array<string> = []
        const load = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 4 }),
            () =>
              Effect.forever(
                Effect.delay(
                  Effect.suspend(() => Effect.map(transact(send(account)), (answer) => void acknowledged.push(answer))),
                  "10 millis",
                ),
              ),
            { concurrency: "unbounded", discard: true },
          ),
        )
        while (acknowledged.length < 50) yield* Effect.sleep("10 millis")
        const before = [...acknowledged]
        yield* succeed(source, "backup", "--to", file)
        const during = acknowledged.length - before.length
        yield* Fiber.interrupt(load)
        assert.isAbove(during, 0)

        yield* succeed(target, "restore", file)
        const [events, log] = yield* Effect.all([
          query(target, "SELECT stream_id FROM events WHERE stream = 'email'"),
          query(target, "SELECT id_of('msg', id) AS id FROM email_log"),
        ])
        const [inEvents, inLog] = [new Set(events.map((row) => row["stream_id"])), new Set(log.map((row) => row["id"]))]
        for (const each of before) assert.isTrue(inEvents.has(each) && inLog.has(each), each)
        // One moment: what the backup has of the load is complete, and nothing is there by half.
        for (const each of acknowledged) assert.strictEqual(inEvents.has(each), inLog.has(each), each)
        yield* succeed(target, "migrate", "--check")
        yield* succeed(target, "projections", "verify", "email_log")
        yield* succeed(target, "audit", "work")
      }).pipe(Effect.scoped),
    TIMEOUT,
  )

  it.effect(
    "of a database at rest restores to the same rows, tables, indexes and positions, of every cell",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const [source, target] = [Redacted.value(url), yield* Database.emptyDatabase]
        const file = path.join(yield* folder, "two.backup")
        yield* inCell("cell_b", RequestLogDays.keep(7))
        yield* succeed(source, "backup", "--to", file)
        assert.strictEqual((yield* Effect.promise(() => fs.stat(file))).mode & 0o777, 0o600)
        yield* succeed(target, "restore", file)
        assert.deepStrictEqual(yield* contents(target), yield* contents(source))
      }).pipe(Effect.scoped),
    TIMEOUT,
  )

  it.effect(
    "is refused where it was cut or changed, and leaves the database empty",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const [source, target] = [Redacted.value(url), yield* Database.emptyDatabase]
        const home = yield* folder
        const file = path.join(home, "three.backup")
        yield* succeed(source, "backup", "--to", file)
        const whole = yield* Effect.promise(() => fs.readFile(file))
        const changed = (at: number) => {
          const bytes = Buffer.from(whole)
          bytes[at] = (bytes[at] ?? 0) ^ 1
          return bytes
        }
        const files: Readonly<Record<string, Buffer>> = {
          empty: Buffer.alloc(0),
          foreign: Buffer.from("-- PostgreSQL database dump"),
          cut: whole.subarray(0, whole.length / 2),
          "cut at its end": whole.subarray(0, -1),
          continued: Buffer.concat([whole, Buffer.from("more")]),
          twice: Buffer.concat([whole, whole]),
          "changed at its begin": changed(20),
          "changed in the middle": changed(Math.floor(whole.length / 2)),
          "changed at its end": changed(whole.length - 6),
        }
        for (const [name, bytes] of Object.entries(files)) {
          const other = path.join(home, name)
          yield* Effect.promise(() => fs.writeFile(other, bytes))
          for (const words of [
            ["restore", other],
            ["restore", "--check", other],
          ]) {
            const { code, output } = yield* waybill(target, ...words)
            assert.strictEqual(code, 1, name)
            assert.match(output, /the file is (damaged|incomplete)/u, name)
          }
        }
        const { output } = yield* waybill(target, "restore", path.join(home, "absent"))
        assert.include(output, "no such file")
        assert.deepStrictEqual(
          yield* query(target, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"),
          [],
        )
        yield* succeed(target, "restore", "--check", file)
      }).pipe(Effect.scoped),
    TIMEOUT,
  )

  it.effect(
    "is refused by a database that has anything in it, and by a release that is older",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const source = Redacted.value(url)
        const home = yield* folder
        const file = path.join(home, "four.backup")
        yield* succeed(source, "backup", "--to", file)
        const again = yield* waybill(source, "backup", "--to", file)
        assert.strictEqual(again.code, 1, again.output)
        const full = yield* waybill(source, "restore", file)
        assert.strictEqual(full.code, 1)
        assert.include(full.output, "the database is not empty")
        yield* query(source, "INSERT INTO schema_migrations (name) VALUES ('9999_next.sql')")
        const newer = path.join(home, "newer.backup")
        yield* succeed(source, "backup", "--to", newer)
        yield* query(source, "DELETE FROM schema_migrations WHERE name = '9999_next.sql'")
        const target = yield* Database.emptyDatabase
        const refused = yield* waybill(target, "restore", newer)
        assert.include(refused.output, "is of the newer release")
        const empty = yield* waybill(target, "backup", "--to", path.join(home, "none.backup"))
        assert.include(empty.output, "nothing to back up")
        assert.deepStrictEqual((yield* Effect.promise(() => fs.readdir(home))).toSorted(), [
          "four.backup",
          "newer.backup",
        ])
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})
