import { Effect, Redacted, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { answers } from "../postgres/Standby.ts"
import { OWNER, run } from "../postgres/SystemPostgres.ts"
import { freePort } from "../process/service.ts"
import * as World from "../world/World.ts"
import { query } from "./citusDatabase.ts"

/** A Postgres with Citus that a test starts itself, so that it may kill it. */
export interface OwnServer {
  readonly host: string
  readonly port: number
  /** Address of its first database, as the superuser. */
  readonly url: string
  /** Starts it on its data if it does not run, and waits until it lets clients in. */
  readonly start: Effect.Effect<void>
  /** Kills all its processes at once, so that it ends as with its machine. */
  readonly kill: Effect.Effect<void>
  /** Starts a server that follows it, as the standby `STANDBY`, through a port of its own if there is one. */
  readonly standby: (through?: number) => Effect.Effect<OwnServer, never, Scope.Scope>
}

const HOST = "127.0.0.1"
/** Name by which `synchronous_standby_names` knows a standby. */
export const STANDBY = "standby1"

const SETTINGS = [
  `listen_addresses = '${HOST}'`,
  "unix_socket_directories = ''",
  "shared_preload_libraries = 'citus'",
  "wal_level = logical",
  "max_connections = 200",
  "max_prepared_transactions = 200",
  "max_worker_processes = 16",
  "citus.recover_2pc_interval = '5s'",
]

/** Returns the folder of the programs of the cluster's version of Postgres, with Citus. */
const programsOf = async (coordinator: string): Promise<string> => {
  const named = process.env["WAYBILL_TEST_CITUS_BIN"]
  if (named !== undefined) return named
  const [row] = await query(coordinator, "SELECT current_setting('server_version_num')::int / 10000 AS major")
  return `/usr/lib/postgresql/${row?.["major"]}/bin`
}

/** Returns how servers of a cluster connect to each other, with encryption or without. */
const conninfoOf = async (coordinator: string): Promise<string> => {
  const [row] = await query(coordinator, "SELECT current_setting('citus.node_conninfo') AS conninfo")
  return `citus.node_conninfo = '${row?.["conninfo"]}'`
}

/** Makes a server with the version and the superuser of a cluster, and starts it. It ends with the scope. */
export const start = Effect.fnUntraced(function* (coordinator: string) {
  const programs = yield* Effect.promise(() => programsOf(coordinator))
  const conninfo = yield* Effect.promise(() => conninfoOf(coordinator))
  const { username } = new URL(coordinator)
  const made = yield* serverIn(programs, username, (data) => {
    const settings = [...SETTINGS, conninfo].map((line) => `"${line}"`).join(" ")
    return `initdb --pgdata="${data}" --username="${username}" --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync
      printf '%s\\n' ${settings} >> "${data}/postgresql.conf"`
  })
  yield* made.start
  return made
})

/** A server whose data the commands make in a folder of its own. */
const serverIn = (
  programs: string,
  username: string,
  commands: (data: string) => string,
): Effect.Effect<OwnServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const home = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const folder = await fs.mkdtemp(join(tmpdir(), "waybill-citus-"))
        // The server runs as another user when the tests run as root.
        await fs.chmod(folder, 0o777)
        return folder
      }),
      (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
    )
    const data = join(home, "data")
    const env = { PATH: `${programs}:${process.env["PATH"]}`, HOME: home, LC_ALL: "C" }
    const { code, output } = yield* run(commands(data), env, home)
    if (code !== 0) return yield* Effect.die(new Error(output))
    const port = yield* Effect.promise(freePort)
    const url = `postgres://${username}@${HOST}:${port}/postgres`
    const log = join(home, "log")
    let child: ChildProcess | undefined
    const start = Effect.promise(async () => {
      if (child !== undefined) return
      child = await launch(join(programs, "postgres"), ["-D", data, "-p", String(port)], env, log)
      while (!(await answers(Redacted.make(url))))
        if (child.exitCode !== null) throw new Error(await fs.readFile(log, "utf8"))
    })
    const kill = Effect.promise(async () => {
      if (child !== undefined) await killAll(child)
      child = undefined
    })
    yield* Effect.addFinalizer(() => kill)
    const standby = (through = port) => {
      // A proxy reads the protocol and cannot negotiate encryption.
      const plain = "sslmode=disable gssencmode=disable"
      const from = `host=${HOST} port=${through} user=${username} application_name=${STANDBY} ${plain}`
      const copy = (to: string) =>
        `pg_basebackup --pgdata="${to}" --write-recovery-conf --checkpoint=fast --dbname="${from}"`
      return Effect.tap(serverIn(programs, username, copy), (follower) => follower.start)
    }
    return { host: HOST, port, url, start, kill, standby }
  })

const launch = async (
  program: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  log: string,
): Promise<ChildProcess> => {
  const file = await fs.open(log, "a")
  const child = spawn(program, [...args], { ...OWNER, env, cwd: "/", stdio: ["ignore", file.fd, file.fd] })
  await file.close()
  return child
}

const killAll = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, "close")
  // A stopped server starts no further process.
  child.kill("SIGSTOP")
  const { stdout } = await promisify(execFile)("pgrep", ["--parent", String(child.pid)])
  for (const pid of [child.pid, ...stdout.trim().split("\n").map(Number)]) kill(pid)
  await closed
}

/** Kills a process if it did not end meanwhile. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause
  }
}

/** Lets a server acknowledge a commit only when its standby has it. */
export const makeSynchronous = Effect.fnUntraced(function* ({ url }: OwnServer) {
  yield* Effect.promise(() =>
    query(url, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`, "SELECT pg_reload_conf()"),
  )
  const state = Effect.promise(() => query(url, "SELECT sync_state FROM pg_stat_replication"))
  // Processes of the server learn of the setting one after the other.
  yield* World.until(state, ([row]) => row?.["sync_state"] === "sync")
})

/** Makes a standby a server that accepts writes. */
export const promote = ({ url }: OwnServer) => Effect.promise(() => query(url, "SELECT pg_promote()"))
