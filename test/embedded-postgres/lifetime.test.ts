import * as PgClient from "@effect/sql-pg/PgClient"
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Placement from "@waybill/embedded-postgres/ownership/Placement"
import * as Server from "@waybill/embedded-postgres/server/Server"
import { Effect, Exit, Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { assert, describe, it } from "../support/effectTest.ts"
import * as Production from "../support/process/Production.ts"
import { end, exists, folder, isLinux, NATIVE, prepared, query, runs, serve, until } from "./program.ts"

/** Tests need not survive a power failure. */
const settings = { fsync: "off" }
/** Timeout of operations that take a moment. */
const TIMEOUT = "60 seconds"
/** A folder with an initialised cluster, which makes starts faster. Most tests hold for any start. */
const servedBefore = prepared({ settings })

describe("embedded server", () => {
  it.live("node-postgres and sql-pg connect through one URL, and the server stops with its scope", function* () {
    const dataDir = path.join(yield* folder, "data")
    const scope = yield* Scope.make()
    const server = yield* Scope.provide(EmbeddedPostgres.start({ dataDir, settings }), scope)
    assert.deepStrictEqual(yield* query(Redacted.value(server.url), "SELECT current_user::text AS role"), [
      { role: "waybill" },
    ])
    const [row] = yield* Effect.flatMap(
      PgClient.PgClient,
      (sql) =>
        sql<{ role: string; port: number | null }>`SELECT current_user::text AS role, inet_server_port() AS port`,
    ).pipe(Effect.provide(PgClient.layer({ url: server.url })))
    assert.deepStrictEqual(row, { role: "waybill", port: null })
    yield* Scope.close(scope, Exit.void)
    assert.isFalse(yield* Effect.promise(() => runs(server.pid)))
    assert.isFalse(yield* Effect.promise(() => exists(path.join(dataDir, "holder"))))
  })

  // threat: local-users
  it.live("the password is private and required", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const server = yield* EmbeddedPostgres.start({ dataDir, settings })
    const password = yield* Effect.promise(() => fs.stat(path.join(dataDir, "password")))
    const sockets = yield* Effect.promise(() => fs.stat(server.socketDir ?? ""))
    assert.deepStrictEqual([password.mode & 0o777, sockets.mode & 0o777], [0o600, 0o700])
    const wrong = new URL(Redacted.value(server.url))
    wrong.password = "guess"
    const exit = yield* Effect.exit(query(wrong.href, "SELECT 1"))
    assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("password authentication failed"))
  })

  it.live("the server has the settings of the service", function* () {
    const server = yield* EmbeddedPostgres.start({ dataDir: yield* servedBefore(yield* folder), settings })
    const url = Redacted.value(server.url)
    const show = (name: string) => Effect.map(query(url, `SHOW ${name}`), ([row]) => row?.[name])
    assert.strictEqual(yield* show("synchronous_commit"), "on")
    assert.strictEqual(yield* show("idle_in_transaction_session_timeout"), "10s")
    assert.strictEqual(yield* show("max_connections"), "100")
    assert.strictEqual(yield* show("listen_addresses"), "")
    assert.strictEqual(yield* show("server_version_num").pipe(Effect.map((text) => String(text).slice(0, 2))), "18")
    const [role] = yield* query(url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    assert.deepStrictEqual(role, { rolsuper: false })
  })

  it.live("the server listens on loopback without a socket, and requires the password", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const server = yield* EmbeddedPostgres.start({ dataDir, settings, loopback: true })
    const url = Redacted.value(server.url)
    assert.deepStrictEqual(yield* query(url, "SELECT host(inet_server_addr()) AS at"), [{ at: "127.0.0.1" }])
    const wrong = new URL(url)
    wrong.password = "guess"
    assert.isTrue(Exit.isFailure(yield* Effect.exit(query(wrong.href, "SELECT 1"))))
  })

  it.live("a data folder with a long path gets its socket in a short private folder", function* () {
    const scope = yield* Scope.make()
    const dataDir = path.join(yield* folder, "deep".repeat(30), "data")
    const server = yield* Scope.provide(EmbeddedPostgres.start({ dataDir, settings }), scope)
    const sockets = server.socketDir ?? ""
    assert.isFalse(sockets.startsWith(dataDir))
    assert.strictEqual((yield* Effect.promise(() => fs.stat(sockets))).mode & 0o777, 0o700)
    assert.lengthOf(yield* query(Redacted.value(server.url), "SELECT 1"), 1)
    yield* Scope.close(scope, Exit.void)
    assert.isFalse(yield* Effect.promise(() => exists(sockets)))
  })

  it.live("data is kept and the password replaced when its file is lost, even after a failed start", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const insert = "CREATE TABLE kept AS SELECT 42 AS answer"
    yield* EmbeddedPostgres.start({ dataDir, settings }).pipe(
      Effect.flatMap((server) => query(Redacted.value(server.url), insert)),
      Effect.scoped,
    )
    yield* Effect.promise(() => fs.rm(path.join(dataDir, "password")))
    // The start fails before the cluster's password is changed.
    const version = path.join(dataDir, "cluster/PG_VERSION")
    const stored = yield* Effect.promise(() => fs.readFile(version, "utf8"))
    yield* Effect.promise(() => fs.writeFile(version, "9\n"))
    const error = yield* Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir, settings })))
    assert.include(error.message, "was written by Postgres 9")
    yield* Effect.promise(() => fs.writeFile(version, stored))
    const server = yield* EmbeddedPostgres.start({ dataDir, settings })
    assert.deepStrictEqual(yield* query(Redacted.value(server.url), "SELECT answer FROM kept"), [{ answer: 42 }])
    assert.lengthOf(yield* query(Redacted.value(server.adminUrl), "SELECT 1"), 1)
  })

  it.live("the log is limited in size and appended to", function* () {
    const dataDir = path.join(yield* folder, "data")
    const placement = yield* Effect.promise(() => Placement.find(dataDir, Placement.ROOT_HOME))
    const file = path.join(dataDir, "postgres.log")
    // Opened for appending, like the server's log.
    const log = yield* Effect.acquireRelease(
      Effect.promise(() => fs.open(file, "a")),
      (log) => Effect.promise(() => log.close()),
    )
    const full = Server.LOG_MAX_BYTES + 1
    yield* Effect.promise(() => log.appendFile(Buffer.alloc(full, "x")))
    yield* Effect.promise(() => Server.boundLog(placement, file))
    yield* Effect.promise(() => log.appendFile("on it goes"))
    assert.strictEqual((yield* Effect.promise(() => fs.stat(`${file}.1`))).size, full)
    assert.strictEqual(yield* Effect.promise(() => fs.readFile(file, "utf8")), "on it goes")
  })

  it.live("a start on an existing folder is faster than on an empty one", function* () {
    const dataDir = path.join(yield* folder, "data")
    const timed = Effect.gen(function* () {
      const before = performance.now()
      yield* EmbeddedPostgres.start({ dataDir })
      return performance.now() - before
    }).pipe(Effect.scoped)
    const empty = yield* timed
    // The fastest of three, because the machine may be busy.
    const again = [yield* timed, yield* timed, yield* timed]
    assert.isBelow(Math.min(...again), empty)
  })

  it.live.skipIf(!isLinux)("the server has its own session, so that Ctrl-C does not stop it before its parent", () =>
    Effect.gen(function* () {
      const server = yield* EmbeddedPostgres.start({ dataDir: yield* servedBefore(yield* folder), settings })
      const stat = yield* Effect.promise(() => fs.readFile(`/proc/${server.pid}/stat`, "utf8"))
      const [, , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      assert.deepStrictEqual([group, session], [String(server.pid), String(server.pid)])
    }),
  )

  it.live("an installed Postgres can be used instead of npm's", function* () {
    const parent = yield* folder
    const installed = path.join(parent, "postgres")
    yield* Effect.promise(() => Production.copyByLinks(path.join(NATIVE, "native"), installed))
    const server = yield* EmbeddedPostgres.start({ dataDir: path.join(parent, "data"), settings, installed })
    const where = "SELECT setting FROM pg_config WHERE name = 'BINDIR'"
    const [row] = yield* query(Redacted.value(server.adminUrl), where)
    assert.deepStrictEqual(row, { setting: path.join(installed, "bin") })
    const dataDir = path.join(parent, "other")
    const error = yield* Effect.flip(EmbeddedPostgres.start({ dataDir, installed: path.join(parent, "nowhere") }))
    assert.include(error.message, `${parent}/nowhere/bin/postgres does not run on this system`)
  })

  it.live("the end of the server is reported", function* () {
    const server = yield* EmbeddedPostgres.start({ dataDir: yield* servedBefore(yield* folder), settings })
    process.kill(server.pid, "SIGKILL")
    const died = yield* Effect.flip(server.died)
    assert.strictEqual(died.pid, server.pid)
  })

  it.live("the error of a wrong setting contains the server's output", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const error = yield* Effect.flip(EmbeddedPostgres.start({ dataDir, settings: { max_connections: "many" } }))
    assert.include(error.message, `invalid value for parameter "max_connections"`)
  })
})

