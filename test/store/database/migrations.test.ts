import * as MigrationFiles from "@waybill/store/database/MigrationFiles"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import { inject } from "vitest"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { onDatabase } from "../../support/postgres/databaseUrl.ts"
import { runToEnd } from "../../support/process/service.ts"
import { dumpSchema } from "../../support/postgres/schemaDump.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const GOLDEN = path.join(import.meta.dirname, "../../../db/schema.sql")
const NODES = 4

layer(Database.layerFresh, { excludeTestServices: true })("migrations", (it) => {
  it.effect("create the schema of db/schema.sql (`npm run generate schema` writes it)", function* () {
    const { url } = yield* Database.Fresh
    const [made, golden] = yield* Effect.promise(() =>
      Promise.all([dumpSchema(Redacted.value(url)), fs.readFile(GOLDEN, "utf8")]),
    )
    assert.strictEqual(made, golden)
  })

  it.effect("run once when several nodes start at the same time", function* () {
    const url = yield* emptyDatabase
    const seen = yield* Effect.forEach(Array.from({ length: NODES }), () => Migrations.migrate(url), {
      concurrency: "unbounded",
    })
    const known = yield* Effect.promise(() => fs.readdir(MigrationFiles.FOLDER))
    for (const status of seen) assert.deepStrictEqual(status, { applied: known.toSorted(), pending: [] })
  })

  it.effect("run nothing the second time", function* () {
    const { url } = yield* Database.Fresh
    const before = yield* rows(url, "SELECT name, applied_at::text FROM schema_migrations ORDER BY name")
    assert.isAbove(before.length, 0)
    yield* Migrations.migrate(url)
    assert.deepStrictEqual(
      yield* rows(url, "SELECT name, applied_at::text FROM schema_migrations ORDER BY name"),
      before,
    )
  })

  it.effect("are not applied by a check", function* () {
    const url = yield* emptyDatabase
    const known = yield* Effect.promise(() => fs.readdir(MigrationFiles.FOLDER))
    assert.deepStrictEqual(yield* Migrations.check(url), { applied: [], pending: known.toSorted() })
    assert.deepStrictEqual(yield* relations(url), [])
  })

  it.effect("refuse a schema of a newer release and change nothing", function* () {
    const url = yield* emptyDatabase
    const folder = yield* folderOf({ "0001_one.sql": "CREATE TABLE one ()", "0002_two.sql": "CREATE TABLE two ()" })
    yield* Migrations.migrate(url, folder)
    const before = yield* relations(url)
    const older = yield* folderOf({ "0001_one.sql": "CREATE TABLE one ()" })
    for (const run of [Migrations.migrate, Migrations.check]) {
      const refused = yield* Effect.flip(run(url, older))
      assert.strictEqual(
        refused.message,
        "the database schema is newer than this release of Waybill (0002_two.sql): upgrade this node first",
      )
    }
    assert.deepStrictEqual(yield* relations(url), before)
    // Its name is not the last one, because numbers have gaps.
    const other = yield* folderOf({
      "0001_one.sql": "CREATE TABLE one ()",
      "0003_three.sql": "CREATE TABLE three ()",
    })
    const refused = yield* Effect.flip(Migrations.migrate(url, other))
    assert.include(refused.message, "newer than this release of Waybill (0002_two.sql)")
    assert.deepStrictEqual(yield* relations(url), before)
  })

  it.effect(
    "run only on request: other commands refuse a schema that is not current",
    function* () {
      const url = yield* emptyDatabase
      const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }
      const refusal = (...args: ReadonlyArray<string>) =>
        Effect.map(
          Effect.promise(() => runToEnd(args, env)),
          ({ code, output }) => {
            assert.strictEqual(code, 1, output)
            return output
          },
        )
      const looks = [
        ["top", "--json"],
        ["projections", "status"],
      ]
      for (const output of yield* Effect.forEach(looks, (args) => refusal(...args), { concurrency: 2 }))
        assert.include(output, "the database is empty: run `waybill start`")
      assert.deepStrictEqual(yield* relations(url), [])
      // The first account may be created before the first start.
      const created = yield* Effect.promise(() => runToEnd(["accounts", "create", "First"], env))
      assert.strictEqual(created.code, 0, created.output)
    },
    60_000,
  )

  it.effect("are missed by commands of a newer release, which change nothing", function* () {
    const url = yield* emptyDatabase
    const older = yield* folderOf({ "0001_one.sql": "CREATE TABLE one ()" })
    const newer = yield* folderOf({ "0001_one.sql": "CREATE TABLE one ()", "0002_two.sql": "CREATE TABLE two ()" })
    yield* Migrations.migrate(url, older)
    for (const require of [Migrations.requireCurrent, Migrations.requireCurrentOrCreate]) {
      const refused = yield* Effect.flip(require(url, newer))
      assert.include(refused.message, "(pending: 0002_two.sql): run `waybill migrate`")
    }
    assert.deepStrictEqual((yield* Migrations.check(url, newer)).pending, ["0002_two.sql"])
  })

  it.effect("apply a file as a whole or not at all, and continue once it is corrected", function* () {
    const url = yield* emptyDatabase
    const good = { "0001_one.sql": "CREATE TABLE one (); CREATE TABLE one_more ()" }
    const bad = "CREATE TABLE two (); INSERT INTO two DEFAULT VALUES; CREATE TABLE one ();"
    const broken = yield* folderOf({ ...good, "0002_two.sql": bad })
    const failed = yield* Effect.flip(Migrations.migrate(url, broken))
    assert.strictEqual(failed.message, 'migration 0002_two.sql failed: relation "one" already exists')
    assert.deepStrictEqual(yield* Migrations.check(url, broken), {
      applied: ["0001_one.sql"],
      pending: ["0002_two.sql"],
    })
    assert.deepStrictEqual(yield* relations(url), ["one", "one_more", "schema_migrations"])
    const mended = yield* folderOf({ ...good, "0002_two.sql": "CREATE TABLE two ()" })
    assert.deepStrictEqual((yield* Migrations.migrate(url, mended)).pending, [])
  })

  it.effect("release their lock when a node is killed", function* () {
    const url = yield* emptyDatabase
    const slow = yield* folderOf({
      "0001_one.sql": "CREATE TABLE one (); SELECT pg_sleep(60)",
      "0002_two.sql": "CREATE TABLE two ()",
    })
    const quick = yield* folderOf({
      "0001_one.sql": "CREATE TABLE one ()",
      "0002_two.sql": "CREATE TABLE two ()",
    })
    const [killed, next] = yield* Effect.all(
      [Effect.exit(Migrations.migrate(url, slow)), Effect.andThen(killSleeper(url), Migrations.migrate(url, quick))],
      { concurrency: "unbounded" },
    )
    assert.strictEqual(killed._tag, "Failure")
    assert.deepStrictEqual(next.applied, ["0001_one.sql", "0002_two.sql"])
  })

  it.effect("report a database that does not answer", function* () {
    const failed = yield* Effect.flip(
      Migrations.migrate(Redacted.make(`postgres://nobody@localhost/x?host=${NOWHERE}/at/all`)),
    )
    assert.match(failed.message, /^DATABASE_URL: there is no socket of a server at /)
  })
})

