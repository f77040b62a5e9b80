import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { freePort } from "../process/service.ts"

const DEBIAN = "/usr/lib/postgresql"
const NEEDED = ["initdb", "pg_ctl", "postgres", "pg_dump", "pg_restore", "pg_basebackup", "psql"]

const isWhole = (bin: string): boolean => NEEDED.every((name) => existsSync(path.join(bin, name)))

/** Folder of the newest Postgres installed on this system, with server and tools of one version. */
export const folder: string | undefined = [
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted().toReversed() : []).map((version) =>
    path.join(DEBIAN, version, "bin"),
  ),
  ...(process.env["PATH"] ?? "").split(path.delimiter),
].find(isWhole)

/** User id of the server, which refuses to run as root. */
const NOBODY = 65_534
export const OWNER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Runs shell commands as the user of the server. */
export const run = (text: string, env: Readonly<Record<string, string>>, cwd: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
        // A server that keeps running holds the shell's pipe open, so only the exit is awaited.
        const child = spawn("bash", ["-euo", "pipefail", "-c", text], {
          ...OWNER,
          env,
          cwd,
          stdio: ["ignore", "pipe", "pipe"],
        })
        let output = ""
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)))
        child.once("exit", (code) => resolve({ code, output }))
      }),
  )

export interface Running {
  readonly url: string
  readonly adminUrl: string
  /** Address of an empty database beside it. */
  readonly newUrl: string
  readonly archive: string
  readonly backups: string
  readonly newData: string
  readonly stop: Effect.Effect<void>
}

/** Starts a cluster with an archived log. Another cluster started on `newData` gets the same addresses. */
export const start = Effect.fnUntraced(function* (home: string) {
  const [data, newData, archive, backups] = ["data", "restored", "wal", "backups"].map((name) => path.join(home, name))
  const port = yield* Effect.promise(freePort)
  yield* Effect.promise(async () => {
    for (const each of [archive, backups, path.join(home, "own")]) {
      await fs.mkdir(each ?? "", { mode: 0o777 })
      await fs.chmod(each ?? "", 0o777)
    }
    // The server creates folders of its own here.
    await fs.chmod(home, 0o777)
  })
  const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: home, LC_ALL: "C" }
  const typed = (text: string) =>
    Effect.flatMap(run(text, env, home), ({ code, output }) =>
      code === 0 ? Effect.void : Effect.die(new Error(`${text}\n${output}`)),
    )
  const stop = (of: string | undefined) => run(`pg_ctl --pgdata="${of}" --mode=immediate --wait stop`, env, home)
  yield* Effect.acquireRelease(
    Effect.gen(function* () {
      yield* typed(`initdb --pgdata="${data}" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync`)
      const settings = [
        `port = ${port}`,
        "listen_addresses = '127.0.0.1'",
        `unix_socket_directories = '${path.join(home, "own")}'`,
        "fsync = off",
        "wal_level = replica",
        "archive_mode = on",
        `archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'`,
      ]
      yield* typed(`printf '%s\\n' ${settings.map((line) => `"${line}"`).join(" ")} >> "${data}/postgresql.conf"`)
      yield* typed(`pg_ctl --pgdata="${data}" --log="${home}/own/log" --wait start`)
      const psql = `psql --host=127.0.0.1 --port=${port} --username=postgres --command`
      yield* typed(`${psql} "CREATE ROLE waybill LOGIN"`)
      for (const name of ["waybill", "restored"]) yield* typed(`${psql} "CREATE DATABASE ${name} OWNER waybill"`)
    }),
    () => Effect.all([stop(data), stop(newData)]),
  )
  const url = (user: string, database: string) => `postgres://${user}@127.0.0.1:${port}/${database}`
  return {
    url: url("waybill", "waybill"),
    adminUrl: url("postgres", "postgres"),
    newUrl: url("waybill", "restored"),
    archive: archive ?? "",
    backups: backups ?? "",
    newData: newData ?? "",
    stop: Effect.asVoid(stop(data)),
  } satisfies Running
})
