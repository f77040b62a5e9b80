import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import * as Holder from "@waybill/embedded-postgres/Holder"
import * as Placement from "@waybill/embedded-postgres/Placement"
import * as Server from "@waybill/embedded-postgres/Server"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import * as net from "node:net"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as Production from "../support/production.ts"
import {
  end,
  folder,
  isLinux,
  NATIVE,
  prepared,
  query,
  refusal as startError,
  runs,
  serve,
  trial,
  until,
} from "./program.ts"

/** Tests need not survive a power failure. */
const settings = { fsync: "off" }
const exists = (file: string) =>
  fs.stat(file).then(
    () => true,
    () => false,
  )
/** Timeout of operations that take a moment. */
const TIMEOUT = "60 seconds"
/** A folder with an initialised cluster, which makes starts faster. Most tests hold for any start. */
const servedBefore = prepared({ settings })

describe("embedded server", () => {
  it.live("node-postgres and sql-pg connect through one URL, and the server stops with its scope", () =>
    Effect.gen(function* () {
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
    }),
  )

  it.live("the password is private and required", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      const server = yield* EmbeddedPostgres.start({ dataDir, settings })
      const password = yield* Effect.promise(() => fs.stat(path.join(dataDir, "password")))
      const sockets = yield* Effect.promise(() => fs.stat(server.socketDir ?? ""))
      assert.deepStrictEqual([password.mode & 0o777, sockets.mode & 0o777], [0o600, 0o700])
      const wrong = new URL(Redacted.value(server.url))
      wrong.password = "guess"
      const exit = yield* Effect.exit(query(wrong.href, "SELECT 1"))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("password authentication failed"))
    }),
  )

  it.live("the server has the settings of the service", () =>
    Effect.gen(function* () {
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
    }),
  )

  it.live("the server listens on loopback without a socket, and requires the password", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      const server = yield* EmbeddedPostgres.start({ dataDir, settings, loopback: true })
      const url = Redacted.value(server.url)
      assert.deepStrictEqual(yield* query(url, "SELECT host(inet_server_addr()) AS at"), [{ at: "127.0.0.1" }])
      const wrong = new URL(url)
      wrong.password = "guess"
      assert.isTrue(Exit.isFailure(yield* Effect.exit(query(wrong.href, "SELECT 1"))))
    }),
  )

  it.live("a data folder with a long path gets its socket in a short private folder", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const dataDir = path.join(yield* folder, "deep".repeat(30), "data")
      const server = yield* Scope.provide(EmbeddedPostgres.start({ dataDir, settings }), scope)
      const sockets = server.socketDir ?? ""
      assert.isFalse(sockets.startsWith(dataDir))
      assert.strictEqual((yield* Effect.promise(() => fs.stat(sockets))).mode & 0o777, 0o700)
      assert.lengthOf(yield* query(Redacted.value(server.url), "SELECT 1"), 1)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(yield* Effect.promise(() => exists(sockets)))
    }),
  )

  it.live("data is kept and the password replaced when its file is lost, even after a failed start", () =>
    Effect.gen(function* () {
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
    }),
  )

  it.live("the log is limited in size and appended to", () =>
    Effect.gen(function* () {
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
    }),
  )

  it.live("a start on an existing folder is faster than on an empty one", () =>
    Effect.gen(function* () {
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
    }),
  )

  it.live.skipIf(!isLinux)("the server has its own session, so that Ctrl-C does not stop it before its parent", () =>
    Effect.gen(function* () {
      const server = yield* EmbeddedPostgres.start({ dataDir: yield* servedBefore(yield* folder), settings })
      const stat = yield* Effect.promise(() => fs.readFile(`/proc/${server.pid}/stat`, "utf8"))
      const [, , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      assert.deepStrictEqual([group, session], [String(server.pid), String(server.pid)])
    }),
  )

  it.live("an installed Postgres can be used instead of npm's", () =>
    Effect.gen(function* () {
      const parent = yield* folder
      const installed = path.join(parent, "postgres")
      yield* Effect.promise(() => Production.place(path.join(NATIVE, "native"), installed))
      const server = yield* EmbeddedPostgres.start({ dataDir: path.join(parent, "data"), settings, installed })
      const where = "SELECT setting FROM pg_config WHERE name = 'BINDIR'"
      const [row] = yield* query(Redacted.value(server.adminUrl), where)
      assert.deepStrictEqual(row, { setting: path.join(installed, "bin") })
      const dataDir = path.join(parent, "other")
      const error = yield* Effect.flip(EmbeddedPostgres.start({ dataDir, installed: path.join(parent, "nowhere") }))
      assert.include(error.message, `${parent}/nowhere/bin/postgres does not run on this system`)
    }),
  )

  it.live("the end of the server is reported", () =>
    Effect.gen(function* () {
      const server = yield* EmbeddedPostgres.start({ dataDir: yield* servedBefore(yield* folder), settings })
      process.kill(server.pid, "SIGKILL")
      const died = yield* Effect.flip(server.died)
      assert.strictEqual(died.pid, server.pid)
    }),
  )

  it.live("the error of a wrong setting contains the server's output", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      const error = yield* Effect.flip(EmbeddedPostgres.start({ dataDir, settings: { max_connections: "many" } }))
      assert.include(error.message, `invalid value for parameter "max_connections"`)
    }),
  )
})