describe("after a kill", () => {
  it.live("killing the parent stops the server and removes a scratch server's files", function* () {
    const parent = yield* folder
    const dataDir = path.join(parent, "data")
    const { answer, child } = yield* serve({ dataDir, scratch: true })
    // A client with an open query does not delay the stop.
    const busy = yield* Effect.forkChild(Effect.exit(query(answer.url, "SELECT pg_sleep(60)")))
    yield* end(child, "SIGKILL")
    yield* until(async () => !(await runs(answer.pid))).pipe(Effect.timeout(TIMEOUT))
    yield* until(async () => !(await exists(dataDir))).pipe(Effect.timeout(TIMEOUT))
    busy.interruptUnsafe()
  })

  it.live("after a kill of the server the next start recovers committed data", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const first = yield* serve({ dataDir, settings })
    yield* query(first.answer.url, "CREATE TABLE kept AS SELECT 42 AS answer")
    process.kill(first.answer.pid, "SIGKILL")
    yield* end(first.child, "SIGKILL")
    assert.isTrue(yield* Effect.promise(() => exists(path.join(dataDir, "cluster/postmaster.pid"))))
    const server = yield* EmbeddedPostgres.start({ dataDir, settings })
    assert.deepStrictEqual(yield* query(Redacted.value(server.url), "SELECT answer FROM kept"), [{ answer: 42 }])
  })

  it.live("a start in the same second as the killed server's is recognised as ready", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const first = yield* serve({ dataDir, settings })
    process.kill(first.answer.pid, "SIGKILL")
    yield* end(first.child, "SIGKILL")
    const file = path.join(dataDir, "cluster/postmaster.pid")
    const lines = (yield* Effect.promise(() => fs.readFile(file, "utf8"))).split("\n")
    // Begins at the start of a second, so that the next start, which takes a tenth of it, falls into the same one.
    const second = yield* Effect.sync(() => Math.floor(Date.now() / 1000))
    yield* until(() => Promise.resolve(Date.now() >= (second + 1) * 1000))
    yield* Effect.promise(() => fs.writeFile(file, lines.with(2, String(second + 1)).join("\n")))
    const server = yield* EmbeddedPostgres.start({ dataDir, settings })
    assert.lengthOf(yield* query(Redacted.value(server.url), "SELECT 1"), 1)
  })

  it.live.skipIf(!isLinux)("after a kill of parent and watchdog the next start stops the running server", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      const first = yield* serve({ dataDir, settings })
      const watchdog = yield* Effect.promise(() => watchdogOf(dataDir))
      process.kill(watchdog, "SIGKILL")
      yield* end(first.child, "SIGKILL")
      assert.isTrue(yield* Effect.promise(() => runs(first.answer.pid)))
      const server = yield* EmbeddedPostgres.start({ dataDir, settings })
      assert.isFalse(yield* Effect.promise(() => runs(first.answer.pid)))
      assert.lengthOf(yield* query(Redacted.value(server.url), "SELECT 1"), 1)
    }),
  )

  it.live("a postmaster file that names another program's process is ignored", function* () {
    const dataDir = yield* servedBefore(yield* folder)
    yield* Effect.promise(() => fs.writeFile(path.join(dataDir, "cluster/postmaster.pid"), `${process.ppid}\n`))
    yield* EmbeddedPostgres.start({ dataDir, settings })
  })
})

const watchdogOf = async (dataDir: string): Promise<number> => {
  for (const name of await fs.readdir("/proc")) {
    const command = await fs.readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")
    if (command.includes("waybill-watchdog") && command.includes(`${dataDir}/`)) return Number(name)
  }
  throw new Error("no watchdog")
}
