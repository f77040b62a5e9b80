import * as Backup from "@waybill/store/backup/Backup"
import * as Restore from "@waybill/store/backup/Restore"
import * as CellDatabase from "@waybill/store/database/CellDatabase"
import * as PositionNumbers from "@waybill/store/cells/PositionNumbers"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Effect, Exit, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls"
import pg from "pg"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }

const OF_OTHERS = "pid <> pg_backend_pid() AND usename IS NOT NULL AND datname = current_database()"
const END_SESSIONS =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename IS NOT NULL"

/** Sessions of a process at a wrong database, of several kinds, each of which tries again within a second. */
const LOOKS = 30

const changed = (url: Redacted.Redacted, change: (url: URL) => void) => {
  const to = new URL(Redacted.value(url))
  change(to)
  return Redacted.make(to.href)
}

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/tls/${name}`, import.meta.url), "utf8")
const SSL_REQUEST = 80_877_103

/** A server that lets clients of a database in by TLS only. */
const withTls = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const to = new URL(Redacted.value(url))
  const path = `${to.searchParams.get("host")}/.s.PGSQL.${to.port}`
  const options = { key: fixture("server.key"), cert: fixture("server.pem"), isServer: true }
  let plain = 0
  let secured = 0
  let isCut = false
  const open = new Set<Socket>()
  const proxy = createServer((socket) => {
    open.add(socket.on("error", () => {}))
    if (isCut) return void socket.destroy()
    socket.once("data", (asked) => {
      if (asked.length !== 8 || asked.readUInt32BE(4) !== SSL_REQUEST) {
        plain++
        return socket.destroy()
      }
      socket.write("S")
      secured++
      const client = new TLSSocket(socket, options).on("error", () => {})
      const server = connect(path).on("error", () => client.destroy())
      client.on("close", () => server.destroy()).pipe(server)
      return server.pipe(client)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => (proxy.close(), cut(true))),
  )
  const cut = (isNow: boolean) => {
    isCut = isNow
    if (isCut) for (const socket of open) socket.destroy()
  }
  const { port } = proxy.address() as { readonly port: number }
  const address = changed(url, (changing) => {
    changing.search = "?sslmode=verify-full"
    changing.hostname = "127.0.0.1"
    changing.port = String(port)
  })
  return { url: address, plain: () => plain, secured: () => secured, cut }
})

const refusalOf = (url: Redacted.Redacted) =>
  Effect.map(Effect.flip(ServerCell.make("cell_x", url)), ({ message }) => message)

/** The database and the role of a cell's connections. */
const usedIn = (cell: string) =>
  inCell(
    cell,
    Effect.flatMap(Sql, (sql) =>
      Effect.map(
        sql<{ readonly used: string }>`SELECT current_database() || ' ' || current_user AS used`,
        ([row]) => row?.used,
      ),
    ),
  )

layer(World.layer, { excludeTestServices: true })("the address of a cell on a server of its own", (it) => {
  it.effect(
    "may get another role or database, which processes follow, but leaves no writes by mistake",
    function* () {
      const server = yield* CellServers.make
      const url = server.url()
      yield* ServerCell.make("cell_j", url)
      const sender = yield* senderIn("cell_j")
      yield* World.send(sender)
      const { pathname, username } = new URL(Redacted.value(url))
      const [database, role] = [pathname.slice(1), username]
      const admin = yield* otherClient(server.running().adminUrl)
      yield* admin.query(`CREATE ROLE other LOGIN SUPERUSER PASSWORD 'secret'`)
      const byOther = changed(url, (to) => {
        to.username = "other"
        to.password = "secret"
      })
      yield* ServerCell.readdress("cell_j", byOther)
      const isUsed = (used: string) =>
        World.until(Effect.exit(usedIn("cell_j")), (exit) => Exit.isSuccess(exit) && exit.value === used)
      yield* isUsed(`${database} other`)

      const copy = changed(url, (to) => (to.pathname = "/copied"))
      const name = pg.escapeIdentifier(database)
      yield* admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
      yield* admin.query(END_SESSIONS)
      yield* admin.query(`CREATE DATABASE copied TEMPLATE ${name} OWNER ${pg.escapeIdentifier(role)}`)
      yield* admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
      const early = yield* Effect.flip(ServerCell.readdress("cell_j", copy))
      assert.include(early.message, "still answers and takes writes")
      yield* World.until(Effect.exit(usedIn("cell_j")), Exit.isSuccess)
      yield* admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`)
      assert.include(
        (yield* Effect.flip(ServerCell.readdress("cell_j", copy))).message,
        "still answers and takes writes",
      )
      yield* admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT -1`)
      // The former database takes more mail, which the copy lacks, and is away then.
      yield* World.until(Effect.exit(usedIn("cell_j")), Exit.isSuccess)
      yield* World.send(sender)
      yield* inCell("cell_j", PositionNumbers.note())
      yield* admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
      yield* admin.query(END_SESSIONS)
      const older = yield* Effect.flip(ServerCell.readdress("cell_j", copy))
      assert.include(older.message, "is an older copy of cell_j")
      yield* ServerCell.readdress("cell_j", copy, { isLeft: true })
      yield* isUsed(`copied ${role}`)
      yield* World.send(sender)
    },
    TIMEOUT,
  )

  it.effect(
    "may be that of a backup, also of an older release",
    function* () {
      const [server, restored] = [yield* CellServers.make, yield* CellServers.make]
      yield* ServerCell.make("cell_p", server.url())
      const sender = yield* senderIn("cell_p")
      yield* World.send(sender)
      const sql = yield* Sql
      yield* inCell("cell_p", sql`DELETE FROM schema_migrations WHERE name = '0002_cells.sql'`)
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-cell-backup-"))),
        (made) => Effect.promise(() => rm(made, { recursive: true })),
      )
      const file = join(folder, "cell.backup")
      yield* Backup.make(server.url(), file, "1.0.0")
      yield* Restore.restore(restored.url(), file)
      yield* server.stop
      yield* ServerCell.readdress("cell_p", restored.url())
      yield* World.until(Effect.exit(World.send(sender)), Exit.isSuccess)
    },
    TIMEOUT,
  )

  it.effect(
    "may get TLS, which processes use from then on",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_o", server.url())
      yield* usedIn("cell_o")
      const secure = yield* withTls(server.url())
      assert.include((yield* Effect.flip(ServerCell.readdress("cell_o", secure.url))).message, "certificate")
      const before = getCACertificates()
      yield* Effect.acquireRelease(
        Effect.sync(() => setDefaultCACertificates([...before, fixture("ca.pem")])),
        () => Effect.sync(() => setDefaultCACertificates(before)),
      )
      yield* ServerCell.readdress("cell_o", secure.url)
      const checks = secure.secured()
      // Two of the process that follows, then a look, and the connection that it was for.
      const opened = Effect.map(Effect.exit(usedIn("cell_o")), () => secure.secured() - checks)
      yield* World.until(opened, (count) => count >= 4)
      secure.cut(true)
      yield* World.until(Effect.exit(usedIn("cell_o")), Exit.isFailure)
      secure.cut(false)
      yield* World.until(Effect.exit(usedIn("cell_o")), Exit.isSuccess)
      assert.strictEqual(secure.plain(), 0)
    },
    TIMEOUT,
  )

  it.effect(
    "is refused in a sentence if processes would use it otherwise than it was checked",
    function* () {
      const url = (yield* CellServers.make).url()
      const withParameter = (name: string, value: string) => changed(url, (to) => to.searchParams.set(name, value))
      assert.include(yield* refusalOf(withParameter("sslrootcert", "/ca.pem")), "NODE_EXTRA_CA_CERTS")
      assert.include(yield* refusalOf(withParameter("sslmode", "prefer")), "sslmode must be one of")
      assert.include(yield* refusalOf(withParameter("sslmode", "require")), "does not support TLS")
      assert.include(yield* refusalOf(withParameter("dbname", "other")), "before the question mark")
      const shown = yield* refusalOf(changed(url, (to) => (to.pathname = "/absent")))
      assert.include(shown, 'has no database "absent"')
    },
    TIMEOUT,
  )

  it.effect(
    "of something else is refused in one line, however much it says",
    function* () {
      for (const filler of [0, 3_000_000]) {
        const text = `SFATAL\0C08P01\0Mno\nwaybill: the cell was made\n${"x".repeat(filler)}\0\0`
        const length = Buffer.alloc(4)
        length.writeUInt32BE(text.length + 4)
        const answer = Buffer.concat([Buffer.from("E"), length, Buffer.from(text)])
        const web = createServer((socket) => {
          socket.on("error", () => {})
          socket.once("data", () => socket.end(answer))
        })
        yield* Effect.acquireRelease(
          Effect.promise(() => new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve))),
          () => Effect.sync(() => web.close()),
        )
        const { port } = web.address() as { readonly port: number }
        const message = yield* refusalOf(Redacted.make(`postgres://u:p@127.0.0.1:${port}/x`))
        assert.include(message, "cannot be there")
        assert.notInclude(message, "\n")
        assert.isBelow(message.length, 500)
      }
    },
    TIMEOUT,
  )

  it.effect(
    "is not used once the database of another cell is there, nor by the sessions that processes keep",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_k", server.url())
      const node = yield* ServiceProcess.start((yield* Database.Fresh).url)
      yield* usedIn("cell_k")
      const admin = yield* otherClient(
        changed(server.running().adminUrl, (to) => (to.pathname = new URL(Redacted.value(server.url())).pathname)),
      )
      const [row] = yield* admin.query("SELECT obj_description('public'::regnamespace, 'pg_namespace') AS mark")
      const others = admin.query(`SELECT FROM pg_stat_activity WHERE ${OF_OTHERS}`)
      const registered = admin.query("SELECT FROM processes")
      const isRegistered = ({ length }: ReadonlyArray<unknown>) => length > 0
      yield* World.until(registered, isRegistered, Senders.PATIENCE)
      /** Sessions there have been, also those that only looked. */
      const sessions = Effect.map(
        admin.query("SELECT sessions::int FROM pg_stat_database WHERE datname = current_database()"),
        ([row]) => Number(row?.["sessions"]),
      )
      const markAs = Effect.fnUntraced(function* (mark: unknown) {
        yield* admin.query(`COMMENT ON SCHEMA public IS ${pg.escapeLiteral(String(mark))}`)
        yield* admin.query(END_SESSIONS)
        yield* World.until(others, ({ length }) => length === 0)
      })
      yield* markAs("waybill cell another")
      yield* Effect.exit(usedIn("cell_k"))
      for (let nth = 0; nth < 3; nth++) assert.instanceOf(yield* Effect.flip(usedIn("cell_k")), StoreUnavailable)
      yield* admin.query("DELETE FROM processes")
      const before = yield* sessions
      yield* World.until(sessions, (now) => now > before + LOOKS, Senders.PATIENCE)
      assert.lengthOf(yield* registered, 0, node.output())
      assert.lengthOf(
        yield* admin.query(`SELECT FROM pg_stat_activity WHERE query ILIKE 'listen%' AND ${OF_OTHERS}`),
        0,
      )
      yield* markAs(row?.["mark"])
      yield* World.until(Effect.exit(usedIn("cell_k")), Exit.isSuccess)
      yield* World.until(registered, isRegistered, Senders.PATIENCE)
    },
    TIMEOUT,
  )

  it.effect(
    "whose password is refused is away: requests are answered 503, and /readyz names the cell",
    function* () {
      const server = yield* CellServers.make
      yield* ServerCell.make("cell_l", server.url())
      const { url } = yield* Database.Fresh
      const node = yield* ServiceProcess.start(url)
      const sender = yield* Senders.senderOn(node, "cell_l")
      const { username } = new URL(Redacted.value(server.url()))
      const accepted = ({ status }: { readonly status: number }) => status === Senders.ACCEPTED
      yield* World.until(sender.post(1), accepted)
      const admin = yield* otherClient(server.running().adminUrl)
      yield* admin.query(`ALTER ROLE ${pg.escapeIdentifier(username)} PASSWORD 'changed'`)
      yield* admin.query(END_SESSIONS)
      const ready = sender.get("/readyz")
      const down = yield* World.until(ready, ({ json }) => json.cells_down?.includes("cell_l") === true)
      assert.strictEqual(down.status, 200)
      const { headers, status } = yield* sender.post(2)
      assert.strictEqual(status, 503)
      assert.isAbove(Number(headers.get("retry-after")), 0)
      const byNew = changed(server.url(), (to) => (to.password = "changed"))
      yield* ServerCell.readdress("cell_l", byNew)
      yield* World.until(sender.post(2), accepted, Senders.PATIENCE)
    },
    TIMEOUT,
  )

  it.effect(
    "becomes that of one cell only, and keeps the mark of another one",
    function* () {
      const url = (yield* CellServers.make).url()
      const found = yield* Effect.all([CellDatabase.mark(url, "one"), CellDatabase.mark(url, "other")], {
        concurrency: 2,
      })
      assert.lengthOf(
        found.filter(({ identity }) => identity === null),
        1,
      )
      const { identity } = yield* CellDatabase.look(url)
      yield* CellDatabase.unmark(url, "third")
      assert.strictEqual((yield* CellDatabase.look(url)).identity, identity)
      yield* CellDatabase.unmark(url, String(identity))
      assert.isNull((yield* CellDatabase.look(url)).identity)
      const both = yield* Effect.all(
        ["cell_m", "cell_n"].map((name) => Effect.exit(ServerCell.make(name, url))),
        { concurrency: 2 },
      )
      assert.lengthOf(both.filter(Exit.isSuccess), 1)
    },
    TIMEOUT,
  )
})