describe("folder lock", () => {
  it.live("a folder in use is refused, and the error names the process", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      const { answer, child } = yield* serve({ dataDir, settings })
      // A scratch server removes its folder at the end, but only one that it has locked.
      const error = yield* Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir, settings, scratch: true })))
      assert.strictEqual(error._tag, "FolderHeld")
      assert.include(error.message, `process ${child.pid}`)
      assert.include(error.message, "serve.ts")
      assert.lengthOf(yield* query(answer.url, "SELECT 1"), 1)
      yield* end(child, "SIGTERM")
      yield* EmbeddedPostgres.start({ dataDir, settings })
    }),
  )

  it.live("of several concurrent starts one gets the folder", () =>
    Effect.gen(function* () {
      const dataDir = path.join(yield* folder, "data")
      const tries = yield* Effect.all(
        [1, 2, 3].map(() => trial({ dataDir, settings })),
        { concurrency: "unbounded" },
      )
      const refused = tries.filter(({ answer }) => answer.error !== undefined)
      assert.lengthOf(refused, 2)
      for (const { answer } of refused) assert.include(answer.error, "is in use by process")
    }),
  )

  it.live("a lock of a process that has ended, or of a reused pid, is taken over", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      // The pid of this process with another start time, as after a reuse of the pid.
      yield* Effect.promise(() => fs.writeFile(path.join(dataDir, "holder"), `${process.pid} 1@before\n`))
      yield* EmbeddedPostgres.start({ dataDir, settings })
    }),
  )
})

/** These tests mostly wait, so they run concurrently. */
describe.concurrent("folder lock from another container", () => {
  /** A lock from another container or machine, whose pid has no meaning here. */
  const heldElsewhere = Effect.gen(function* () {
    const dataDir = yield* servedBefore(yield* folder)
    const lock = path.join(dataDir, "holder")
    yield* Effect.promise(() => fs.writeFile(lock, "14 1@boot far-away/pid:[1]/boot\n"))
    return { dataDir, lock }
  })
  const refusal = (dataDir: string) => Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir, settings })))

  it.live("a folder is refused while its server answers", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* heldElsewhere
      const socket = path.join(dataDir, "run/.s.PGSQL.5432")
      yield* Effect.promise(() => fs.mkdir(path.dirname(socket), { recursive: true }))
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => net.createServer().listen(socket)),
        (server) => Effect.sync(() => server.close()),
      )
      yield* Effect.promise(() => new Promise((resolve) => server.once("listening", resolve)))
      const error = yield* refusal(dataDir)
      assert.include(error.message, "in use by process 14 (in another container or machine, far-away)")
      // Without its lock the server still runs, and its socket must not be taken.
      yield* Effect.promise(() => fs.rm(path.join(dataDir, "holder")))
      assert.include((yield* refusal(dataDir)).message, "A server in another container or machine uses")
      assert.isTrue(yield* Effect.promise(() => exists(socket)))
    }),
  )

  it.live("a folder is refused while its lock is touched, and free afterwards", () =>
    Effect.gen(function* () {
      const { dataDir, lock } = yield* heldElsewhere
      let seconds = 1
      const touch = Effect.promise(() => fs.utimes(lock, seconds, seconds++))
      const touching = yield* Effect.forkChild(Effect.forever(Effect.andThen(touch, Effect.sleep("50 millis"))))
      assert.include((yield* refusal(dataDir)).message, "in use by process 14")
      yield* Fiber.interrupt(touching)
      yield* EmbeddedPostgres.start({ dataDir, settings })
      // The new holder touches the lock.
      const touched = () => fs.stat(lock).then(({ mtimeMs }) => mtimeMs)
      const before = yield* Effect.promise(touched)
      yield* until(async () => (await touched()) !== before).pipe(Effect.timeout(TIMEOUT))
    }),
  )

  it.live.skipIf(!isLinux)("a process that was suspended during the check refuses the folder", () =>
    Effect.gen(function* () {
      const { dataDir, lock } = yield* heldElsewhere
      let seconds = 1
      const touch = Effect.promise(() => fs.utimes(lock, seconds, seconds++))
      yield* Effect.forkChild(Effect.forever(Effect.andThen(touch, Effect.sleep("50 millis"))))
      const starting = yield* Effect.forkChild(startError({ dataDir, settings }))
      const pid = yield* checkingProcess(dataDir)
      process.kill(pid, "SIGSTOP")
      yield* Effect.sleep(Holder.WATCH_MS + 500)
      process.kill(pid, "SIGCONT")
      assert.include(yield* Fiber.join(starting), "in use by process 14")
    }),
  )
})

