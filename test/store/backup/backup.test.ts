import * as Account from "@waybill/domain/account/Account"
import * as Email from "@waybill/domain/email/Email"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Database from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Layer, Redacted, Scope } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import pg from "pg"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DocCommands from "../../support/process/DocCommands.ts"
import { id } from "../../support/history.ts"
import * as SystemPostgres from "../../support/postgres/SystemPostgres.ts"
import { runToEnd } from "../../support/process/service.ts"
import { open, send } from "../commit/commits.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { alone } from "../../support/postgres/Database.ts"

const TIMEOUT = { timeout: 600_000 }
const execute = promisify(execFile)

const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const made = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-backup-"))
    // If this runs as root, the servers run as another user, who needs access to the folder.
    await fs.chmod(made, 0o711)
    return made
  }),
  (made) => Effect.promise(() => fs.rm(made, { recursive: true, force: true })),
)

const query = (url: string, text: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    client.on("error", () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows as ReadonlyArray<Readonly<Record<string, unknown>>>
    } finally {
      await client.end()
    }
  })

/** Writes waiting and final mail, with everything derived from it. */
const write = (url: string) =>
  Effect.gen(function* () {
    const { commit, transact } = yield* EventStore
    const account_id = id("AccountId")
    const at = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
    yield* commit(Account, { account_id, stream_id: account_id }, Account.create(at, account_id, "Acme", "free"))
    for (let nth = 0; nth < 20; nth++) {
      const answer = yield* transact(send(account_id, {}, { subject: `Order ${nth}` }))
      yield* commit(Email, { account_id, stream_id: answer }, nth % 2 === 0 ? open : Email.cancel(at))
    }
  }).pipe(
    Effect.provide(EventStore.layer().pipe(Layer.provide([alone, Database.layer({ url: Redacted.make(url) })]))),
    Effect.orDie,
  )

/** Returns every row of every table in a backup; the others are UNLOGGED and empty after a crash too. */
const contents = Effect.fnUntraced(function* (url: string) {
  const tables = yield* query(
    url,
    `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND n.nspname IN ('public', 'graphile_worker') ORDER BY 1`,
  )
  const rows: Record<string, unknown> = {}
  for (const { name } of tables)
    rows[String(name)] = yield* query(url, `SELECT t::text AS row FROM ${String(name)} t ORDER BY 1`)
  return rows
})

/** Runs the checks that backup.md demands after a restore. */
const verify = Effect.fnUntraced(function* (url: string) {
  for (const args of [
    ["migrate", "--check"],
    ["projections", "verify", "email_log"],
    ["audit", "emails"],
  ]) {
    const { code, output } = yield* Effect.promise(() => runToEnd(args, { DATABASE_URL: url, WAYBILL_DATA: NOWHERE }))
    assert.strictEqual(code, 0, output)
  }
  // The log continues, and no position is used twice.
  yield* write(url)
})

const copy = (from: string, to: string) => Effect.promise(() => execute("cp", ["-a", from, to]))

