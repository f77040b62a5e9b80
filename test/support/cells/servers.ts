import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Effect, Exit, type Redacted, Scope } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { memoryFolder } from "../memoryFolder.ts"

/** A Postgres of a cell, whose server a test may stop, freeze and start again. */
export interface CellServer {
  readonly url: () => Redacted.Redacted
  readonly pid: () => number
  readonly dataDir: string
  readonly running: () => EmbeddedPostgres.Running
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Stops all its processes where they stand, so that it answers nothing and closes no connection, and lets them go on. */
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
  /** Kills its first process at once, so that the others end as well. */
  readonly kill: Effect.Effect<void>
}

/** A process that has ended meanwhile needs no signal. */
const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}

/** Signals a server and all of its processes, its own first, so that it starts no new ones. */
const signalAll = (dataDir: string, signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void => {
  const [pid = ""] = readFileSync(join(dataDir, "cluster/postmaster.pid"), "utf8").split("\n")
  process.kill(Number(pid), signal)
  if (signal === "SIGKILL") return
  const children = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
  for (const [, child, parent] of children.matchAll(/^\s*(\d+)\s+(\d+)$/gmu))
    if (parent === pid) kill(Number(child), signal)
}

/** Postgres of a test needs not survive a power failure. */
const SETTINGS = { fsync: "off", shared_buffers: "32MB", autovacuum: "off" }

let original: Promise<string> | undefined
/** Returns a data folder as after a first start, made once in each worker: its copy takes a tenth of the time. */
const prepared = (): Promise<string> =>
  (original ??= (async () => {
    const { inject } = await import("vitest")
    const dataDir = join(inject("cellFolder"), String(process.pid))
    await fs.mkdir(dataDir, { mode: 0o711 })
    await Effect.runPromise(Effect.scoped(EmbeddedPostgres.start({ dataDir, settings: SETTINGS })))
    return dataDir
  })())

/** Starts a server of npm's Postgres, with an empty database, until the scope closes. */
export const make = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await memoryFolder("cell")
      await fs.chmod(folder, 0o711)
      await promisify(execFile)("cp", ["-a", `${await prepared()}/.`, folder])
      return folder
    }),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const scope = yield* Scope.fork(yield* Effect.scope, "sequential")
  let run: { readonly scope: Scope.Closeable; readonly server: EmbeddedPostgres.Running } | undefined
  const start = Effect.gen(function* () {
    if (run !== undefined) return
    const own = yield* Scope.fork(scope, "sequential")
    const server = yield* Scope.provide(EmbeddedPostgres.start({ dataDir, settings: SETTINGS }), own)
    run = { scope: own, server }
  }).pipe(Effect.orDie)
  const stop = Effect.suspend(() => {
    const former = run
    run = undefined
    return former === undefined ? Effect.void : Scope.close(former.scope, Exit.void)
  })
  yield* start
  const signal = (name: "SIGSTOP" | "SIGCONT" | "SIGKILL") => Effect.sync(() => signalAll(dataDir, name))
  // A frozen server could not be stopped.
  yield* Effect.addFinalizer(() => (run === undefined ? Effect.void : Effect.ignoreCause(signal("SIGCONT"))))
  const running = () => {
    if (run === undefined) throw new Error("the server does not run")
    return run.server
  }
  // Its address lasts, also while it is stopped.
  const { url } = running()
  return {
    url: () => run?.server.url ?? url,
    pid: () => running().pid,
    dataDir: join(dataDir, "cluster"),
    running,
    start,
    stop,
    freeze: signal("SIGSTOP"),
    thaw: signal("SIGCONT"),
    kill: Effect.andThen(signal("SIGKILL"), stop),
  } satisfies CellServer
})