/** Starts a process that checks the lock of this folder, and returns its pid once it does. */
const checkingProcess = (dataDir: string) =>
  Effect.promise(async (signal) => {
    while (!signal.aborted) {
      const names = await fs.readdir(dataDir)
      const pid = names.flatMap((name) => /^holder\.new\.(\d+)$/u.exec(name)?.[1] ?? [])[0]
      // The first check takes some milliseconds, and the next follows after 200.
      await pause(100)
      if (pid !== undefined) return Number(pid)
    }
    throw new Error("nobody looks")
  })

describe("after a kill", () => {
  it.live("killing the parent stops the server and removes a scratch server's files", () =>
    Effect.gen(function* () {
      const parent = yield* folder
      const dataDir = path.join(parent, "data")
      const { answer, child } = yield* serve({ dataDir, scratch: true })
      // A client with an open query does not delay the stop.
      const busy = yield* Effect.forkChild(Effect.exit(query(answer.url, "SELECT pg_sleep(60)")))
      yield* end(child, "SIGKILL")
      yield* until(async () => !(await runs(answer.pid))).pipe(Effect.timeout(TIMEOUT))
      yield* until(async () => !(await exists(dataDir))).pipe(Effect.timeout(TIMEOUT))
      busy.interruptUnsafe()
    }),
  )

  it.live("after a kill of the server the next start recovers committed data", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      const first = yield* serve({ dataDir, settings })
      yield* query(first.answer.url, "CREATE TABLE kept AS SELECT 42 AS answer")
      process.kill(first.answer.pid, "SIGKILL")
      yield* end(first.child, "SIGKILL")
      assert.isTrue(yield* Effect.promise(() => exists(path.join(dataDir, "cluster/postmaster.pid"))))
      const server = yield* EmbeddedPostgres.start({ dataDir, settings })
      assert.deepStrictEqual(yield* query(Redacted.value(server.url), "SELECT answer FROM kept"), [{ answer: 42 }])
    }),
  )

  it.live("a start in the same second as the killed server's is recognised as ready", () =>
    Effect.gen(function* () {
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
    }),
  )

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

  it.live("a postmaster file that names another program's process is ignored", () =>
    Effect.gen(function* () {
      const dataDir = yield* servedBefore(yield* folder)
      yield* Effect.promise(() => fs.writeFile(path.join(dataDir, "cluster/postmaster.pid"), `${process.ppid}\n`))
      yield* EmbeddedPostgres.start({ dataDir, settings })
    }),
  )
})

const watchdogOf = async (dataDir: string): Promise<number> => {
  for (const name of await fs.readdir("/proc")) {
    const command = await fs.readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")
    if (command.includes("waybill-watchdog") && command.includes(`${dataDir}/`)) return Number(name)
  }
  throw new Error("no watchdog")
}