const query = async (url: Redacted.Redacted, text: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new pg.Client({ connectionString: Redacted.value(url) })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
const rows = (url: Redacted.Redacted, text: string) => Effect.promise(() => query(url, text))

const relations = (url: Redacted.Redacted) =>
  Effect.map(
    rows(url, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1"),
    (found) => found.map((row) => row["relname"]),
  )

const emptyDatabase: Effect.Effect<Redacted.Redacted, never, Scope.Scope> = Effect.gen(function* () {
  const server = Redacted.make(inject("postgresUrl"))
  const name = `test_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(rows(server, `CREATE DATABASE ${name}`), () =>
    // As a role that may end an autovacuum.
    rows(Redacted.make(inject("postgresAdminUrl")), `DROP DATABASE ${name} WITH (FORCE)`),
  )
  return Redacted.make(onDatabase(Redacted.value(server), name))
})

const folderOf = (files: Readonly<Record<string, string>>): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-migrations-"))
      for (const [name, text] of Object.entries(files)) await fs.writeFile(path.join(folder, name), text)
      return folder
    }),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true })),
  )

/** Waits until the migration sleeps, and ends its connection. */
const killSleeper = (url: Redacted.Redacted) =>
  rows(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event = 'PgSleep'`,
  ).pipe(Effect.repeat({ until: (killed) => killed.length > 0 }))