describe("the embedded Postgres", () => {
  it.live(
    "is restored to its last commit from a base backup made during writes and the archived WAL",
    () =>
      Effect.gen(function* () {
        const home = yield* folder
        const archive = path.join(home, "wal")
        yield* Effect.promise(async () => {
          await fs.mkdir(archive)
          await fs.chmod(archive, 0o777)
        })
        const [first, second] = [path.join(home, "first"), path.join(home, "second")]
        const scope = yield* Scope.fork(yield* Effect.scope)
        const server = yield* Scope.provide(
          EmbeddedPostgres.start({
            dataDir: first,
            settings: { fsync: "off", archive_mode: "on", archive_command: `cp %p ${archive}/%f` },
          }),
          scope,
        )
        const [url, admin] = [Redacted.value(server.url), Redacted.value(server.adminUrl)]
        yield* Migrations.migrate(server.url)
        yield* write(url)
        const cluster = String((yield* query(admin, "SHOW data_directory"))[0]?.["data_directory"])
        const base = path.join(home, "base")
        const label = yield* Effect.promise(async () => {
          const session = new pg.Client({ connectionString: admin })
          await session.connect()
          await session.query("SELECT pg_backup_start('test', fast => true)")
          // Writes while the files are being copied.
          await Effect.runPromise(Effect.all([copy(cluster, base), write(url)], { concurrency: 2 }))
          const { rows } = await session.query<{ readonly labelfile: string }>("SELECT labelfile FROM pg_backup_stop()")
          await session.end()
          return rows[0]?.labelfile ?? ""
        })
        yield* write(url)
        const before = yield* contents(url)
        yield* archived(admin)
        yield* Scope.close(scope, yield* Effect.exit(Effect.void))

        // Creates a new data folder for this machine, then replaces its files by the old ones.
        const found = yield* Effect.scoped(
          Effect.flatMap(EmbeddedPostgres.start({ dataDir: second, settings: { fsync: "off" } }), ({ adminUrl }) =>
            query(Redacted.value(adminUrl), "SHOW data_directory"),
          ),
        )
        const restored = String(found[0]?.["data_directory"])
        yield* Effect.promise(async () => {
          const { gid, uid } = await fs.stat(restored)
          await fs.rm(restored, { recursive: true })
          for (const name of ["postmaster.pid", "postmaster.opts"]) await fs.rm(path.join(base, name), { force: true })
          for (const name of await fs.readdir(path.join(base, "pg_wal")))
            await fs.rm(path.join(base, "pg_wal", name), { recursive: true })
          for (const [name, text] of [
            ["backup_label", label],
            ["recovery.signal", ""],
          ] as const) {
            await fs.writeFile(path.join(base, name), text)
            await fs.chown(path.join(base, name), uid, gid)
          }
          // As root, the second server runs as another user than the one that archived the WAL.
          for (const name of await fs.readdir(archive)) await fs.chown(path.join(archive, name), uid, gid)
          await fs.copyFile(path.join(first, "password"), path.join(second, "password"))
        })
        yield* copy(base, restored)
        const again = yield* EmbeddedPostgres.start({
          dataDir: second,
          settings: { fsync: "off", restore_command: `cp ${archive}/%f %p` },
        })
        assert.deepStrictEqual(yield* contents(Redacted.value(again.url)), before)
        yield* verify(Redacted.value(again.url))
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})

/** Waits until the WAL up to now is archived. */
const archived = Effect.fnUntraced(function* (admin: string) {
  const [row] = yield* query(admin, "SELECT pg_walfile_name(pg_switch_wal()) AS file")
  const file = String(row?.["file"])
  for (let last = ""; last < file;) {
    yield* Effect.promise(() => pause(20))
    last = String(
      (yield* query(admin, "SELECT last_archived_wal FROM pg_stat_archiver"))[0]?.["last_archived_wal"] ?? "",
    )
  }
})

/** Runs the document's commands on an installed Postgres; without one they are only parsed. */
describe.skipIf(SystemPostgres.folder === undefined)("backup.md on an external Postgres", () => {
  it.live(
    "restores the data from a dump, and from a base backup with archived WAL",
    () =>
      Effect.gen(function* () {
        const home = yield* folder
        const server = yield* SystemPostgres.start(home)
        const data = path.join(home, "waybill")
        yield* Effect.promise(async () => {
          await fs.mkdir(data)
          await fs.writeFile(path.join(data, "instance.key"), "key")
        })
        yield* Migrations.migrate(Redacted.make(server.url))
        yield* write(server.url)
        const env = {
          PATH: `${yield* Effect.promise(() => DocCommands.shims(path.join(home, "bin")))}:${SystemPostgres.folder}:${process.env["PATH"]}`,
          HOME: home,
          WAYBILL_DATA: data,
          BACKUPS: server.backups,
          ARCHIVE: server.archive,
          DATABASE_URL: server.url,
          ADMIN_URL: server.adminUrl,
          NEW_DATABASE_URL: server.newUrl,
          NEW_DATA: server.newData,
        }
        const run = Effect.fnUntraced(function* (block: DocCommands.Block) {
          // Commands on the server's files run as the server's user, waybill commands as this one.
          const isOurs = /npx waybill|\$WAYBILL_DATA/u.test(block.text)
          const place = { checkout: isOurs ? process.cwd() : home, env, instead: {} }
          const { code, output } = yield* isOurs
            ? Effect.promise(() => DocCommands.run(block, place))
            : SystemPostgres.run(block.text, env, home)
          assert.strictEqual(code, 0, `${block.text}\n${output}`)
        })
        const typed = DocCommands.blocks("docs/operating/backup.md").filter(({ how }) => how === "run")
        const beforeRestore = typed.findIndex(({ text }) => text.includes('"$NEW_DATA"'))
        const asCopy = typed.findIndex(({ text }) => text.startsWith("psql"))
        const dumped = typed.findIndex(({ text }) => text.startsWith("pg_restore"))
        for (const block of typed.slice(0, dumped)) yield* run(block)
        const atDump = yield* contents(server.url)
        // Written after the dump, so not part of it.
        yield* write(server.url)
        for (const block of typed.slice(dumped, dumped + 1)) yield* run(block)
        assert.deepStrictEqual(yield* contents(server.newUrl), atDump)
        for (const block of typed.slice(dumped + 1, beforeRestore)) yield* run(block)
        yield* verify(server.newUrl)

        yield* write(server.url)
        const before = yield* contents(server.url)
        yield* archived(server.adminUrl)
        yield* server.stop
        for (const block of typed.slice(beforeRestore, asCopy)) yield* run(block)
        assert.deepStrictEqual(yield* contents(server.url), before)
        yield* verify(server.url)
        // On a copy, `waybill` sees a new server, so the next commit begins an epoch.
        const epochs = Effect.map(
          query(server.url, "SELECT max(epoch) AS last FROM log_epochs"),
          ([row]) => row?.["last"],
        )
        const last = yield* epochs
        for (const block of typed.slice(asCopy)) yield* run(block)
        yield* write(server.url)
        assert.strictEqual(yield* epochs, Number(last) + 1)
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})
